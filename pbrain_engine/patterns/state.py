"""The incremental state: stones with the shapes, classes and value of every empty cell.

``play`` and ``undo`` update it; ``same_as_fresh`` checks it against a computation from scratch.
A stone changes the line windows of at most ``8 * half`` empty cells (32 or 40). The changes are
logged, and ``undo`` restores the state exactly from the log. The shapes of a cell are frozen when a
stone is put on it, so the class of a move at the time it was played remains readable.
"""

import numpy as np

from ..kernel import kernel, record
from ..kernel.bits import U64, lowest_bit, popcount, rotate_right
from ..position.board import (
    POSITION,
    SETS,
    bit_of,
    clear_board,
    contains,
    lift,
    line_key,
    line_of,
    place_on_line,
    put,
    step_of,
    switch_side,
)
from ..position.geometry import MAX_STONES, NO_CELL, PADDED_CELLS, STRIDE
from ..position.rules import BLACK, EMPTY, WALL, WHITE
from .shapes import CELL_CLASSES, FIRST_LISTED, LISTED_CLASSES, MAKES_FIVE
from .tables import class_in, value_in

MAX_CHANGES = 40  # cells that one stone can change
PLIES = MAX_STONES + 2
LOG = (MAX_STONES + 1) * MAX_CHANGES

STATE = record(
    position=POSITION,
    listed=(np.uint64, (2, LISTED_CLASSES, SETS)),  # side, class - FIRST_LISTED -> set of cells
    log=(np.uint64, (LOG, 2)),  # cell and shapes, entries: before the change
    near=(np.uint64, (PLIES, SETS)),  # after each ply, the cells near some stone
    log_end=(np.int32, PLIES),  # log[:log_end[ply]] belongs to the first ply stones
    sums=(np.int32, PLIES),  # after each ply, black's minus white's cell values
    entries=(np.int32, (2, PADDED_CELLS)),  # side, cell -> packed cell entry (tables.cells)
    counts=(np.int32, (2, 16)),  # side, listed class -> number of its cells
    shapes=(np.uint32, PADDED_CELLS),  # a byte a direction: black's low half, white's high half
)

LOW_BITS = U64(0x5555555555555555)
# The cells near a stone: seven columns wide up to three rows away, and the eight rays to distance
# four. Columns -4 to 4 as bits, by distance of the row.
STENCIL = np.array([0x1FF, 0x0FE, 0x0FE, 0x0FE, 0x111], np.uint64)


@kernel
def sets_of(state):
    """Return the range of set words that the board can touch."""
    return range(state.position.first_set, state.position.end_set)


@kernel
def code_of(shapes, side):
    """Return one side's four line shapes, four bits each, from a cell's shape bytes."""
    half = (U64(shapes) >> U64(4 * side)) & U64(0x0F0F0F0F)
    half = (half | (half >> U64(4))) & U64(0x00FF00FF)
    return np.int64((half | (half >> U64(8))) & U64(0xFFFF))


@kernel
def flip_listing(state, side, cell, kind, change):
    """Add a cell to the list of a class (``change`` 1) or remove it (-1), if there is a list."""
    if kind >= FIRST_LISTED:
        state.listed[side, kind - FIRST_LISTED, cell >> 6] ^= bit_of(cell)
        state.counts[side, kind] += change
        assert 0 <= state.counts[side, kind] <= MAX_STONES


@kernel
def set_entry(state, side, cell, entry):
    """Replace a cell's entry for one side, and its place in the class lists."""
    old = class_in(state.entries[side, cell])
    new = class_in(entry)
    state.entries[side, cell] = entry
    if old != new:
        flip_listing(state, side, cell, old, -1)
        flip_listing(state, side, cell, new, 1)


