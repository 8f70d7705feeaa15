"""The incremental state: stones with the shapes, classes and value of every empty cell.

``play`` and ``undo`` update it; ``same_as_fresh`` checks it against a computation from scratch.
A stone changes the line windows of at most ``8 * half`` empty cells (32 or 40). The changes are
logged, and ``undo`` restores the state exactly from the log. The shapes of a cell are frozen when a
stone is put on it, so the class of a move at the time it was played remains readable.

Which cells change, and which of them change their class, cannot be predicted, and a wrong guess of
the processor costs as much as a whole cell. So nothing branches on it: each candidate is written at
the end of a list, and the end moves on if it belongs there (``note_lines``, ``note_moves``).
"""

import numpy as np

from ..kernel import kernel, record
from ..kernel.bits import U64, lowest_bit, packed, popcount, rotate_right
from ..position.board import (
    POSITION,
    SETS,
    WHITE_TO_MOVE,
    bit_of,
    clear_board,
    contains,
    key_in,
    lift,
    line_key,
    line_of,
    place_on_line,
    put,
    step_of,
)
from ..position.geometry import MAX_STONES, NO_CELL, PADDED_CELLS, STRIDE
from ..position.rules import BLACK, EMPTY, WALL, WHITE
from .shapes import CELL_CLASSES, FIRST_LISTED, LISTED_CLASSES, MAKES_FIVE, OTHERS
from .tables import class_in, value_in

MAX_CHANGES = 40  # cells that one stone can change
PLIES = MAX_STONES + 2
LOG = (MAX_STONES + 1) * MAX_CHANGES
MOVED = 2 * (MAX_STONES + 1) * (MAX_CHANGES + 1)

STATE = record(
    position=POSITION,
    listed=(np.uint64, (2, LISTED_CLASSES + 1, SETS)),  # side, class - OTHERS -> set of cells
    log=(np.uint64, (LOG, 2)),  # cell and shapes, entries: before the change
    entries=(np.uint64, PADDED_CELLS),  # two of tables.cells, black's in the low half
    near=(np.uint64, (PLIES, SETS)),  # after each ply, the cells near some stone
    log_end=(np.int32, PLIES),  # log[:log_end[ply]] belongs to the first ply stones
    sums=(np.int32, PLIES),  # after each ply, black's minus white's cell values
    moved=(np.uint32, MOVED),  # cells whose class changed (pack_move)
    moved_end=(np.int32, PLIES),  # moved[:moved_end[ply]] belongs to the first ply stones
    counts=(np.int32, (2, 16)),  # side, listed class -> number of its cells
    shapes=(np.uint32, PADDED_CELLS),  # black's code in the low half, white's in the high half
)

LINE_SHAPES_OF_BOTH = U64(0x000F000F)
# A cell that moves from the list of one class to that of another.
moved_cell, old_class, new_class, moved_side, pack_move = packed(cell=10, old=4, new=4, side=1)
# The cells near a stone: seven columns wide up to three rows away, and the eight rays to distance
# four. Columns -4 to 4 as bits, by distance of the row.
STENCIL = np.array([0x1FF, 0x0FE, 0x0FE, 0x0FE, 0x111], np.uint64)


@kernel
def sets_of(state):
    """Return the range of set words that the board can touch."""
    return range(state.position.first_set, state.position.end_set)


@kernel
def near_cells(state, word):
    """Return the empty cells near stones in one word of a set."""
    return state.near[state.position.ply, word] & state.position.empties[word]


@kernel
def code_of(shapes, side):
    """Return one side's four line shapes, four bits each, from a cell's shapes."""
    return np.int64(U64(shapes) >> U64(16 * side)) & 0xFFFF


@kernel
def entry_of(entries, side):
    """Return one side's packed cell entry."""
    return np.int64(np.int32(entries >> U64(32 * side)))


@kernel
def shapes_in_line(tables, key, direction):
    """Return both sides' shapes of a line key, at their places among a cell's shapes."""
    spread = U64(tables.lines[key]) * (U64(0x1001) << U64(4 * direction))
    return spread & (LINE_SHAPES_OF_BOTH << U64(4 * direction))


@kernel
def entries_for(tables, shapes):
    """Return both sides' entries of a cell with these shapes."""
    black = np.uint32(tables.cells[BLACK, code_of(shapes, BLACK)])
    white = np.uint32(tables.cells[WHITE, code_of(shapes, WHITE)])
    return U64(black) | (U64(white) << U64(32))


@kernel
def balance(entries):
    """Return black's minus white's value of a cell."""
    return value_in(entry_of(entries, BLACK)) - value_in(entry_of(entries, WHITE))


