"""Wins by threats: depth-first proof-number search over threats and all their answers.

At the attacker's turn the moves are the threats of ``children``, and a win by fours alone ends the
branch; at the defender's turn they are all answers to the threat, including the defender's fours in
between. As the lists of answers are complete, a win is proven.

Numbers are as in Allis (1994) and Nagai (2002): the proof number of a node is roughly the number of
leaves still to be won to prove it, the disproof number the number to be lost to disprove it. As
many move orders lead to the same position, a sum over children would count it several times, so a
node takes the largest child's number plus a little for each other child (after Ueda et al. 2008).
"""

from typing import NamedTuple

import numpy as np

from ...kernel import kernel, recursive_kernel
from ...kernel.bits import U64
from ...patterns.state import play, undo
from ...patterns.tables import TABLES
from ...position.geometry import NO_CELL
from .children import BUILDING, THREES, WIDEST, list_replies, list_threats
from .defence import static_result, stones_in
from .memory import (
    DISPROVEN,
    LISTED_MOVES,
    PROVEN,
    STOPPED,
    THREATS,
    UNPROVABLE,
    cell_in,
    disproof_of,
    is_stopped,
    length_of,
    may_list,
    number_in,
    pack,
    pack_entry,
    probe_proof,
    proof_key,
    proof_of,
    settle,
    store_proof,
)
from .vcf import wins_by_fours

_MOST = UNPROVABLE - 1
_UNLIMITED = np.int64(UNPROVABLE)
SIBLING = 4  # added to a node's number for each child except the worst

# Numbers of a list ---------------------------------------------------------------------


@kernel
def worst(numbers, first, end):
    """Return the largest number of a list plus ``SIBLING`` for each other, 0 if it is empty."""
    largest = 0
    for i in range(first, end):
        largest = max(largest, numbers[i])
    return min(largest + SIBLING * (end - first - 1), _MOST) if end > first else 0


@kernel
def choose(numbers, others, first, end):
    """Return the place of the smallest number, ties broken by the smallest of ``others``."""
    best = first
    for i in range(first + 1, end):
        if numbers[i] < numbers[best]:
            best = i
        elif numbers[i] == numbers[best] and others[i] < others[best]:
            best = i
    return best


@kernel
def second_smallest(numbers, first, end, best):
    """Return the smallest number of a list except at ``best``, UNPROVABLE if there is no other."""
    least = UNPROVABLE
    for i in range(first, end):
        if i != best:
            least = min(least, numbers[i])
    return least


@kernel
def drop_settled(threats, attacks, first, end, longest):
    """Remove moves proven to fail for their side; return the end and ``longest``.

    ``longest`` is the entry of the longest-resisting answer among those removed so far.
    """
    i = first
    while i < end:
        number = threats.disproofs[i] if attacks else threats.proofs[i]
        if number != 0:
            i += 1
            continue
        if not attacks and number_in(threats.moves[i]) > number_in(longest):
            longest = threats.moves[i]
        end -= 1  # the last one takes its place
        threats.moves[i] = threats.moves[end]
        threats.proofs[i] = threats.proofs[end]
        threats.disproofs[i] = threats.disproofs[end]
    return end, longest


@kernel
def known_or_new(data):
    """Return the packed numbers of an entry, or those of a new node if there is none."""
    if data == U64(0):
        return pack(np.int64(1), np.int64(1))
    return pack(proof_of(data), disproof_of(data))


# The search --------------------------------------------------------------------------


@kernel
def settle_by_fours(threats, tables, key, first):
    """Settle the attacker's new node by fours if possible: return 1 if won, -1 if not, else 0."""
    before = threats.nodes
    value = static_result(threats.state, tables, 0)
    if value < 0:
        settle(threats, key, False, NO_CELL, 0, 1)
        return -1
    length = stones_in(value) if value > 0 else 0
    if value == 0:
        length = wins_by_fours(threats, tables, first, threats.four_nodes)
    if length > 0 and threats.stopped == 0:
        settle(threats, key, True, NO_CELL, length, threats.nodes - before)
        return 1
    return 0


