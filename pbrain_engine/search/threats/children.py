"""The children of a node of the search by threats: its moves with their proof numbers.

The level of the search determines the range of the attacker's moves. A move's numbers come from the
table; if the position after it is not in the table, the move is first tried on the board and
judged, which settles many moves without a node.
"""

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit, popcount, prefetch
from ...patterns import shapes as s
from ...patterns.state import class_at, count_of, near_cells, play, sets_of, undo
from ...position.board import bit_of, key_after, last_move
from ...position.geometry import NO_CELL
from .defence import attack_cells, closes_rows, mark_answers, static_result, stones_in
from .memory import (
    BUCKET_WORDS,
    UNPROVABLE,
    disproof_of,
    length_of,
    list_marks,
    pack_entry,
    probe_proof,
    proof_bucket_of,
    proof_key,
    proof_of,
    store_proof,
)
from .replies import PREPARES, mark_against, mark_replies
from .vcf import closeness, list_blocks, wins_after_pass, wins_by_fours

# Widths of a search: the moves tried besides fours, open threes and answers to threats.
THREES = 0
BUILDING = 1  # also moves that build on two stones, if they threaten a win by fours
WIDEST = 2  # also all other cells near stones, on the same condition


# The attacker's moves ----------------------------------------------------------------


@kernel
def mark_builders(threats, side, weakest):
    """Mark near cells of at least class ``weakest`` that make neither a four nor an open three."""
    state = threats.state
    for word in sets_of(state):
        cells = near_cells(state, word) & ~threats.marks[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if weakest <= class_at(state, side, cell) < s.MAKES_FOUL:
                threats.marks[word] |= bit_of(cell)


@kernel
def mark_attacks(threats, tables, first):
    """Mark the attacker's moves to try; under a threat, those that may answer it."""
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    if count_of(state, enemy, s.MAKES_WINNING_FOUR) > 0:
        mark_answers(threats, tables)
        return
    if not closes_rows(tables):
        stones = wins_after_pass(threats, tables, first)
        if stones > 0:
            mark_against(threats, tables, stones, first, threats.test_nodes)
            return
    for word in sets_of(state):
        cells = attack_cells(state, tables, side, word, s.MAKES_THREE, s.OPEN_THREE)
        threats.marks[word] = cells
    if threats.width > THREES and not closes_rows(tables):
        weakest = s.MAKES_BLOCKED_THREE if threats.width == BUILDING else s.QUIET
        mark_builders(threats, side, weakest)


# Numbers of a move -----------------------------------------------------------------


@kernel
def depth_number(threats):
    """Return the initial proof number of a new position, which grows with its depth."""
    return 1 + (np.int64(threats.state.position.ply) - threats.start) // 2 * 2


@kernel
def handicap_of(kind, shape):
    """Return the addition to a move's proof number for its threat and its shape.

    Plain fours are possible anywhere, and most gain nothing.
    """
    if kind == PREPARES:
        return 2
    if shape == s.MAKES_FOUR:
        return 4
    return 1 if shape == s.MAKES_THREE else 0


@kernel
def judge_attack(threats, tables, cell, key, scratch):
    """Store initial numbers for the attacker's move just played, which is not in the table."""
    state = threats.state
    last = last_move(state.position, 3)
    kind = s.QUIET
    if static_result(state, tables, 0) <= 0:
        kind = mark_replies(threats, tables, scratch)
    if threats.stopped != 0:
        pass
    elif kind == s.QUIET:
        store_proof(threats, key, UNPROVABLE, 0, NO_CELL, 0, 1)
    else:
        answers = np.int64(0)
        for word in sets_of(state):
            answers += popcount(threats.marks[word])
        if answers == 0:
            store_proof(threats, key, 0, UNPROVABLE, NO_CELL, threats.length, 1)
        else:
            far = 1 if last != NO_CELL and closeness(cell, last) == 0 else 0
            handicap = far + handicap_of(kind, class_at(state, 1 - state.position.side, cell))
            store_proof(threats, key, answers + handicap + depth_number(threats), 1, NO_CELL, 0, 1)


@kernel
def judge_reply(threats, tables, key, prepares, scratch):
    """Store initial numbers for the answer just played, which is not in the table."""
    value = static_result(threats.state, tables, 0)
    if value < 0:
        store_proof(threats, key, UNPROVABLE, 0, NO_CELL, 0, 1)
    else:
        stones = stones_in(value) if value > 0 else np.int64(0)
        if value == 0 and prepares:
            stones = wins_by_fours(threats, tables, scratch, threats.test_nodes)
        if stones > 0 and threats.stopped == 0:
            store_proof(threats, key, 0, UNPROVABLE, NO_CELL, stones, 1)


@kernel
def key_behind(threats, tables, cell):
    """Return the table key of the position after a move of the side to move."""
    position = threats.state.position
    return proof_key(threats, key_after(position.key, tables.zobrist, position.side, cell))


@kernel
def expect_behind(threats, tables, first, last):
    """Prefetch the table entries of the positions after the listed moves."""
    for i in range(first, last):
        key = key_behind(threats, tables, np.int64(threats.moves[i]))
        prefetch(threats.words, proof_bucket_of(threats, key) * BUCKET_WORDS)


@kernel
def data_behind(threats, tables, cell, prepares, scratch):
    """Return the table data of the position after a move, judging it if there is none.

    0 if there is still none. ``prepares``: the move answers a threat of several fours.
    """
    key = key_behind(threats, tables, cell)
    data = probe_proof(threats, key)
    if data != U64(0):
        return data
    attacks = threats.state.position.side == threats.attacker
    play(threats.state, tables, cell)
    threats.nodes += 1
    if attacks:
        judge_attack(threats, tables, cell, key, scratch)
    else:
        judge_reply(threats, tables, key, prepares, scratch)
    undo(threats.state, tables)
    return probe_proof(threats, key)


@kernel
def put_child(threats, at, cell, data):
    """List a move with the table's numbers of the position after it."""
    threats.moves[at] = pack_entry(cell, length_of(data))
    threats.proofs[at] = proof_of(data)
    threats.disproofs[at] = disproof_of(data)


@kernel
def list_threats(threats, tables, first):
    """List the attacker's moves from ``first`` on, with their numbers; return the end.

    Stops at the first proven win.
    """
    state = threats.state
    if count_of(state, 1 - state.position.side, s.MAKES_FIVE) > 0:
        last = list_blocks(threats, tables, first)
    else:
        mark_attacks(threats, tables, first)
        last = list_marks(threats, threats.moves, first)
    end = first
    expect_behind(threats, tables, first, last)
    for i in range(first, last):
        cell = np.int64(threats.moves[i])
        data = data_behind(threats, tables, cell, False, last)
        if threats.stopped != 0:
            return end
        if disproof_of(data) == 0:
            continue
        put_child(threats, end, cell, data)
        end += 1
        if proof_of(data) == 0:
            return end
    return end


@kernel
def list_replies(threats, tables, first):
    """List the defender's answers from ``first`` on; return the end, or -1 if one refutes.

    Answers known to lose are left out; the longest of them counts for ``threats.length``.
    """
    kind = mark_replies(threats, tables, first)
    if threats.stopped != 0:
        return first
    if kind == s.QUIET:
        return -1
    longest = threats.length
    last = list_marks(threats, threats.moves, first)
    end = first
    expect_behind(threats, tables, first, last)
    for i in range(first, last):
        cell = np.int64(threats.moves[i])
        data = data_behind(threats, tables, cell, kind == PREPARES, last)
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
