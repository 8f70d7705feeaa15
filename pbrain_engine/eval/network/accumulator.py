"""Keeping the features of a position: lazily, stone by stone, with a log that leads back.

Nothing is done when the search plays a stone. When it asks, ``bring_up`` finds out how far
the stones accounted for and those of the position agree, takes the others back and puts the
new ones. A stone changes the key of every empty cell within reach on its four lines, and
that of no other cell; its own cell has no features any more.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit, prefetch, rotate_right
from ...kernel.lanes import (
    LANES,
    add,
    clamp,
    load_ints,
    load_shorts,
    save_ints,
    save_shorts,
    subtract,
    widen,
)
from ...patterns.state import LOW_BITS
from ...position.board import CLEARS, LINES, line_of, place_on_line
from ...position.geometry import MARGIN, PADDED_CELLS, STRIDE
from ...position.rules import EMPTY
from ..network_block import CHANNELS
from .layout import (
    DEPTH,
    MAX_CODES,
    RINGS,
    ROW,
    TOP,
)


@kernel
def dense(cell):
    """Return the number of a board cell among the rows of an accumulator."""
    return (cell >> 5) * ROW + (cell & (STRIDE - 1)) - (MARGIN - 1) * (ROW + 1)


@kernel
def dense_step(direction):
    """Return the step from a cell to the next in a direction, among the rows."""
    if direction == 0:
        return 1
    if direction == 1:
        return ROW
    return ROW + 1 if direction == 2 else 1 - ROW


@kernel
def third(place, length):
    """Return which third of the board a row or column belongs to; the middle is smallest."""
    part = (length + 2) // 3
    if place < part:
        return 0
    return 2 if place >= length - part else 1


@kernel
def exchange(accumulator, network, end):
    """Log a cell's row and put one vector in the place of another, as noted in the log."""
    number = np.int64(accumulator.log_cells[end])
    old = np.int64(accumulator.log_codes[end]) >> 16
    new = np.int64(accumulator.log_codes[end]) & (MAX_CODES - 1)
    ring = accumulator.depth * RINGS + np.int64(accumulator.region_of[number]) * CHANNELS
    for part in range(0, CHANNELS, LANES):
        at = number * CHANNELS + part
        row = load_shorts(accumulator.rows, at)
        save_shorts(accumulator.log_rows, end * CHANNELS + part, row)
        row = add(row, load_shorts(network.book, new * CHANNELS + part))
        row = subtract(row, load_shorts(network.book, old * CHANNELS + part))
        save_shorts(accumulator.rows, at, row)
        features = clamp(row, 0, TOP)
        gain = widen(subtract(features, load_shorts(accumulator.features, at)))
        save_shorts(accumulator.features, at, features)
        save_ints(
            accumulator.regions, ring + part, add(load_ints(accumulator.regions, ring + part), gain)
        )


@kernel
def cover(accumulator, number, end):
    """Log a cell's row and take its features away: a stone stands there."""
    accumulator.log_cells[end] = number
    ring = accumulator.depth * RINGS + np.int64(accumulator.region_of[number]) * CHANNELS
    for part in range(0, CHANNELS, LANES):
        at = number * CHANNELS + part
        row = load_shorts(accumulator.rows, at)
        save_shorts(accumulator.log_rows, end * CHANNELS + part, row)
        features = load_shorts(accumulator.features, at)
        save_shorts(accumulator.features, at, subtract(features, features))
        sums = subtract(load_ints(accumulator.regions, ring + part), widen(features))
        save_ints(accumulator.regions, ring + part, sums)


@kernel
def put_on_lines(accumulator, network, cell, clear, half, end):
    """Put a stone on the four lines and note whose vectors change; return the log's new end.

    ``clear``: the bits of a cell that it clears. Each line is rotated once so that every
    window on it is one shift away. The vectors begin to load, and are exchanged only when
    all are on their way.
    """
    low_half = (U64(1) << U64(2 * half)) - U64(1)
    high_half = low_half << U64(2 * half)
    window = ((U64(1) << U64(4 * half + 2)) - U64(1)) ^ (U64(1) << U64(2 * half))
    centre = dense(cell)
    for direction in range(4):
        line = line_of(cell, direction)
        place = place_on_line(cell, direction)
        before = accumulator.lines[direction, line]
        after = before ^ (clear << U64(2 * place))
        accumulator.lines[direction, line] = after
        turn = 2 * (place - 2 * half)
        before = rotate_right(before, turn)
        after = rotate_right(after, turn)
        empties = before & (before >> U64(1)) & LOW_BITS
        empties = (empties >> U64(2 * half)) & window
        step = dense_step(direction)
        while empties != U64(0):
            place = lowest_bit(empties)
            empties &= empties - U64(1)
            raw = before >> U64(place)
            old = np.int64(network.codes[(raw & low_half) | ((raw >> U64(2)) & high_half)])
            raw = after >> U64(place)
            new = np.int64(network.codes[(raw & low_half) | ((raw >> U64(2)) & high_half)])
            if old != new:
                prefetch(network.book, old * CHANNELS)
                prefetch(network.book, new * CHANNELS)
                accumulator.log_cells[end] = centre + ((place >> 1) - half) * step
                accumulator.log_codes[end] = old * MAX_CODES + new
                end += 1
    return end