@recursive_kernel(THREATS, TABLES, int, int, int)
def prove(threats, tables, proof_limit, disproof_limit, first):
    """Search until the proof or disproof number reaches its limit, or the search is stopped.

    The numbers are stored in the table and returned packed: PROVEN is a win with
    ``threats.length`` own stones, DISPROVEN is none.
    """
    assert proof_limit > 0 and disproof_limit > 0 and 0 <= first <= LISTED_MOVES
    state = threats.state
    side = np.int64(state.position.side)
    attacks = side == threats.attacker
    key = proof_key(threats, state.position.key)
    data = probe_proof(threats, key)
    if data != U64(0):
        proof = proof_of(data)
        disproof = disproof_of(data)
        threats.length = length_of(data)
        if proof == 0:
            return PROVEN
        if proof >= proof_limit or disproof >= disproof_limit:
            return pack(proof, disproof)
    if is_stopped(threats) or not may_list(first):
        threats.stopped = 1
        return known_or_new(data)
    before = threats.nodes
    if attacks and data == U64(0):
        settled = settle_by_fours(threats, tables, key, first)
        if threats.stopped != 0:
            return known_or_new(data)
        if settled != 0:
            return PROVEN if settled > 0 else DISPROVEN

    longest = np.int64(pack_entry(NO_CELL, 0))
    own = threats.proofs if attacks else threats.disproofs  # numbers of the side to move
    others = threats.disproofs if attacks else threats.proofs
    if attacks:
        end = list_threats(threats, tables, first)
    else:
        end = list_replies(threats, tables, first)
        if end < 0 and threats.stopped == 0:
            settle(threats, key, False, NO_CELL, 0, threats.nodes - before)
            return DISPROVEN
        longest = np.int64(pack_entry(NO_CELL, threats.length))
    if threats.stopped != 0:
        return known_or_new(data)
    while True:
        end, longest = drop_settled(threats, attacks, first, end, longest)
        if end == first:
            cell, length = cell_in(longest), number_in(longest)
            settle(threats, key, not attacks, cell, length, threats.nodes - before)
            return DISPROVEN if attacks else PROVEN
        at = choose(own, others, first, end)
        least = np.int64(own[at])
        cell = cell_in(threats.moves[at])
        if least == 0 and attacks:
            length = number_in(threats.moves[at]) + 1
            settle(threats, key, True, cell, length, threats.nodes - before)
            return PROVEN
        if least == 0:
            settle(threats, key, False, NO_CELL, 0, threats.nodes - before)
            return DISPROVEN
        proof = least if attacks else worst(threats.proofs, first, end)
        disproof = worst(threats.disproofs, first, end) if attacks else least
        if proof >= proof_limit or disproof >= disproof_limit or threats.stopped != 0:
            store_proof(threats, key, proof, disproof, cell, 0, threats.nodes - before)
            return pack(proof, disproof)
        siblings = SIBLING * (end - first - 1)
        second = second_smallest(own, first, end, at)
        while_best = second + second // 4 + 1  # until another move is clearly better
        child_proof = min(proof_limit, while_best) if attacks else proof_limit - siblings
        child_disproof = disproof_limit - siblings if attacks else min(disproof_limit, while_best)
        child_proof = max(child_proof, np.int64(threats.proofs[at]) + 1)
        child_disproof = max(child_disproof, np.int64(threats.disproofs[at]) + 1)
        assert child_proof > 0 and child_disproof > 0
        play(state, tables, cell)
        threats.nodes += 1
        result = prove(threats, tables, child_proof, child_disproof, end)
        undo(state, tables)
        threats.proofs[at] = proof_of(U64(result))
        threats.disproofs[at] = disproof_of(U64(result))
        length = threats.length if result == PROVEN else 0
        threats.moves[at] = pack_entry(cell, length)


class ThreatLevel(NamedTuple):
    """The settings of one level of the search by threats."""

    width: int  # range of moves to try
    four_nodes: int  # stones for fours at a new node
    test_nodes: int  # and to judge whether a move threatens
    part: int  # the level gets one part in this many of the stones of a turn


LEVELS = (
    ThreatLevel(THREES, 300, 50, 1),
    ThreatLevel(BUILDING, 300, 100, 1),
    ThreatLevel(BUILDING, 2000, 1000, 4),
    ThreatLevel(WIDEST, 500, 300, 4),
    ThreatLevel(WIDEST, 5000, 3000, 8),
    ThreatLevel(WIDEST, 50000, 30000, 8),
)
_LEVELS = len(LEVELS)
_FIRST_SHARE = 5_000
_GROWTH = 4


@kernel
def set_level(threats, level):
    """Set the level of the search by threats."""
    threats.level = level
    threats.width = LEVELS[level].width
    threats.four_nodes = LEVELS[level].four_nodes
    threats.test_nodes = LEVELS[level].test_nodes


@kernel
def be_thorough(threats):
    """Use the last level's budgets for fours, whatever the level."""
    threats.four_nodes = LEVELS[_LEVELS - 1].four_nodes
    threats.test_nodes = LEVELS[_LEVELS - 1].test_nodes


@kernel
def solve_threats(threats, tables, first):
    """Return the win by threats of the side to move: own stones, NONE or STOPPED.

    The levels take turns, with more and more nodes.
    """
    state = threats.state
    threats.attacker = state.position.side
    threats.start = state.position.ply
    limit = threats.node_limit
    share = np.int64(_FIRST_SHARE)
    threats.lowest = 0
    while threats.lowest < _LEVELS:
        for level in range(threats.lowest, _LEVELS):
            set_level(threats, level)
            threats.node_limit = min(limit, threats.nodes + share // LEVELS[level].part)
            result = prove(threats, tables, _UNLIMITED, _UNLIMITED, first)
            threats.node_limit = limit
            if result == PROVEN:
                return np.int64(threats.length)
            if result == DISPROVEN:
                threats.lowest = level + 1
            threats.stopped = 0
            if is_stopped(threats):
                return np.int64(STOPPED)
        share *= _GROWTH
    return np.int64(0) if threats.truncated >> (_LEVELS - 1) == 0 else np.int64(STOPPED)
