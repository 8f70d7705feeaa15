"""Threats and everything that meets them: the moves of the search by threats.

A move threatens if its side, were it to move again, won by fours: a four, an open three, or
any other move that prepares such a win. What the enemy can do about it is complete: of a
five or a winning four the exact answers; of a longer win the cells that touch it, which are
those of its stones and answers, what spoils its last four, and every cell where the enemy
makes a four at some moment of it. A stone anywhere else changes nothing about it.
"""

from __future__ import annotations

import numpy as np

from ..bits import U64, lowest_bit
from ..kernel import kernel
from ..patterns import shapes as s
from ..patterns.forbidden import foul, has_foul_line, neighbour_cell
from ..patterns.state import class_at, code_of, count_of, first_of, play, sets_of, skip, undo
from ..patterns.tables import shape_in
from ..position.board import bit_of, last_move
from ..position.geometry import NO_CELL
from ..position.rules import EMPTY
from ..position.zobrist import WHITE_TO_MOVE
from ..values import WIN
from .defence import (
    clear_marks,
    closes_rows,
    four_cells,
    fours_of,
    kills,
    mark_answers,
    may_foul,
    static_result,
)
from .prooftable import (
    INFINITE,
    disproof_of,
    length_of,
    probe_proof,
    proof_key,
    proof_of,
    store_proof,
)
from .threats import STOPPED, is_stopped
from .vcf import closeness, find_fours, first_of_fours, list_blocks

_PREPARES = s.MAKES_FOUR  # class by which a threat of several fours is reported

# How wide a search is: which moves it tries beside fours, open threes and what meets a threat.
THREES = 0
BUILDING = 1  # also those that build on two stones, if they threaten a win by fours
WIDEST = 2  # also every other cell near a stone, likewise


@kernel
def wins_by_fours(threats, tables, first, nodes):
    """Return the stones of a win by fours that a search of so many nodes finds, or 0.

    If the search that asks has to stop here, ``threats.stopped`` is set and 0 means nothing.
    """
    state = threats.state
    side = np.int64(state.position.side)
    if fours_of(state, tables, side) == 0:
        return np.int64(0)
    limit = threats.node_limit
    threats.root = state.position.ply
    threats.node_limit = min(limit, threats.nodes + nodes)
    value = np.int64(0)
    bound = np.int64(4)
    while bound <= 40:
        value = find_fours(threats, tables, bound, first)
        if value >= 0 or value == STOPPED:
            break
        bound = bound * 3
    threats.node_limit = limit
    threats.stopped = 0
    if value < 0 and not is_stopped(threats):
        threats.truncated |= 1 << threats.level
    return max(value, np.int64(0))


# What touches a win by fours -----------------------------------------------------------


@kernel
def mark_class(threats, side, kind):
    """Mark the cells of a class."""
    for word in sets_of(threats.state):
        threats.marks[word] |= threats.state.listed[side, kind - s.FIRST_LISTED, word]


@kernel
def mark_any_fours(threats, side):
    """Mark the cells where a side makes a four, or may be held to."""
    for kind in range(s.MAKES_FOUR, s.MAKES_FIVE):
        mark_class(threats, side, kind)
    mark_class(threats, side, s.MAKES_FOUL)


@kernel
def mark_around(threats, tables, cell):
    """Mark the empty cells of the windows around a cell, and the cell."""
    position = threats.state.position
    threats.marks[cell >> 6] |= bit_of(cell)
    for direction in range(4):
        for number in range(2 * tables.half):
            other = neighbour_cell(cell, tables.half, direction, number)
            if position.holds[other] == EMPTY:
                threats.marks[other >> 6] |= bit_of(other)


@kernel
def mark_spoilers(threats, tables, side):
    """Mark what takes from the first winning four of a side that it is one."""
    state = threats.state
    target = first_of(state, side, s.MAKES_WINNING_FOUR)
    threats.marks[target >> 6] |= bit_of(target)
    for direction in range(4):
        for number in range(2 * tables.half):
            cell = neighbour_cell(target, tables.half, direction, number)
            if state.position.holds[cell] == EMPTY:
                if kills(state, tables, side, target, cell, s.MAKES_WINNING_FOUR):
                    threats.marks[cell >> 6] |= bit_of(cell)