@kernel
def note_moves(state, end, side, cell, old, new):
    """Note the class of a cell before and after a stone, if its list changes; return the end.

    ``old``, ``new``: its entries, or classes.
    """
    old = max(old & 15, OTHERS)
    new = max(new & 15, OTHERS)
    state.moved[end] = np.uint32(pack_move(cell, old, new, side))
    return end + (1 if old != new else 0)


@kernel
def list_cell(state, side, kind, cell, change):
    """Add a cell to the list of a class (``change`` 1) or remove it (-1)."""
    state.listed[side, kind - OTHERS, cell >> 6] ^= bit_of(cell)
    state.counts[side, kind] += change


@kernel
def move_cells(state, start, end, change):
    """Move the noted cells from list to list (``change`` 1) or back (-1)."""
    for i in range(start, end):
        move = U64(state.moved[i])
        cell = moved_cell(move)
        side = moved_side(move)
        list_cell(state, side, old_class(move), cell, -change)
        list_cell(state, side, new_class(move), cell, change)


@kernel
def note_lines(state, tables, cell, half, start):
    """Log the cells whose shapes a stone changes, with the changes; return the log's end.

    Each line is rotated once so that every window on it is one shift away.
    """
    end = start
    for direction in range(4):
        step = step_of(direction)
        word = state.position.lines[direction, line_of(cell, direction)]
        word = rotate_right(word, 2 * (place_on_line(cell, direction) - 2 * half))
        empties = (word & (word >> U64(1))) >> U64(2 * half)
        mask = LINE_SHAPES_OF_BOTH << U64(4 * direction)
        for place in range(2 * half + 1):
            if place == half:
                continue
            key = key_in(word >> U64(2 * place), half)
            other = cell + (place - half) * step
            change = U64(state.shapes[other]) & mask
            change ^= shapes_in_line(tables, key, direction)
            state.log[end, 0] = (U64(other) << U64(32)) | change
            differs = (change + U64(0xFFFFFFFF)) >> U64(32)  # 1 if any bit is set
            end += np.int64(differs & (empties >> U64(2 * place)))
    return end


@kernel
def update_lines(state, tables, cell, half):
    """Recompute the shapes around a cell that has just changed; return the new value sum."""
    ply = np.int64(state.position.ply)
    total = np.int64(state.sums[ply - 1])
    start = np.int64(state.log_end[ply - 1])
    end = note_lines(state, tables, cell, half, start)
    first = np.int64(state.moved_end[ply - 1])
    last = first
    for i in range(start, end):
        note = state.log[i, 0]
        other = np.int64(note >> U64(32))
        old = U64(state.shapes[other])
        shapes = old ^ (note & U64(0xFFFFFFFF))
        before = state.entries[other]
        after = entries_for(tables, shapes)
        state.log[i, 0] = (U64(other) << U64(32)) | old
        state.log[i, 1] = before
        state.shapes[other] = np.uint32(shapes)
        state.entries[other] = after
        total += balance(after) - balance(before)
        for side in range(2):
            was, now = entry_of(before, side), entry_of(after, side)
            last = note_moves(state, last, side, other, was, now)
    assert end - start <= MAX_CHANGES
    for side in range(2):
        was = entry_of(state.entries[cell], side)
        last = note_moves(state, last, side, cell, was, OTHERS)
    state.log_end[ply] = end
    state.moved_end[ply] = last
    move_cells(state, first, last, 1)
    return total


@kernel
def bring_near(state, cell):
    """Extend the near cells of the last ply by those around a new stone."""
    ply = state.position.ply
    for word in sets_of(state):
        state.near[ply, word] = state.near[ply - 1, word]
    column = U64((cell & (STRIDE - 1)) - 4)
    row = cell >> 5
    for distance in range(-4, 5):
        y = row + distance
        bits = STENCIL[abs(distance)] << column
        state.near[ply, y >> 1] |= bits << U64((y & 1) * 32)


@kernel
def place(state, tables, cell, kind):
    """Put a stone or wall on an empty cell and update the state; the turn does not pass."""
    put(state.position, tables.zobrist, cell, kind)
    if tables.half == 4:
        total = update_lines(state, tables, cell, 4)
    else:
        total = update_lines(state, tables, cell, 5)
    total -= balance(state.entries[cell])
    state.sums[state.position.ply] = total
    bring_near(state, cell)


@kernel
def take_back(state, tables):
    """Take off the last stone or wall, the inverse of ``place``; return its cell."""
    ply = state.position.ply
    cell = lift(state.position, tables.zobrist)
    for i in range(state.log_end[ply - 1], state.log_end[ply]):
        other = np.int64(state.log[i, 0] >> U64(32))
        state.shapes[other] = np.uint32(state.log[i, 0] & U64(0xFFFFFFFF))
        state.entries[other] = state.log[i, 1]
    move_cells(state, np.int64(state.moved_end[ply - 1]), np.int64(state.moved_end[ply]), -1)
    return cell


