"""Lines of proven wins: the attacker's winning moves against the longest resistance."""

import numpy as np

from ...kernel import kernel, recursive_kernel
from ...kernel.bits import U64
from ...patterns import shapes as s
from ...patterns.forbidden import first_allowed, is_allowed
from ...patterns.state import class_at, count_of, first_of, play, undo
from ...patterns.tables import TABLES
from ...position.geometry import NO_CELL, PADDED_CELLS
from ...position.rules import EMPTY
from .defence import static_result, stones_in
from .memory import (
    NONE,
    PROVEN,
    THREATS,
    UNPROVABLE,
    cell_of_proof,
    disproof_of,
    is_stopped,
    length_of,
    list_marks,
    may_list,
    probe_proof,
    proof_key,
    proof_of,
    store_proof,
)
from .replies import mark_replies
from .vcf import find_fours, first_of_fours, list_blocks, wins_by_fours
from .vct import prove

_START = np.int64(0)


@kernel
def allowed_five(state, tables, side):
    """Return a legal cell for this side, to move, on a five of the other side, or NO_CELL."""
    for cell in range(PADDED_CELLS):
        if class_at(state, 1 - side, cell) == s.MAKES_FIVE and is_allowed(state, tables, cell):
            return cell
    return NO_CELL


@kernel
def longest_block(threats, tables, stones):
    """Return the answer to a four that resists longest, NO_CELL if there is none.

    ``stones``: the attacker's stones left to the win.
    """
    state = threats.state
    side = np.int64(state.position.side)
    end = list_blocks(threats, tables, _START)
    best = NO_CELL
    longest = NONE
    for i in range(_START, end):
        cell = np.int64(threats.moves[i])
        play(state, tables, cell)
        value = find_fours(threats, tables, stones, end)
        undo(state, tables)
        if value > longest:
            longest = value
            best = cell
    return best if best != NO_CELL else allowed_five(state, tables, side)


# Wins by fours and threes ------------------------------------------------------------

_REPLAYED = UNPROVABLE - 1  # disproof number of a proven entry that has been replayed


@kernel
def proven_entry(threats):
    """Return the table data of the position if it is proven, else 0."""
    data = probe_proof(threats, proof_key(threats, threats.state.position.key))
    return data if proof_of(data) == 0 else U64(0)


@kernel
def winning_move(threats, tables, first):
    """Return the attacker's move in a position claimed as won, or NO_CELL if it is not won."""
    state = threats.state
    side = np.int64(state.position.side)
    cell = first_of(state, side, s.MAKES_FIVE)
    if cell != NO_CELL:
        return cell
    data = proven_entry(threats)
    if cell_of_proof(data) != NO_CELL:
        return cell_of_proof(data)
    stones = wins_by_fours(threats, tables, first, threats.four_nodes)
    if stones > 0:
        return first_of_fours(threats, tables, stones, first)
    if static_result(state, tables, 0) > 0:
        return first_of(state, side, s.MAKES_TWO_THREES)
    limit = np.int64(UNPROVABLE)
    if prove(threats, tables, limit, limit, first) != PROVEN:
        return NO_CELL
    data = probe_proof(threats, proof_key(threats, state.position.key))
    return cell_of_proof(data)


@recursive_kernel(THREATS, TABLES, int)
def holds(threats, tables, first):
    """Replay a proof; return 1 if the attacker, to move, wins against every answer.

    Positions won by fours are left to the search by fours, which is complete.
    """
    state = threats.state
    if is_stopped(threats) or not may_list(first):
        return 0
    if static_result(state, tables, 0) > 0:
        return 1
    if wins_by_fours(threats, tables, first, threats.four_nodes) > 0:
        return 1
    if disproof_of(proven_entry(threats)) == _REPLAYED:
        return 1
    cell = winning_move(threats, tables, first)
    if cell == NO_CELL or not is_allowed(state, tables, cell):
        return 0
    play(state, tables, cell)
    threats.nodes += 1
    good = 1
    if static_result(state, tables, 0) > 0 or mark_replies(threats, tables, first) == s.QUIET:
        good = 0
    if good == 1:
        end = list_marks(threats, threats.moves, first)
        for i in range(first, end):
            play(state, tables, np.int64(threats.moves[i]))
            threats.nodes += 1
            good = holds(threats, tables, end)
            undo(state, tables)
            if good == 0:
                break
    undo(state, tables)
    if good == 1:
        key = proof_key(threats, state.position.key)
        data = probe_proof(threats, key)
        store_proof(threats, key, 0, _REPLAYED, cell, length_of(data), 1)
    return good


@kernel
def known_length(threats, tables, first):
    """Return the attacker's stones to a known win, 0 if it is not in the table any more."""
    value = static_result(threats.state, tables, 0)
    if value > 0:
        return stones_in(value)
    data = proven_entry(threats)
    if data != U64(0):
        return length_of(data)
    return wins_by_fours(threats, tables, first, threats.four_nodes)


@kernel
def longest_reply(threats, tables):
    """Return the legal reply that resists longest, or NO_CELL if there is none."""
    state = threats.state
    side = np.int64(state.position.side)
    mark_replies(threats, tables, _START)
    end = list_marks(threats, threats.moves, _START)
    best = NO_CELL
    longest = -1
    for i in range(_START, end):
        cell = np.int64(threats.moves[i])
        play(state, tables, cell)
        value = known_length(threats, tables, end)
        undo(state, tables)
        if value > longest:
            longest = value
            best = cell
    if best != NO_CELL:
        return best
    has_five = count_of(state, 1 - side, s.MAKES_FIVE) > 0
    return allowed_five(state, tables, side) if has_five else first_allowed(state, tables)


# Lines -------------------------------------------------------------------------------


@kernel
def write_line(threats, tables, fours, out, room):
    """Write the main line of the win just found; return its length, 0 if it is not found again.

    ``fours``: the stones of the win of ``solve_fours``, or 0 for a win of ``solve_threats``. The
    line ends with the five; if the block is forbidden, the loser plays elsewhere before.
    """
    state = threats.state
    side = np.int64(state.position.side)
    ply = np.int64(state.position.ply)
    length = 0
    wins = False
    while length < room and not wins:
        left = fours - (length + 1) // 2
        if length < threats.found_end and fours > 0:
            cell = np.int64(threats.found[length])
        elif fours > 0 and length & 1 == 0:
            cell = first_of_fours(threats, tables, left, _START)
        elif fours > 0:
            cell = longest_block(threats, tables, left)
        elif length & 1 == 0:
            cell = winning_move(threats, tables, _START)
        else:
            cell = longest_reply(threats, tables)
        if length & 1 == 0:
            if cell == NO_CELL:
                break
            wins = class_at(state, side, cell) == s.MAKES_FIVE
        elif cell == NO_CELL:
            wins = True
            cell = first_allowed(state, tables)
            if cell != NO_CELL and length + 1 < room:
                out[length] = cell
                length += 1
            cell = first_of(state, side, s.MAKES_FIVE)
        assert state.position.holds[cell] == EMPTY
        out[length] = cell
        length += 1
        if not wins:
            play(state, tables, cell)
    while state.position.ply > ply:
        undo(state, tables)
    return length if wins else 0