@kernel
def update_lines(state, tables, cell, half):
    """Recompute the shapes around a cell that has just changed; return the new value sum.

    Each line is rotated once so that every window on it is one shift away.
    """
    low_half = (U64(1) << U64(2 * half)) - U64(1)
    high_half = low_half << U64(2 * half)
    window = (U64(1) << U64(4 * half + 2)) - U64(1)
    position = state.position
    total = np.int64(state.sums[position.ply - 1])
    end = np.int64(state.log_end[position.ply - 1])
    for direction in range(4):
        step = step_of(direction)
        word = position.lines[direction, line_of(cell, direction)]
        word = rotate_right(word, 2 * (place_on_line(cell, direction) - 2 * half))
        empties = word & (word >> U64(1)) & LOW_BITS
        empties = (empties >> U64(2 * half)) & window
        shift = U64(8 * direction)
        while empties != U64(0):
            place = lowest_bit(empties)
            empties &= empties - U64(1)
            raw = word >> U64(place)
            key = (raw & low_half) | ((raw >> U64(2)) & high_half)
            other = cell + ((place >> 1) - half) * step
            shapes = U64(state.shapes[other])
            change = ((shapes >> shift) & U64(255)) ^ U64(tables.lines[key])
            if change != U64(0):
                black = U64(np.uint32(state.entries[BLACK, other]))
                white = U64(np.uint32(state.entries[WHITE, other]))
                state.log[end, 0] = (U64(other) << U64(32)) | shapes
                state.log[end, 1] = (black << U64(32)) | white
                end += 1
                shapes ^= change << shift
                state.shapes[other] = np.uint32(shapes)
                if change & U64(15) != U64(0):
                    entry = tables.cells[BLACK, code_of(shapes, BLACK)]
                    total += value_in(entry) - value_in(state.entries[BLACK, other])
                    set_entry(state, BLACK, other, entry)
                if change > U64(15):
                    entry = tables.cells[WHITE, code_of(shapes, WHITE)]
                    total -= value_in(entry) - value_in(state.entries[WHITE, other])
                    set_entry(state, WHITE, other, entry)
    assert end - state.log_end[position.ply - 1] <= MAX_CHANGES
    state.log_end[position.ply] = end
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
    for side in range(2):
        entry = state.entries[side, cell]
        total -= value_in(entry) if side == BLACK else -value_in(entry)
        flip_listing(state, side, cell, class_in(entry), -1)
    state.sums[state.position.ply] = total
    bring_near(state, cell)


@kernel
def take_back(state, tables):
    """Take off the last stone or wall, the inverse of ``place``; return its cell."""
    ply = state.position.ply
    cell = lift(state.position, tables.zobrist)
    for side in range(2):
        flip_listing(state, side, cell, class_in(state.entries[side, cell]), 1)
    for i in range(state.log_end[ply] - 1, state.log_end[ply - 1] - 1, -1):
        other = np.int64(state.log[i, 0] >> U64(32))
        state.shapes[other] = np.uint32(state.log[i, 0] & U64(0xFFFFFFFF))
        set_entry(state, BLACK, other, np.int32(state.log[i, 1] >> U64(32)))
        set_entry(state, WHITE, other, np.int32(state.log[i, 1] & U64(0xFFFFFFFF)))
    return cell


@kernel
def play(state, tables, cell):
    """Play a stone of the side to move on an empty cell."""
    place(state, tables, cell, state.position.side)
    switch_side(state.position)


@kernel
def undo(state, tables):
    """Take back the last stone and give its side the move; the inverse of ``play``."""
    switch_side(state.position)
    take_back(state, tables)


@kernel
def pass_turn(state):
    """Give the move to the other side; its own inverse."""
    switch_side(state.position)


@kernel
def fresh_shapes(state, tables, cell):
    """Return the shape bytes of an empty cell, computed from its lines."""
    shapes = U64(0)
    for direction in range(4):
        key = line_key(state.position.lines, cell, direction, tables.half)
        shapes |= U64(tables.lines[key]) << U64(8 * direction)
    return np.uint32(shapes)


@kernel
def clear_state(state, tables, width, height):
    """Make the state that of an empty board."""
    clear_board(state.position, width, height)
    state.listed[:] = U64(0)
    state.near[0, :] = U64(0)
    state.counts[:] = 0
    state.entries[:] = 0
    state.shapes[:] = np.uint32(0)
    state.log_end[0] = 0
    total = 0
    for cell in range(PADDED_CELLS):
        if state.position.holds[cell] == EMPTY:
            state.shapes[cell] = fresh_shapes(state, tables, cell)
            for side in range(2):
                entry = tables.cells[side, code_of(state.shapes[cell], side)]
                set_entry(state, side, cell, entry)
                total += value_in(entry) if side == BLACK else -value_in(entry)
    state.sums[0] = total


# Reading the state -------------------------------------------------------------------


@kernel
def class_at(state, side, cell):
    """Return the class of a cell for a side."""
    return class_in(state.entries[side, cell])


@kernel
def count_of(state, side, kind):
    """Return the number of cells with this listed class for a side."""
    return np.int64(state.counts[side, kind])


@kernel
def first_of(state, side, kind):
    """Return the first cell with this listed class for a side, or NO_CELL."""
    for word in sets_of(state):
        bits = state.listed[side, kind - FIRST_LISTED, word]
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
        for side in range(2):
            kind = -1
            if empty:
                entry = tables.cells[side, code_of(state.shapes[cell], side)]
                if state.entries[side, cell] != entry:
                    return 2
                kind = class_in(entry)
                total += value_in(entry) if side == BLACK else -value_in(entry)
            for listed in range(FIRST_LISTED, CELL_CLASSES):
                cells = state.listed[side, listed - FIRST_LISTED]
                if contains(cells, cell) != (kind == listed):
                    return 3
    for side in range(2):
        for listed in range(FIRST_LISTED, CELL_CLASSES):
            cells = 0
            for word in range(SETS):
                cells += popcount(state.listed[side, listed - FIRST_LISTED, word])
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
