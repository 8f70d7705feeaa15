"""Wins by continuous fours: the complete search over every four on the board.

Each attacking move makes a four, so the defender has one answer (several if rows can be closed), or
no legal one. If the answer makes a four as well, the attack can continue only on the cell that
stops it, if that also makes a four. Whether a position has such a win does not depend on how it was
reached, so results are kept in a table.
"""

import numpy as np

from ...kernel import kernel, recursive_kernel
from ...kernel.bits import U64, lowest_bit, packed, prefetch
from ...patterns import shapes as s
from ...patterns.forbidden import foul
from ...patterns.state import class_at, count_of, first_of, pass_turn, play, sets_of, undo
from ...patterns.tables import TABLES
from ...position.board import bucket_of, distances, key_after, last_move
from ...position.geometry import NO_CELL, PADDED_CELLS
from ...position.rules import EMPTY
from .defence import (
    clear_marks,
    closes_rows,
    four_cells,
    fours_of,
    makes_four,
    mark_killers,
    may_foul,
)
from .memory import (
    BOUNDED,
    BUCKET_WORDS,
    LINE_ROOM,
    LISTED_MOVES,
    NONE,
    STOPPED,
    THREATS,
    find_entry,
    is_stopped,
    list_marks,
    may_list,
    pack_entry,
    pick,
    slot_for,
)

MAX_STONES_TO_WIN = 250
_UNBOUNDED = np.int64(MAX_STONES_TO_WIN)
LEAST_MORE = 2000  # least stones to look for a shorter win than the first


# The table of fours ------------------------------------------------------------------
# An entry is the key and a word: the stones of the win or the bound within which there is none, the
# kind of knowledge, the first move of the win, and the effort as a power of two.
stones_of, kind_of, cell_of_win, fours_effort_of, pack_fours = packed(
    stones=8, kind=2, cell=10, effort=44
)
KNOWN_CUT = 1  # no win with at most this many stones
KNOWN_WIN = 2  # a win with this many stones, starting on the cell
KNOWN_NONE = 3  # no win at all
MOST_KNOWN = 255  # most stones of an entry
_FOURS_EFFORT = 20  # lowest bit of the effort


@kernel
def probe_fours(threats, key):
    """Return the table data of a position, or 0."""
    return find_entry(threats, bucket_of(key, threats.vcf_buckets), key)


@kernel
def store_fours(threats, key, kind, stones, cell, nodes):
    """Store the result of a search of ``nodes`` nodes for a position."""
    assert KNOWN_CUT <= kind <= KNOWN_NONE and stones > 0 and 0 <= cell < PADDED_CELLS
    assert (cell != NO_CELL) == (kind == KNOWN_WIN)
    effort = 0
    while nodes >> effort > 0:
        effort += 1
    slot = slot_for(threats, bucket_of(key, threats.vcf_buckets), key, _FOURS_EFFORT)
    threats.words[slot] = key
    threats.words[slot + 1] = pack_fours(
        np.int64(min(stones, MOST_KNOWN)), np.int64(kind), np.int64(cell), np.int64(effort)
    )


# Attacks and blocks ------------------------------------------------------------------


@kernel
def closeness(cell, other):
    """Return the closeness of two cells: from 3 for neighbours down to 0 out of reach."""
    dx, dy = distances(cell, other)
    far = max(dx, dy)
    if far > 4 or (far > 2 and dx != dy and dx != 0 and dy != 0):
        return 0
    return 3 if far == 1 else (2 if far <= 2 else 1)


@kernel
def note_four(threats, side, cell, at):
    """Write a four to the move list, with its ordering score."""
    position = threats.state.position
    last = last_move(position, 1)
    if last != NO_CELL and position.holds[last] != side:
        last = last_move(position, 2)
    score = class_at(threats.state, side, cell) * 4
    if last != NO_CELL:
        score += closeness(cell, last)
    threats.moves[at] = pack_entry(cell, score)


