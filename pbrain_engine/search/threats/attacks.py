"""The attacker's moves: which cells he has to try, as wide as the level of the search asks for."""

from __future__ import annotations

import numpy as np

from ...bits import U64, lowest_bit
from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.forbidden import foul
from ...patterns.state import class_at, code_of, count_of, sets_of, skip
from ...patterns.tables import shape_in
from ...position.board import bit_of
from .defence import clear_marks, closes_rows, four_cells, mark_answers, may_foul
from .replies import mark_against, mark_class
from .vcf import wins_by_fours

# How wide a search is: which moves it tries beside fours, open threes and what meets a threat.
THREES = 0
BUILDING = 1  # also those that build on two stones, if they threaten a win by fours
WIDEST = 2  # also every other cell near a stone, likewise


@kernel
def is_true_threat(state, tables, cell):
    """Say whether a black cell that looks forbidden is allowed and makes a four or a three."""
    code = code_of(state.shapes[cell], 0)
    threat = False
    for direction in range(4):
        shape = shape_in(code, direction)
        threat = threat or s.OPEN_THREE <= shape <= s.OPEN_FOUR
    return threat and foul(state, tables, cell) == 0


@kernel
def mark_threats(threats, tables, side):
    """Mark the cells where a side makes a four or an open three."""
    state = threats.state
    clear_marks(threats)
    for word in sets_of(state):
        threats.marks[word] |= four_cells(state, tables, side, word)
    for kind in range(s.MAKES_THREE, s.MAKES_FOUR):
        mark_class(threats, side, kind)
    if may_foul(tables, side):
        for word in sets_of(state):
            fouls = state.listed[side, s.MAKES_FOUL - s.FIRST_LISTED, word]
            while fouls != U64(0):
                cell = word * 64 + lowest_bit(fouls)
                if is_true_threat(state, tables, cell):
                    threats.marks[word] |= bit_of(cell)
                fouls &= fouls - U64(1)


@kernel
def mark_builders(threats, side, weakest):
    """Mark the near cells of at least a class that make neither a four nor an open three."""
    state = threats.state
    ply = state.position.ply
    for word in sets_of(state):
        cells = state.near[ply, word] & state.position.empties[word] & ~threats.marks[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if weakest <= class_at(state, side, cell) < s.MAKES_FOUL:
                threats.marks[word] |= bit_of(cell)


@kernel
def mark_attacks(threats, tables, first):
    """Mark the moves that the attacker has to try: where he is threatened, what may help."""
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    if count_of(state, enemy, s.MAKES_WINNING_FOUR) > 0:
        mark_answers(threats, tables)
        return
    if not closes_rows(tables):
        skip(state)
        stones = wins_by_fours(threats, tables, first, threats.test_nodes)
        skip(state)
        if stones > 0:
            mark_against(threats, tables, stones, first, threats.test_nodes)
            return
    mark_threats(threats, tables, side)
    if threats.width > THREES and not closes_rows(tables):
        weakest = s.MAKES_BLOCKED_THREE if threats.width == BUILDING else s.QUIET
        mark_builders(threats, side, weakest)