@kernel
def play(state, tables, cell):
    """Play a stone of the side to move on an empty cell."""
    place(state, tables, cell, state.position.side)
    pass_turn(state)


@kernel
def undo(state, tables):
    """Take back the last stone and give its side the move; the inverse of ``play``."""
    pass_turn(state)
    take_back(state, tables)


@kernel
def pass_turn(state):
    """Give the move to the other side; its own inverse."""
    state.position.side = 1 - state.position.side
    state.position.key ^= WHITE_TO_MOVE


@kernel
def fresh_shapes(state, tables, cell):
    """Return the shape bytes of an empty cell, computed from its lines."""
    shapes = U64(0)
    for direction in range(4):
        key = line_key(state.position.lines, cell, direction, tables.half)
        shapes |= shapes_in_line(tables, key, direction)
    return np.uint32(shapes)


@kernel
def clear_state(state, tables, width, height):
    """Make the state that of an empty board."""
    clear_board(state.position, width, height)
    state.listed[:] = U64(0)
    state.near[0, :] = U64(0)
    state.counts[:] = 0
    state.entries[:] = U64(0)
    state.shapes[:] = np.uint32(0)
    state.log_end[0] = 0
    state.moved_end[0] = 0
    total = 0
    for cell in range(PADDED_CELLS):
        if state.position.holds[cell] == EMPTY:
            state.shapes[cell] = fresh_shapes(state, tables, cell)
            state.entries[cell] = entries_for(tables, U64(state.shapes[cell]))
            total += balance(state.entries[cell])
            for side in range(2):
                list_cell(state, side, max(class_at(state, side, cell), OTHERS), cell, 1)
    state.sums[0] = total


# Reading the state -------------------------------------------------------------------


@kernel
def class_at(state, side, cell):
    """Return the class of a cell for a side."""
    return class_in(entry_of(state.entries[cell], side))


@kernel
def count_of(state, side, kind):
    """Return the number of cells with this listed class for a side."""
    return np.int64(state.counts[side, kind])


@kernel
def first_of(state, side, kind):
    """Return the first cell with this listed class for a side, or NO_CELL."""
    for word in sets_of(state):
        bits = state.listed[side, kind - OTHERS, word]
        if bits != U64(0):
            return word * 64 + lowest_bit(bits)
    return NO_CELL


@kernel
def last_stone_wins(state):
    """Return whether the last stone completed a winning row."""
    position = state.position
    if position.ply == 0:
        return False
    cell = np.int64(position.moves[position.ply - 1])
    side = np.int64(position.holds[cell])
    return side != WALL and class_at(state, side, cell) == MAKES_FIVE


@kernel
def same_as_fresh(state, tables):
    """Compare the incremental state with one computed from scratch; return 0 if they agree.

    Otherwise return the number of a part that differs: 1 shapes, 2 entries, 3 lists, 4 counts,
    5 sum, 6 near cells, 7 empties.
    """
    position = state.position
    total = 0
    for cell in range(PADDED_CELLS):
        empty = position.holds[cell] == EMPTY
        if empty != contains(position.empties, cell):
            return 7
        if empty:
            shapes = fresh_shapes(state, tables, cell)
            if state.shapes[cell] != shapes:
                return 1
            entries = entries_for(tables, U64(shapes))
            if state.entries[cell] != entries:
                return 2
            total += balance(entries)
        for side in range(2):
            kind = class_at(state, side, cell) if empty else -1
            for listed in range(FIRST_LISTED, CELL_CLASSES):
                cells = state.listed[side, listed - OTHERS]
                if contains(cells, cell) != (kind == listed):
                    return 3
    for side in range(2):
        for listed in range(FIRST_LISTED, CELL_CLASSES):
            cells = 0
            for word in range(SETS):
                cells += popcount(state.listed[side, listed - OTHERS, word])
            if state.counts[side, listed] != cells:
                return 4
    if state.sums[position.ply] != total:
        return 5
    for word in range(SETS):
        near = U64(0)
        for i in range(position.ply):
            cell = np.int64(position.moves[i])
            for other in range(64 * word, 64 * word + 64):
                dx = abs((other & (STRIDE - 1)) - (cell & (STRIDE - 1)))
                dy = abs((other >> 5) - (cell >> 5))
                aligned = dx == 0 or dy == 0 or dx == dy
                if (dx <= 3 and dy <= 3) or (aligned and dx <= 4 and dy <= 4):
                    near |= bit_of(other)
        if (near ^ state.near[position.ply, word]) & position.empties[word] != U64(0):
            return 6
    return 0