@kernel
def mark_line(threats, tables, stones, first):
    """Mark what touches the win by fours of the side to move; return 1 if that may not be all.

    It may not where a stone far off can decide what is forbidden to black.
    """
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    ply = state.position.ply
    wide = 0
    clear_marks(threats)
    while True:
        mark_any_fours(threats, enemy)
        if count_of(state, side, s.MAKES_FIVE) > 0:
            mark_class(threats, side, s.MAKES_FIVE)
            break
        if count_of(state, enemy, s.MAKES_FIVE) == 0:
            if count_of(state, side, s.MAKES_WINNING_FOUR) > 0:
                mark_spoilers(threats, tables, side)
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
            mark_around(threats, tables, block)
            if not has_foul_line(code_of(state.shapes[block], enemy)):
                wide = 1
            break
        play(state, tables, block)
        stones -= 1
    while state.position.ply > ply:
        undo(state, tables)
    return wide


@kernel
def drop_unplayable(threats, tables, side):
    """Take the marks off cells that are not empty or forbidden to a side."""
    state = threats.state
    for word in sets_of(state):
        threats.marks[word] &= state.position.empties[word]
        if may_foul(tables, side):
            fouls = threats.marks[word] & state.listed[side, s.MAKES_FOUL - s.FIRST_LISTED, word]
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
    skip(state)
    wide = mark_line(threats, tables, stones, first)
    skip(state)
    if wide == 0:
        drop_unplayable(threats, tables, side)
        return
    for word in sets_of(state):
        threats.marks[word] = state.position.empties[word]
    drop_unplayable(threats, tables, side)
    for word in sets_of(state):
        cells = threats.marks[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            play(state, tables, cell)
            if count_of(state, side, s.MAKES_FIVE) == 0:
                if wins_by_fours(threats, tables, first, nodes) > 0:
                    threats.marks[word] ^= bit_of(cell)
            undo(state, tables)


@kernel
def mark_replies(threats, tables, first):
    """Mark every move that may meet the threat of the side that has just moved.

    Returns the class of the threat, QUIET if there is none, and leaves in ``threats.length``
    the stones that it takes to carry out. Whatever is not marked loses to it.
    """
    state = threats.state
    kind = mark_answers(threats, tables)
    if kind != s.QUIET or closes_rows(tables):
        threats.length = 1 if kind == s.MAKES_FIVE else 2
        return kind
    skip(state)
    stones = wins_by_fours(threats, tables, first, threats.test_nodes)
    skip(state)
    if stones == 0:
        return s.QUIET
    mark_against(threats, tables, stones, first, threats.test_nodes)
    threats.length = stones
    return _PREPARES


_FEW_FOURS = 100  # stones to see that an answer is hopeless


@kernel
def drop_hopeless(threats, tables, first):
    """Take the marks off answers after which the attacker wins by a short run of fours."""
    state = threats.state
    last = list_marks(threats, first)
    for i in range(first, last):
        cell = np.int64(threats.moves[i])
        play(state, tables, cell)
        if wins_by_fours(threats, tables, last, _FEW_FOURS) > 0:
            threats.marks[cell >> 6] ^= bit_of(cell)
        undo(state, tables)


@kernel
def list_marks(threats, first):
    """Write the marked cells to the move list from ``first`` on; return the end."""
    end = first
    for word in sets_of(threats.state):
        cells = threats.marks[word]
        while cells != U64(0):
            threats.moves[end] = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            end += 1
    return end


@kernel
def count_marks(threats):
    """Return how many cells are marked."""
    count = 0
    for word in sets_of(threats.state):
        cells = threats.marks[word]
        while cells != U64(0):
            cells &= cells - U64(1)
            count += 1
    return count


# The attacker's moves ------------------------------------------------------------------


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


@kernel
def key_after(threats, tables, cell):
    """Return the key in the table of the position after a move of the side to move."""
    position = threats.state.position
    stone = tables.zobrist[0 if position.side == 0 else 1, cell]
    return proof_key(threats, position.key ^ stone ^ WHITE_TO_MOVE)


@kernel
def put_child(threats, at, cell, data):
    """List a move with the numbers that the table has of the position behind it."""
    threats.moves[at] = length_of(data) * 1024 + cell
    threats.proofs[at] = proof_of(data)
    threats.disproofs[at] = disproof_of(data)


@kernel
def depth_number(threats):
    """Return the proof number of a new position: the deeper it is, the later it is looked into."""
    return 1 + (np.int64(threats.state.position.ply) - threats.start) // 2 * 2


@kernel
def handicap_of(kind, shape):
    """Return how much later a move is tried that threatens in this way and makes this shape.

    Plain fours fit in anywhere, and most of them gain nothing.
    """
    if kind == _PREPARES:
        return 2
    if shape == s.MAKES_FOUR:
        return 4
    return 1 if shape == s.MAKES_THREE else 0


@kernel
def judge_attack(threats, tables, cell, key, scratch):
    """Store first numbers for a move that is new to the table."""
    state = threats.state
    last = last_move(state.position, 2)
    play(state, tables, cell)
    threats.nodes += 1
    kind = s.QUIET
    if static_result(state, tables, 0) <= 0:
        kind = mark_replies(threats, tables, scratch)
    if threats.stopped != 0:
        pass
    elif kind == s.QUIET:
        store_proof(threats, key, INFINITE, 0, NO_CELL, 0, 1)
    else:
        answers = count_marks(threats)
        if answers == 0:
            store_proof(threats, key, 0, INFINITE, NO_CELL, threats.length, 1)
        else:
            far = 1 if last != NO_CELL and closeness(cell, last) == 0 else 0
            handicap = far + handicap_of(kind, class_at(state, 1 - state.position.side, cell))
            store_proof(threats, key, answers + handicap + depth_number(threats), 1, NO_CELL, 0, 1)
    undo(state, tables)


@kernel
def list_threats(threats, tables, first):
    """List the attacker's moves from ``first`` on, with their numbers; return the end.

    Stops at the first one that is proven to win.
    """
    state = threats.state
    if count_of(state, 1 - state.position.side, s.MAKES_FIVE) > 0:
        last = list_blocks(threats, tables, first)
    else:
        mark_attacks(threats, tables, first)
        last = list_marks(threats, first)
    end = first
    for i in range(first, last):
        cell = np.int64(threats.moves[i])
        key = key_after(threats, tables, cell)
        data = probe_proof(threats, key)
        if data == U64(0):
            judge_attack(threats, tables, cell, key, last)
            data = probe_proof(threats, key)
        if threats.stopped != 0:
            return end
        if disproof_of(data) == 0:
            continue
        put_child(threats, end, cell, data)
        end += 1
        if proof_of(data) == 0:
            return end
    return end


# The defender's moves ------------------------------------------------------------------


@kernel
def stones_in(value):
    """Return the winner's stones in a static value that is a win for the side to move."""
    return (WIN - value + 1) // 2


@kernel
def judge_reply(threats, tables, cell, key, prepares, scratch):
    """Store first numbers for an answer that is new to the table."""
    state = threats.state
    play(state, tables, cell)
    threats.nodes += 1
    value = static_result(state, tables, 0)
    if value < 0:
        store_proof(threats, key, INFINITE, 0, NO_CELL, 0, 1)
    else:
        stones = stones_in(value) if value > 0 else np.int64(0)
        if value == 0 and prepares:
            stones = wins_by_fours(threats, tables, scratch, threats.test_nodes)
        if stones > 0 and threats.stopped == 0:
            store_proof(threats, key, 0, INFINITE, NO_CELL, stones, 1)
    undo(state, tables)


@kernel
def list_replies(threats, tables, first):
    """List the defender's answers from ``first`` on; return the end, or -1 if one refutes.

    Answers that are known to lose are left out, the longest of them counts for
    ``threats.length``.
    """
    kind = mark_replies(threats, tables, first)
    if threats.stopped != 0:
        return first
    if kind == s.QUIET:
        return -1
    longest = threats.length
    last = list_marks(threats, first)
    end = first
    for i in range(first, last):
        cell = np.int64(threats.moves[i])
        key = key_after(threats, tables, cell)
        data = probe_proof(threats, key)
        if data == U64(0):
            judge_reply(threats, tables, cell, key, kind == _PREPARES, last)
            data = probe_proof(threats, key)
        if threats.stopped != 0:
            return end
        if data == U64(0):
            threats.moves[end] = cell
            threats.proofs[end] = depth_number(threats)
            threats.disproofs[end] = 1
            end += 1
            continue
        if disproof_of(data) == 0:
            return -1
        if proof_of(data) == 0:
            longest = max(longest, length_of(data))
            continue
        put_child(threats, end, cell, data)
        end += 1
    threats.length = longest
    return end
