"""Wins by fours and threes: depth-first proof-number search over threats and exact answers.

At the attacker's turn every four and every open three is a move, and a win by fours alone
ends the branch; at the defender's turn the answers are exactly those that stop the threat,
with all fours that he can make in between. A proof is a move for every answer, so a win is
believed on the strength of complete lists; with every branch refuted there is no such win.

Numbers as in Allis (1994) and Nagai (2002): the proof number of a node is about how many
leaves have to be won to prove it, the disproof number how many to be lost. Many orders of
the same moves lead to the same position; a sum over children would count it several times,
so a node takes the largest child's number, and one for each other child (Ueda et al. 2008).
"""

from __future__ import annotations

import numpy as np

from ..bits import U64, lowest_bit
from ..kernel import kernel, recursive_kernel
from ..patterns import shapes as s
from ..patterns.forbidden import foul
from ..patterns.state import code_of, count_of, play, sets_of, undo
from ..patterns.tables import TABLES, shape_in
from ..position.board import last_move
from ..position.geometry import NO_CELL
from ..position.rules import WHITE
from ..values import WIN
from .defence import four_cells, fours_of, mark_answers, may_foul, static_result
from .threats import (
    BUCKET_WORDS,
    SLOTS,
    STOPPED,
    THREATS,
    bucket_from,
    is_stopped,
    may_list,
)
from .vcf import closeness, find_fours, list_blocks

INFINITE = (1 << 20) - 1  # proof number of what cannot be proven
_MOST = INFINITE - 1
_ATTACKED_BY_WHITE = U64(0x9E3779B97F4A7C15)

# The table ---------------------------------------------------------------------------
# Lowest bits first: proof number 20, disproof number 20, cell 10, length 8, effort 6.


@kernel
def proof_of(data):
    """Return the proof number: 0 where the attacker wins."""
    return np.int64(data & U64(INFINITE))


@kernel
def disproof_of(data):
    """Return the disproof number: 0 where he has no win by fours and threes."""
    return np.int64((data >> U64(20)) & U64(INFINITE))


@kernel
def cell_of_proof(data):
    """Return the winning move, or the answer that holds out longest."""
    return np.int64((data >> U64(40)) & U64(1023))


@kernel
def length_of(data):
    """Return the attacker's stones to the win, where it is proven."""
    return np.int64((data >> U64(50)) & U64(255))


@kernel
def effort_in(data):
    """Return how much work an entry stands for, as a power of two."""
    return np.int64(data >> U64(58))


@kernel
def proof_key(threats, key):
    """Return the key of a position in the table: it matters who attacks."""
    return key ^ _ATTACKED_BY_WHITE if threats.attacker == WHITE else key


@kernel
def probe_proof(threats, key):
    """Return the data stored for a key of ``proof_key``, or 0."""
    start = (bucket_from(key, threats.vct_buckets) + threats.vcf_buckets) * BUCKET_WORDS
    for i in range(SLOTS):
        if threats.words[start + 2 * i] == key:
            return threats.words[start + 2 * i + 1]
    return U64(0)


@kernel
def store_proof(threats, key, proof, disproof, cell, length, nodes):
    """Write the numbers of a position; in a full bucket what took least work makes room."""
    start = (bucket_from(key, threats.vct_buckets) + threats.vcf_buckets) * BUCKET_WORDS
    target = start
    least = 1 << 30
    old_effort = 0
    for i in range(SLOTS):
        slot = start + 2 * i
        effort = effort_in(threats.words[slot + 1])
        if threats.words[slot] == key:
            target = slot
            old_effort = effort
            break
        if effort < least:
            least = effort
            target = slot
    effort = old_effort
    while nodes >> effort > 0:
        effort += 1
    data = U64(proof) | (U64(disproof) << U64(20)) | (U64(cell) << U64(40))
    data |= (U64(min(length, 255)) << U64(50)) | (U64(min(effort, 63)) << U64(58))
    threats.words[target] = key
    threats.words[target + 1] = data


# Moves -------------------------------------------------------------------------------


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
def threat_cells(state, tables, side, word):
    """Return one word of the set of cells where a side makes a four or an open three."""
    cells = four_cells(state, tables, side, word)
    for kind in range(s.MAKES_THREE, s.MAKES_FOUR):
        cells |= state.listed[side, kind - s.FIRST_LISTED, word]
    if may_foul(tables, side):
        fouls = state.listed[side, s.MAKES_FOUL - s.FIRST_LISTED, word]
        while fouls != U64(0):
            cell = word * 64 + lowest_bit(fouls)
            if is_true_threat(state, tables, cell):
                cells |= fouls & (~fouls + U64(1))
            fouls &= fouls - U64(1)
    return cells


@kernel
def mark_replies(threats, tables):
    """Mark every answer to the threat of the side that has just moved; return its class.

    QUIET if there is no threat. Whatever is not marked loses.
    """
    return mark_answers(threats, tables)


@kernel
def stones_in(value):
    """Return the winner's stones in a static value that is a win for the side to move."""
    return (WIN - value + 1) // 2