@kernel
def list_attacks(threats, tables, first):
    """List the fours of the side to move from ``first`` on; return the end.

    Against an enemy five, only fours that stop it. The side must have no five of its own.
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
def list_blocks(threats, tables, first):
    """List the legal answers to a five from ``first`` on; return the end.

    The side to move must have no five of its own.
    """
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
    return list_marks(threats, threats.moves, first)


# The search --------------------------------------------------------------------------


@recursive_kernel(THREATS, TABLES, int, int)
def find_fours(threats, tables, stones, first):
    """Return the win by fours of the side to move: own stones, NONE, BOUNDED or STOPPED.

    ``stones`` bounds the own stones; only BOUNDED depends on the bound. Move lists are written
    from ``first`` on.
    """
    assert 0 < stones <= MAX_STONES_TO_WIN and 0 <= first <= LISTED_MOVES
    assert 0 <= threats.state.position.ply - threats.root < LINE_ROOM
    state = threats.state
    side = np.int64(state.position.side)
    if count_of(state, side, s.MAKES_FIVE) > 0:
        threats.line_end = state.position.ply - threats.root
        return 1
    if stones < 2:
        return BOUNDED
    if count_of(state, 1 - side, s.MAKES_FIVE) == 0:
        if count_of(state, side, s.MAKES_WINNING_FOUR) > 0:
            threats.line_end = state.position.ply - threats.root
            return 2
    if is_stopped(threats):
        return STOPPED
    key = state.position.key
    data = probe_fours(threats, key)
    known = kind_of(data)
    if known == KNOWN_NONE:
        return NONE
    if known == KNOWN_CUT and stones_of(data) >= stones:
        return BOUNDED
    if known == KNOWN_WIN and stones_of(data) <= stones:
        threats.line_end = state.position.ply - threats.root
        return stones_of(data)
    if not may_list(first):
        return BOUNDED

    before = threats.nodes
    end = list_attacks(threats, tables, first)
    result = NONE
    for i in range(first, end):
        cell = pick(threats.moves, i, end)
        play(state, tables, cell)
        threats.nodes += 1
        place_in_line = state.position.ply - threats.root
        threats.line_end = place_in_line
        longest = 1
        last = list_blocks(threats, tables, end)
        for j in range(end, last):
            block = np.int64(threats.moves[j])
            behind = key_after(state.position.key, tables.zobrist, 1 - side, block)
            prefetch(threats.words, bucket_of(behind, threats.vcf_buckets) * BUCKET_WORDS)
            play(state, tables, block)
            threats.nodes += 1
            value = find_fours(threats, tables, stones - 1, last)
            undo(state, tables)
            if value <= 0:
                longest = value
                break
            threats.line[place_in_line] = block
            longest = max(longest, value)
        undo(state, tables)
        if longest == STOPPED:
            return STOPPED
        if longest > 0:
            threats.line[place_in_line - 1] = cell
            store_fours(threats, key, KNOWN_WIN, longest + 1, cell, threats.nodes - before)
            return longest + 1
        if longest == BOUNDED:
            result = BOUNDED
    kind = KNOWN_NONE if result == NONE else KNOWN_CUT
    store_fours(threats, key, kind, stones, NO_CELL, threats.nodes - before)
    return result


# Entry points ------------------------------------------------------------------------


@kernel
def keep_line(threats):
    """Keep the line of the win just found as the one to report."""
    threats.found_end = min(threats.line_end, LINE_ROOM)
    for i in range(threats.found_end):
        threats.found[i] = threats.line[i]


@kernel
def search_fours(threats, tables, first):
    """Return some win by fours of the side to move: own stones, NONE or STOPPED.

    The bound grows by half from round to round, so that a short win is not missed in a large tree;
    each round uses the table of the previous ones. ``threats.found`` is the line.
    """
    state = threats.state
    side = np.int64(state.position.side)
    threats.root = state.position.ply
    if count_of(state, side, s.MAKES_FIVE) > 0:
        threats.found_end = 0
        return np.int64(1)
    if fours_of(state, side) == 0:
        return np.int64(NONE)
    bound = np.int64(4)
    while True:
        value = find_fours(threats, tables, bound, first)
        if value > 0:
            keep_line(threats)
            return value
        if value != BOUNDED:
            return value
        if bound >= _UNBOUNDED:
            return np.int64(STOPPED)
        bound = min(bound + bound // 2, _UNBOUNDED)


@kernel
def solve_fours(threats, tables, first):
    """Return the shortest win by fours found for the side to move: stones, NONE or STOPPED.

    The search for a shorter win than the first may take about as many nodes again.
    """
    stones = search_fours(threats, tables, first)
    limit = threats.node_limit
    threats.node_limit = min(limit, 2 * threats.nodes + LEAST_MORE)
    while stones > 2:
        value = find_fours(threats, tables, stones - 1, first)
        if value <= 0:
            break
        stones = value
        keep_line(threats)
    threats.node_limit = limit
    if stones > 0:
        threats.stopped = 0
    return stones


@kernel
def wins_by_fours(threats, tables, first, nodes):
    """Return the stones of a win by fours found within a budget of nodes, or 0.

    If the calling search must stop, ``threats.stopped`` is set and 0 is meaningless.
    """
    state = threats.state
    side = np.int64(state.position.side)
    if fours_of(state, side) == 0:
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


@kernel
def wins_after_pass(threats, tables, first):
    """Return the stones of the opponent's win by fours if the side to move passes, or 0."""
    pass_turn(threats.state)
    stones = wins_by_fours(threats, tables, first, threats.test_nodes)
    pass_turn(threats.state)
    return stones


@kernel
def first_of_fours(threats, tables, stones, first):
    """Return the first move of a win by fours of at most this many stones, or NO_CELL."""
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
        if kind_of(data) == KNOWN_WIN and stones_of(data) <= stones:
            return cell_of_win(data)
        if attempt == 0 and find_fours(threats, tables, stones, first) <= 0:
            return NO_CELL
    return NO_CELL


@kernel
def line_still_wins(threats, tables):
    """Return whether the line in ``threats.found`` still wins by fours for the side to move.

    Answers are taken from the board, not from the line, so an additional stone elsewhere makes no
    difference as long as it interferes with neither side.
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
