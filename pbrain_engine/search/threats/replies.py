"""The complete lists of the defender's replies to a threat.

A move is a threat if its side would win by fours if it moved again: a four, an open three, or any
other move that prepares such a win. The replies are complete: to a five or a winning four, the
exact answers; to a longer win, all cells that interact with it, which are the cells of its stones
and answers, cells that spoil its last four, and cells where the defender makes a four at some point
of it. A stone anywhere else does not affect the win.
"""

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit
from ...patterns import shapes as s
from ...patterns.forbidden import foul, has_foul_line, is_allowed, neighbour_cell
from ...patterns.state import class_at, code_of, count_of, first_of, pass_turn, play, sets_of, undo
from ...position.board import bit_of, contains
from ...position.geometry import NO_CELL, PADDED_CELLS
from ...position.rules import EMPTY
from .defence import (
    clear_marks,
    closes_rows,
    kills,
    mark_answers,
    mark_class,
    mark_empties,
    may_foul,
)
from .memory import STOPPED, list_marks
from .vcf import first_of_fours, line_still_wins, search_fours, wins_after_pass, wins_by_fours

PREPARES = s.MAKES_FOUR  # class that represents a threat of several fours
_FEW_FOURS = 100  # stones to show that an answer is hopeless

# Cells that interact with a win by fours ---------------------------------------------


@kernel
def mark_around(threats, tables, cell, side, spoils):
    """Mark a cell and the empty cells in its windows.

    ``spoils``: of the empty cells, only those that spoil a winning four of ``side`` on ``cell``.
    """
    state = threats.state
    threats.marks[cell >> 6] |= bit_of(cell)
    for direction in range(4):
        for number in range(2 * tables.half):
            other = neighbour_cell(cell, tables.half, direction, number)
            if state.position.holds[other] == EMPTY:
                if not spoils or kills(state, tables, side, cell, other, s.MAKES_WINNING_FOUR):
                    threats.marks[other >> 6] |= bit_of(other)


@kernel
def mark_line(threats, tables, stones, first):
    """Mark the cells that interact with a win by fours; return 1 if there may be others.

    There may be if a distant stone can decide whether a cell is forbidden to black.
    """
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    ply = state.position.ply
    wide = 0
    clear_marks(threats)
    while True:
        for kind in range(s.MAKES_FOUR, s.MAKES_FIVE):
            mark_class(threats, enemy, kind)
        mark_class(threats, enemy, s.MAKES_FOUL)  # which may make a four
        assert count_of(state, side, s.MAKES_FIVE) == 0
        if count_of(state, enemy, s.MAKES_FIVE) == 0:
            if count_of(state, side, s.MAKES_WINNING_FOUR) > 0:
                target = first_of(state, side, s.MAKES_WINNING_FOUR)
                mark_around(threats, tables, target, side, True)
                break
        cell = first_of_fours(threats, tables, stones, first)
        if cell == NO_CELL:
            wide = 1
            break
        if class_at(state, side, cell) == s.MAKES_FOUL:
            wide = 1
        threats.marks[cell >> 6] |= bit_of(cell)
        play(state, tables, cell)
        mark_class(threats, side, s.MAKES_FIVE)
        block = first_of(state, side, s.MAKES_FIVE)
        if count_of(state, side, s.MAKES_FIVE) != 1:
            break
        if may_foul(tables, enemy) and foul(state, tables, block) == 1:
            mark_around(threats, tables, block, side, False)
            if not has_foul_line(code_of(state.shapes[block], enemy)):
                wide = 1
            break
        play(state, tables, block)
        stones -= 1
    while state.position.ply > ply:
        undo(state, tables)
    return wide


# The replies -------------------------------------------------------------------------


@kernel
def drop_unplayable(threats, tables, side):
    """Unmark cells that are not empty or are forbidden to a side."""
    state = threats.state
    for word in sets_of(state):
        threats.marks[word] &= state.position.empties[word]
        if may_foul(tables, side):
            fouls = threats.marks[word] & state.listed[side, s.MAKES_FOUL - s.OTHERS, word]
            while fouls != U64(0):
                cell = word * 64 + lowest_bit(fouls)
                if foul(state, tables, cell) == 1:
                    threats.marks[word] ^= bit_of(cell)
                fouls &= fouls - U64(1)


@kernel
def mark_against(threats, tables, stones, first, nodes):
    """Mark the legal moves of the side to move that may stop the enemy's known win by fours."""
    state = threats.state
    side = np.int64(state.position.side)
    pass_turn(state)
    wide = mark_line(threats, tables, stones, first)
    pass_turn(state)
    if wide == 0:
        drop_unplayable(threats, tables, side)
        return
    mark_empties(threats)
    drop_unplayable(threats, tables, side)
    for cell in range(PADDED_CELLS):
        if contains(threats.marks, cell):
            play(state, tables, cell)
            if count_of(state, side, s.MAKES_FIVE) == 0:
                if wins_by_fours(threats, tables, first, nodes) > 0:
                    threats.marks[cell >> 6] ^= bit_of(cell)
            undo(state, tables)


@kernel
def mark_replies(threats, tables, first):
    """Mark every move that may answer the threat of the side that has just moved.

    Returns the class of the threat, QUIET if there is none, and sets ``threats.length`` to the
    stones needed to carry it out. Unmarked moves lose to the threat.
    """
    kind = mark_answers(threats, tables)
    if kind != s.QUIET or closes_rows(tables):
        threats.length = 1 if kind == s.MAKES_FIVE else 2
        return kind
    stones = wins_after_pass(threats, tables, first)
    if stones == 0:
        return s.QUIET
    mark_against(threats, tables, stones, first, threats.test_nodes)
    threats.length = stones
    return PREPARES


@kernel
def drop_hopeless(threats, tables, first):
    """Unmark answers after which the attacker wins by a short run of fours."""
    state = threats.state
    last = list_marks(threats, threats.moves, first)
    for i in range(first, last):
        cell = np.int64(threats.moves[i])
        play(state, tables, cell)
        if wins_by_fours(threats, tables, last, _FEW_FOURS) > 0:
            threats.marks[cell >> 6] ^= bit_of(cell)
        undo(state, tables)


_START = np.int64(0)


@kernel
def find_rescues(threats, tables, out):
    """Write 1 for each legal move after which the enemy has no win by fours, 2 if unknown.

    Returns the enemy's win if the side to move passes: stones, NONE or STOPPED. The line last found
    is tried first against each move, as most moves do not interfere with it.
    """
    state = threats.state
    side = np.int64(state.position.side)
    pass_turn(state)
    threat = search_fours(threats, tables, _START)
    pass_turn(state)
    for cell in range(PADDED_CELLS):
        out[cell] = 0
        if not is_allowed(state, tables, cell):
            continue
        if class_at(state, side, cell) == s.MAKES_FIVE:
            out[cell] = 1
            continue
        play(state, tables, cell)
        threats.nodes += 1
        if not line_still_wins(threats, tables):
            value = search_fours(threats, tables, _START)
            if value <= 0:
                out[cell] = 2 if value == STOPPED else 1
        undo(state, tables)
    return threat