@kernel
def add_child(threats, key, at, cell, proof, disproof):
    """List a move with the numbers of the position behind it: the table's, or these."""
    data = probe_proof(threats, key)
    length = 0
    if data != U64(0):
        proof = proof_of(data)
        disproof = disproof_of(data)
        length = length_of(data)
    threats.moves[at] = length * 1024 + cell
    threats.proofs[at] = proof
    threats.disproofs[at] = disproof


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


@kernel
def try_attack(threats, tables, cell, end):
    """Look at one attacking move and list it unless it fails at once; return the new end.

    A move that leaves no answer is listed as proven.
    """
    state = threats.state
    last = last_move(state.position, 2)
    play(state, tables, cell)
    threats.nodes += 1
    value = static_result(state, tables, 0)
    if value <= 0:
        kind = mark_replies(threats, tables)
        if kind != s.QUIET:
            answers = count_marks(threats)
            key = proof_key(threats, state.position.key)
            if answers == 0:
                length = 1 if kind == s.MAKES_FIVE else 2
                store_proof(threats, key, 0, INFINITE, NO_CELL, length, 1)
            far = 1 if last != NO_CELL and closeness(cell, last) == 0 else 0
            add_child(threats, key, end, cell, answers + 1 + far, 1)
            end += 1
    undo(state, tables)
    return end


@kernel
def list_threats(threats, tables, first):
    """List the attacker's moves from ``first`` on, with their numbers; return the end.

    Stops at the first one that is proven to win.
    """
    state = threats.state
    side = np.int64(state.position.side)
    end = first
    if count_of(state, 1 - side, s.MAKES_FIVE) > 0:
        last = list_blocks(threats, tables, first)
        for i in range(first, last):
            end = try_attack(threats, tables, np.int64(threats.moves[i]), end)
        return end
    for word in sets_of(state):
        cells = threat_cells(state, tables, side, word)
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            end = try_attack(threats, tables, cell, end)
            if end > first and threats.proofs[end - 1] == 0:
                return end
    return end


