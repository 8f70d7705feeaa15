"""Wins by continuous fours: the complete search over every four on the board.

Each attacking move makes a four, so the defender has one answer (several where rows can be
closed), or none that the rules allow. His answer may itself make a four; then only the cell
that stops it can go on, if it makes a four too. A position has or has not such a win, on
whatever way it was reached, so what is found out about it goes to a table and stays true.
"""

from __future__ import annotations

import numpy as np

from ..bits import U64, lowest_bit
from ..kernel import kernel, recursive_kernel
from ..patterns import shapes as s
from ..patterns.forbidden import foul
from ..patterns.state import class_at, count_of, first_of, play, sets_of, undo
from ..patterns.tables import TABLES
from ..position.board import last_move
from ..position.geometry import NO_CELL, STRIDE
from ..position.rules import EMPTY
from .defence import (
    clear_marks,
    closes_rows,
    four_cells,
    fours_of,
    makes_four,
    mark_killers,
    may_foul,
)
from .threats import (
    BUCKET_WORDS,
    CUT,
    LINE_ROOM,
    NONE,
    SLOTS,
    STOPPED,
    THREATS,
    bucket_from,
    is_stopped,
    may_list,
)

MAX_STONES_TO_WIN = 250
_UNBOUNDED = np.int64(MAX_STONES_TO_WIN)

# The table ---------------------------------------------------------------------------
# An entry is the key and a word, lowest bits first: stones 8, kind 2, cell 10, effort 6.

_KNOWN_CUT = 1  # no win with at most so many stones
_KNOWN_WIN = 2  # a win with so many stones, beginning on the cell
_KNOWN_NONE = 3  # no win at all


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
def effort_of(data):
    """Return how much work an entry stands for, as a power of two."""
    return np.int64((data >> U64(20)) & U64(63))


@kernel
def probe_fours(threats, key):
    """Return what the table knows about a position, or 0."""
    start = bucket_from(key, threats.vcf_buckets) * BUCKET_WORDS
    for i in range(SLOTS):
        if threats.words[start + 2 * i] == key:
            return threats.words[start + 2 * i + 1]
    return U64(0)


@kernel
def store_fours(threats, key, kind, stones, cell, nodes):
    """Write what a search of so many nodes found out about a position.

    In a full bucket the entry that took least work makes room.
    """
    effort = 0
    while nodes >> effort > 0:
        effort += 1
    start = bucket_from(key, threats.vcf_buckets) * BUCKET_WORDS
    target = start
    least = 1 << 30
    for i in range(SLOTS):
        slot = start + 2 * i
        if threats.words[slot] == key:
            target = slot
            break
        old = effort_of(threats.words[slot + 1])
        if old < least:
            least = old
            target = slot
    data = U64(min(stones, 255)) | (U64(kind) << U64(8)) | (U64(cell) << U64(10))
    threats.words[target] = key
    threats.words[target + 1] = data | (U64(effort) << U64(20))


# Moves -------------------------------------------------------------------------------


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
    threats.moves[at] = score * 1024 + cell


@kernel
def list_attacks(threats, tables, first):
    """List from ``first`` on the fours that the side to move has to try; return the end.

    Against a five of the enemy only a four that stops it. No own five can be made.
    """
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    end = first
    if count_of(state, enemy, s.MAKES_FIVE) > 0:
        if not closes_rows(tables):
            cell = first_of(state, enemy, s.MAKES_FIVE)
            if count_of(state, enemy, s.MAKES_FIVE) == 1 and makes_four(state, tables, side, cell):
                note_four(threats, side, cell, end)
                end += 1
            return end
        clear_marks(threats)
        mark_killers(threats, tables, s.MAKES_FIVE)
        for word in sets_of(state):
            cells = threats.marks[word] & four_cells(state, tables, side, word)
            while cells != U64(0):
                note_four(threats, side, word * 64 + lowest_bit(cells), end)
                cells &= cells - U64(1)
                end += 1
        return end
    for word in sets_of(state):
        cells = four_cells(state, tables, side, word)
        while cells != U64(0):
            note_four(threats, side, word * 64 + lowest_bit(cells), end)
            cells &= cells - U64(1)
            end += 1
    return end


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
    for word in sets_of(state):
        cells = threats.marks[word]
        while cells != U64(0):
            threats.moves[end] = word * 64 + lowest_bit(cells)
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
    return packed & 1023


@kernel
def line_still_wins(threats, tables):
    """Say whether the line in ``threats.found`` wins by fours for the side to move, as it is.

    Its answers are taken from the board, not from the line, so that a stone more somewhere
    on the board makes no difference as long as it is in nobody's way.
    """
    state = threats.state
    side = np.int64(state.position.side)
    ply = state.position.ply
    at = 0
    wins = False
    while True:
        if count_of(state, side, s.MAKES_FIVE) > 0:
            wins = True
            break
        fives = count_of(state, 1 - side, s.MAKES_FIVE)
        if fives == 0 and count_of(state, side, s.MAKES_WINNING_FOUR) > 0:
            wins = True
            break
        if at >= threats.found_end:
            break
        cell = np.int64(threats.found[at])
        if state.position.holds[cell] != EMPTY or not makes_four(state, tables, side, cell):
            break
        if fives > 0 and (fives > 1 or first_of(state, 1 - side, s.MAKES_FIVE) != cell):
            break
        play(state, tables, cell)
        fives = count_of(state, side, s.MAKES_FIVE)
        block = first_of(state, side, s.MAKES_FIVE)
        if fives == 0 or closes_rows(tables):
            break
        if fives > 1 or (may_foul(tables, 1 - side) and foul(state, tables, block) == 1):
            wins = True
            break
        play(state, tables, block)
        at += 2
    while state.position.ply > ply:
        undo(state, tables)
    return wins


