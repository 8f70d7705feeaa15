"""The search by fours: its table, its attacks in the order to try them, the answers to a four.

An entry of the table is the key and a word, lowest bits first: stones 8, kind 2, cell 10, effort 6.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit, prefetch
from ...patterns import shapes as s
from ...patterns.forbidden import foul
from ...patterns.state import class_at, count_of, first_of, sets_of
from ...position.board import last_move
from ...position.geometry import NO_CELL, PADDED_CELLS, STRIDE
from .defence import clear_marks, closes_rows, four_cells, makes_four, mark_killers, may_foul
from .memory import BUCKET_WORDS, bucket_from, cell_in, find_entry, list_marks, listed, slot_for

KNOWN_CUT = 1  # no win with at most this many stones
KNOWN_WIN = 2  # a win with this many stones, beginning on the cell
KNOWN_NONE = 3  # no win at all
_EFFORT_BIT = 20


@kernel
def stones_of(data):
    """Return the stones of an entry: of the win, or of the bound within which there is none."""
    return np.int64(data & U64(255))


@kernel
def kind_of(data):
    """Return what an entry knows."""
    return np.int64((data >> U64(8)) & U64(3))


@kernel
def cell_of_win(data):
    """Return the first move of an entry's win."""
    return np.int64((data >> U64(10)) & U64(1023))


@kernel
def expect_fours(threats, key):
    """Begin to load the bucket of a key that will soon be probed."""
    prefetch(threats.words, bucket_from(key, threats.vcf_buckets) * BUCKET_WORDS)


@kernel
def probe_fours(threats, key):
    """Return what the table knows about a position, or 0."""
    return find_entry(threats, bucket_from(key, threats.vcf_buckets), key)


@kernel
def store_fours(threats, key, kind, stones, cell, nodes):
    """Write what a search of this many nodes found out about a position."""
    assert KNOWN_CUT <= kind <= KNOWN_NONE and stones > 0 and 0 <= cell < PADDED_CELLS
    assert (cell != NO_CELL) == (kind == KNOWN_WIN)
    effort = 0
    while nodes >> effort > 0:
        effort += 1
    slot = slot_for(threats, bucket_from(key, threats.vcf_buckets), key, _EFFORT_BIT)
    data = U64(min(stones, 255)) | (U64(kind) << U64(8)) | (U64(cell) << U64(10))
    threats.words[slot] = key
    threats.words[slot + 1] = data | (U64(effort) << U64(_EFFORT_BIT))


@kernel
def closeness(cell, other):
    """Return how near two cells are: 3 next to each other, down to 0 out of reach."""
    dx = abs((cell & (STRIDE - 1)) - (other & (STRIDE - 1)))
    dy = abs((cell >> 5) - (other >> 5))
    far = max(dx, dy)
    if far > 4 or (far > 2 and dx != dy and dx != 0 and dy != 0):
        return 0
    return 3 if far == 1 else (2 if far <= 2 else 1)


@kernel
def last_stone(position, side):
    """Return the cell of a side's last stone, if it is one of the last two; else NO_CELL."""
    cell = last_move(position, 1)
    if cell != NO_CELL and position.holds[cell] != side:
        cell = last_move(position, 2)
    return cell


@kernel
def note_four(threats, side, cell, at):
    """Write a four to the move list, with its place in the order."""
    last = last_stone(threats.state.position, side)
    score = class_at(threats.state, side, cell) * 4
    if last != NO_CELL:
        score += closeness(cell, last)
    threats.moves[at] = listed(cell, score)


@kernel
def list_attacks(threats, tables, first):
    """List from ``first`` on the fours that the side to move has to try; return the end.

    Against a five of the enemy only a four that stops it. No own five can be made.
    """
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    fives = count_of(state, enemy, s.MAKES_FIVE)
    end = first
    if fives > 0 and not closes_rows(tables):
        cell = first_of(state, enemy, s.MAKES_FIVE)
        if fives == 1 and makes_four(state, tables, side, cell):
            note_four(threats, side, cell, end)
            end += 1
        return end
    if fives > 0:
        clear_marks(threats)
        mark_killers(threats, tables, s.MAKES_FIVE)
    for word in sets_of(state):
        cells = four_cells(state, tables, side, word)
        if fives > 0:
            cells &= threats.marks[word]
        while cells != U64(0):
            note_four(threats, side, word * 64 + lowest_bit(cells), end)
            cells &= cells - U64(1)
            end += 1
    return end


@kernel
def pick_attack(threats, first, end):
    """Move the best of a list to its beginning and return its cell."""
    best = first
    for i in range(first + 1, end):
        if threats.moves[i] > threats.moves[best]:
            best = i
    packed = threats.moves[best]
    threats.moves[best] = threats.moves[first]
    threats.moves[first] = packed
    return cell_in(packed)


@kernel
def list_blocks(threats, tables, first):
    """List the legal answers of the side to move, who has no five, to a five; return the end."""
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    end = first
    if not closes_rows(tables):
        if count_of(state, enemy, s.MAKES_FIVE) == 1:
            cell = first_of(state, enemy, s.MAKES_FIVE)
            if not (may_foul(tables, side) and foul(state, tables, cell) == 1):
                threats.moves[end] = cell
                end += 1
        return end
    clear_marks(threats)
    mark_killers(threats, tables, s.MAKES_FIVE)
    return list_marks(threats, first)