@kernel
def put_stone(accumulator, network, half, cell, kind):
    """Account for a stone or wall on an empty cell."""
    depth = accumulator.depth
    accumulator.stones[depth] = kind * PADDED_CELLS + cell
    for i in range(0, RINGS, LANES):
        sums = load_ints(accumulator.regions, depth * RINGS + i)
        save_ints(accumulator.regions, (depth + 1) * RINGS + i, sums)
    accumulator.depth = depth + 1
    first = np.int64(accumulator.log_end[depth])
    end = first
    if half == 4:
        end = put_on_lines(accumulator, network, cell, CLEARS[kind], 4, end)
    else:
        end = put_on_lines(accumulator, network, cell, CLEARS[kind], 5, end)
    for i in range(first, end):
        exchange(accumulator, network, i)
    cover(accumulator, dense(cell), end)
    accumulator.log_end[depth + 1] = end + 1


@kernel
def lift_stone(accumulator):
    """Take the last stone back that is accounted for."""
    depth = accumulator.depth - 1
    accumulator.depth = depth
    for i in range(accumulator.log_end[depth], accumulator.log_end[depth + 1]):
        number = np.int64(accumulator.log_cells[i])
        for part in range(0, CHANNELS, LANES):
            row = load_shorts(accumulator.log_rows, i * CHANNELS + part)
            save_shorts(accumulator.rows, number * CHANNELS + part, row)
            save_shorts(accumulator.features, number * CHANNELS + part, clamp(row, 0, TOP))
    stone = np.int64(accumulator.stones[depth])
    cell = stone & (PADDED_CELLS - 1)
    clear = CLEARS[stone // PADDED_CELLS]
    for direction in range(4):
        shift = U64(2 * place_on_line(cell, direction))
        accumulator.lines[direction, line_of(cell, direction)] ^= clear << shift


@kernel
def key_at(lines, cell, direction, half):
    """Return the line key of a cell."""
    low_half = (U64(1) << U64(2 * half)) - U64(1)
    word = lines[direction, line_of(cell, direction)]
    raw = rotate_right(word, 2 * (place_on_line(cell, direction) - half))
    return (raw & low_half) | ((raw >> U64(2)) & (low_half << U64(2 * half)))


@kernel
def start_from(accumulator, network, position, half):
    """Compute everything from the stones of a position: from here on it is kept."""
    width = np.int64(position.width)
    height = np.int64(position.height)
    for direction in range(4):
        for line in range(LINES):
            accumulator.lines[direction, line] = position.lines[direction, line]
    accumulator.root = np.int64(position.ply)
    accumulator.depth = 0
    accumulator.log_end[0] = 0
    accumulator.asked = 0
    accumulator.policy_side = 0
    accumulator.rows[:] = 0
    accumulator.features[:] = 0
    for i in range(RINGS):
        accumulator.regions[i] = 0
    for y in range(height):
        for x in range(width):
            cell = (y + MARGIN) * STRIDE + x + MARGIN
            number = dense(cell)
            region = 3 * third(y, height) + third(x, width)
            accumulator.region_of[number] = region
            if position.holds[cell] != EMPTY:
                continue
            for part in range(0, CHANNELS, LANES):
                at = number * CHANNELS + part
                row = load_shorts(accumulator.rows, at)
                for direction in range(4):
                    code = np.int64(network.codes[key_at(accumulator.lines, cell, direction, half)])
                    row = add(row, load_shorts(network.book, code * CHANNELS + part))
                features = clamp(row, 0, TOP)
                save_shorts(accumulator.rows, at, row)
                save_shorts(accumulator.features, at, features)
                ring = region * CHANNELS + part
                sums = add(load_ints(accumulator.regions, ring), widen(features))
                save_ints(accumulator.regions, ring, sums)


@kernel
def stone_at(position, ply):
    """Return a stone of a position as an accumulator notes it: cell and kind."""
    cell = np.int64(position.moves[ply])
    return np.int64(position.holds[cell]) * PADDED_CELLS + cell


@kernel
def bring_up(accumulator, network, position, half):
    """Account for the stones of a position: those that differ are taken back, then put.

    Below the position of ``begin`` nothing may have changed, or all is computed anew.
    """
    root = np.int64(accumulator.root)
    target = np.int64(position.ply) - root
    if target < 0 or target > DEPTH:
        start_from(accumulator, network, position, half)
        return
    depth = np.int64(accumulator.depth)
    shared = 0
    while (
        shared < depth
        and shared < target
        and accumulator.stones[shared] == stone_at(position, root + shared)
    ):
        shared += 1
    if shared == depth and shared == target:
        return
    accumulator.asked = 0
    accumulator.policy_side = 0
    while accumulator.depth > shared:
        lift_stone(accumulator)
    while accumulator.depth < target:
        stone = stone_at(position, root + np.int64(accumulator.depth))
        put_stone(accumulator, network, half, stone & (PADDED_CELLS - 1), stone // PADDED_CELLS)