@kernel
def list_replies(threats, tables, first):
    """List the defender's answers from ``first`` on; return the end, or -1 if one refutes.

    Answers that lose at a glance are left out, the longest of them counts for
    ``threats.length``.
    """
    state = threats.state
    mark_replies(threats, tables)
    threats.length = 1 if count_of(state, threats.attacker, s.MAKES_FIVE) > 0 else 2
    end = first
    for word in sets_of(state):
        cells = threats.marks[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            play(state, tables, cell)
            threats.nodes += 1
            value = static_result(state, tables, 0)
            key = proof_key(threats, state.position.key)
            undo(state, tables)
            if value < 0:
                return -1
            if value > 0:
                threats.length = max(threats.length, stones_in(value))
                continue
            add_child(threats, key, end, cell, 1, 1)
            if threats.disproofs[end] == 0:
                return -1
            end += 1
    return end


@kernel
def wins_by_fours(threats, tables, first):
    """Return the stones of a win by fours that a short search finds for the side to move, or 0."""
    state = threats.state
    side = np.int64(state.position.side)
    if fours_of(state, tables, side) == 0:
        return 0
    limit = threats.node_limit
    threats.root = state.position.ply
    threats.node_limit = min(limit, threats.nodes + threats.four_nodes)
    value = np.int64(0)
    bound = np.int64(4)
    while bound <= 40:
        value = find_fours(threats, tables, bound, first)
        if value >= 0 or value == STOPPED:
            break
        bound = bound * 3
    threats.node_limit = limit
    threats.stopped = 0
    return max(value, 0)


@kernel
def worst(numbers, first, end):
    """Return the largest of a list's numbers and one for each other, 0 for an empty list."""
    largest = 0
    for i in range(first, end):
        largest = max(largest, numbers[i])
    return min(largest + end - first - 1, _MOST) if end > first else 0


@kernel
def choose(numbers, others, first, end):
    """Return the place of the smallest number, and of equal ones that with the smallest other."""
    best = first
    for i in range(first + 1, end):
        if numbers[i] < numbers[best]:
            best = i
        elif numbers[i] == numbers[best] and others[i] < others[best]:
            best = i
    return best


@kernel
def second_smallest(numbers, first, end, best):
    """Return the smallest number of a list except at one place, INFINITE if there is no other."""
    least = INFINITE
    for i in range(first, end):
        if i != best:
            least = min(least, numbers[i])
    return least


@kernel
def drop(threats, at, end):
    """Take a move off a list by putting the last one in its place."""
    threats.moves[at] = threats.moves[end - 1]
    threats.proofs[at] = threats.proofs[end - 1]
    threats.disproofs[at] = threats.disproofs[end - 1]


@kernel
def settle(threats, key, wins, cell, length, nodes):
    """Store a solved node and its length."""
    threats.length = length
    if wins:
        store_proof(threats, key, 0, INFINITE, cell, length, nodes)
    else:
        store_proof(threats, key, INFINITE, 0, cell, 0, nodes)


# The search --------------------------------------------------------------------------


@recursive_kernel(THREATS, TABLES, int, int, int)
def prove(threats, tables, proof_limit, disproof_limit, first):
    """Search until proof or disproof number reach their limit, or the search is stopped.

    The numbers go to the table. Returns proof * 2**20 + disproof; 0 * 2**20 + INFINITE is a
    proven win, with ``threats.length`` own stones, and INFINITE * 2**20 no win.
    """
    state = threats.state
    side = np.int64(state.position.side)
    attacks = side == threats.attacker
    key = proof_key(threats, state.position.key)
    data = probe_proof(threats, key)
    if data != U64(0):
        proof = proof_of(data)
        disproof = disproof_of(data)
        if proof >= proof_limit or disproof >= disproof_limit:
            threats.length = length_of(data)
            return proof * (INFINITE + 1) + disproof
    if is_stopped(threats) or not may_list(threats, first):
        threats.stopped = 1
        return INFINITE + 2
    before = threats.nodes
    won = np.int64(INFINITE)
    lost = np.int64(INFINITE) * (INFINITE + 1)

    # A new node: is it decided by fours?
    if data == U64(0):
        if attacks:
            value = static_result(state, tables, 0)
            if value < 0:
                settle(threats, key, False, NO_CELL, 0, 1)
                return lost
            length = stones_in(value) if value > 0 else 0
            if value == 0:
                length = wins_by_fours(threats, tables, first)
            if length > 0:
                settle(threats, key, True, NO_CELL, length, threats.nodes - before)
                return won
        elif count_of(state, threats.attacker, s.MAKES_FIVE) == 0:
            if wins_by_fours(threats, tables, first) > 0:
                settle(threats, key, False, NO_CELL, 0, threats.nodes - before)
                return lost

    longest = np.int64(0)
    if attacks:
        end = list_threats(threats, tables, first)
    else:
        end = list_replies(threats, tables, first)
        if end < 0:
            settle(threats, key, False, NO_CELL, 0, threats.nodes - before)
            return lost
        longest = threats.length
    longest_cell = np.int64(NO_CELL)
    at = np.int64(first)
    while True:
        # Children that are settled against the side to move leave the list.
        i = first
        while i < end:
            if attacks and threats.disproofs[i] == 0:
                drop(threats, i, end)
                end -= 1
            elif not attacks and threats.proofs[i] == 0:
                if threats.moves[i] >> 10 > longest:
                    longest = threats.moves[i] >> 10
                    longest_cell = threats.moves[i] & 1023
                drop(threats, i, end)
                end -= 1
            else:
                i += 1
        if end == first:
            if attacks:
                settle(threats, key, False, NO_CELL, 0, threats.nodes - before)
                return lost
            settle(threats, key, True, longest_cell, longest, threats.nodes - before)
            return won
        if attacks:
            at = choose(threats.proofs, threats.disproofs, first, end)
            proof = np.int64(threats.proofs[at])
            disproof = worst(threats.disproofs, first, end)
            if proof == 0:
                length = (threats.moves[at] >> 10) + 1
                cell = threats.moves[at] & 1023
                settle(threats, key, True, cell, length, threats.nodes - before)
                return won
        else:
            at = choose(threats.disproofs, threats.proofs, first, end)
            proof = worst(threats.proofs, first, end)
            disproof = np.int64(threats.disproofs[at])
            if disproof == 0:
                settle(threats, key, False, NO_CELL, 0, threats.nodes - before)
                return lost
        if proof >= proof_limit or disproof >= disproof_limit or threats.stopped != 0:
            cell = threats.moves[at] & 1023
            store_proof(threats, key, proof, disproof, cell, 0, threats.nodes - before)
            return proof * (INFINITE + 1) + disproof
        others = end - first - 1
        if attacks:
            second = second_smallest(threats.proofs, first, end, at)
            child_proof = min(proof_limit, second + second // 4 + 1)
            child_disproof = disproof_limit - others
        else:
            second = second_smallest(threats.disproofs, first, end, at)
            child_disproof = min(disproof_limit, second + second // 4 + 1)
            child_proof = proof_limit - others
        child_proof = max(child_proof, np.int64(threats.proofs[at]) + 1)
        child_disproof = max(child_disproof, np.int64(threats.disproofs[at]) + 1)
        cell = threats.moves[at] & 1023
        play(state, tables, cell)
        threats.nodes += 1
        result = prove(threats, tables, child_proof, child_disproof, end)
        undo(state, tables)
        threats.proofs[at] = result >> 20
        threats.disproofs[at] = result & INFINITE
        length = threats.length if result == won else 0
        threats.moves[at] = length * 1024 + cell


@kernel
def solve_threats(threats, tables, first):
    """Return the win by fours and threes of the side to move: own stones, NONE or STOPPED."""
    state = threats.state
    threats.attacker = state.position.side
    result = prove(threats, tables, np.int64(INFINITE), np.int64(INFINITE), first)
    if result == INFINITE:
        return np.int64(threats.length)
    if result == INFINITE * (INFINITE + 1):
        return np.int64(0)
    return np.int64(STOPPED)