# The search --------------------------------------------------------------------------


@recursive_kernel(THREATS, TABLES, int, int)
def find_fours(threats, tables, stones, first):
    """Return the win by fours of the side to move: its own stones, or NONE, CUT or STOPPED.

    ``stones`` bounds the own stones; only CUT depends on the bound. Move lists are written
    from ``first`` on.
    """
    state = threats.state
    side = np.int64(state.position.side)
    if count_of(state, side, s.MAKES_FIVE) > 0:
        threats.line_end = state.position.ply - threats.root
        return 1
    if stones < 2:
        return CUT
    if count_of(state, 1 - side, s.MAKES_FIVE) == 0:
        if count_of(state, side, s.MAKES_WINNING_FOUR) > 0:
            threats.line_end = state.position.ply - threats.root
            return 2
    if is_stopped(threats):
        return STOPPED
    key = state.position.key
    data = probe_fours(threats, key)
    known = kind_of(data)
    if known == _KNOWN_NONE:
        return NONE
    if known == _KNOWN_CUT and stones_of(data) >= stones:
        return CUT
    if known == _KNOWN_WIN and stones_of(data) <= stones:
        threats.line_end = state.position.ply - threats.root
        return stones_of(data)
    if not may_list(threats, first):
        return CUT

    before = threats.nodes
    end = list_attacks(threats, tables, first)
    result = NONE
    for i in range(first, end):
        cell = pick_attack(threats, i, end)
        play(state, tables, cell)
        threats.nodes += 1
        place_in_line = state.position.ply - threats.root
        threats.line_end = place_in_line
        longest = 1
        last = list_blocks(threats, tables, end)
        for j in range(end, last):
            play(state, tables, threats.moves[j])
            threats.nodes += 1
            value = find_fours(threats, tables, stones - 1, last)
            undo(state, tables)
            if value <= 0:
                longest = value
                break
            threats.line[place_in_line] = threats.moves[j]
            longest = max(longest, value)
        undo(state, tables)
        if longest == STOPPED:
            return STOPPED
        if longest > 0:
            threats.line[place_in_line - 1] = cell
            store_fours(threats, key, _KNOWN_WIN, longest + 1, cell, threats.nodes - before)
            return longest + 1
        if longest == CUT:
            result = CUT
    kind = _KNOWN_NONE if result == NONE else _KNOWN_CUT
    store_fours(threats, key, kind, stones, NO_CELL, threats.nodes - before)
    return result


@kernel
def keep_line(threats):
    """Keep the line of the win just found as the one to report."""
    threats.found_end = min(threats.line_end, LINE_ROOM)
    for i in range(threats.found_end):
        threats.found[i] = threats.line[i]


@kernel
def shorten(threats, tables, stones, first):
    """Look for a shorter win than one of so many stones; return the shortest found.

    It may take as much again as the search has taken so far, and ends with proof or without.
    """
    limit = threats.node_limit
    threats.node_limit = min(limit, 2 * threats.nodes + 2000)
    while stones > 2:
        value = find_fours(threats, tables, stones - 1, first)
        if value <= 0:
            break
        stones = value
        keep_line(threats)
    threats.node_limit = limit
    threats.stopped = 0
    return stones


@kernel
def search_fours(threats, tables, first):
    """Return some win by fours of the side to move: own stones, NONE or STOPPED.

    The bound grows by half from one round to the next, so that a short win is not missed in
    a deep thicket; what one round finds out serves the next. ``threats.found`` keeps the line.
    """
    state = threats.state
    side = np.int64(state.position.side)
    threats.root = state.position.ply
    if count_of(state, side, s.MAKES_FIVE) > 0:
        threats.found_end = 0
        return np.int64(1)
    if fours_of(state, tables, side) == 0:
        return np.int64(NONE)
    bound = np.int64(4)
    while True:
        value = find_fours(threats, tables, bound, first)
        if value > 0:
            keep_line(threats)
            return value
        if value != CUT:
            return value
        if bound >= _UNBOUNDED:
            return np.int64(STOPPED)
        bound = min(bound + bound // 2, _UNBOUNDED)


@kernel
def solve_fours(threats, tables, first):
    """Return the shortest win by fours found for the side to move: stones, NONE or STOPPED."""
    value = search_fours(threats, tables, first)
    return shorten(threats, tables, value, first) if value > 2 else value


@kernel
def first_of_fours(threats, tables, stones, first):
    """Return the first move of a win by fours of at most so many stones, or NO_CELL."""
    state = threats.state
    side = np.int64(state.position.side)
    cell = first_of(state, side, s.MAKES_FIVE)
    if cell != NO_CELL:
        return cell
    if count_of(state, 1 - side, s.MAKES_FIVE) == 0:
        cell = first_of(state, side, s.MAKES_WINNING_FOUR)
        if cell != NO_CELL:
            return cell
    threats.root = state.position.ply
    for attempt in range(2):
        data = probe_fours(threats, state.position.key)
        if kind_of(data) == _KNOWN_WIN and stones_of(data) <= stones:
            return cell_of_win(data)
        if attempt == 0 and find_fours(threats, tables, stones, first) <= 0:
            return NO_CELL
    return NO_CELL
