"""The network's accumulator of one search thread, updated lazily, stone by stone, with a log.

Every empty cell has a row of ``CHANNELS`` numbers: the sum of the vectors of its four line
patterns. Clamped between 0 and ``FEATURE_LIMIT``, these are its *features*. Under rules that treat
both colours the same, the first half of the channels is black's view, the second white's. Features
are summed over nine *regions* of the board. Above them are small integer layers, one set (a HEAD)
for each side to move.

Nothing happens when the search plays a stone. On a request, ``bring_up`` compares the accumulated
stones with those of the position, takes back the ones that differ and puts the new ones. A stone
changes the keys of the empty cells within reach on its four lines, and of no others; its own cell
loses its features.

For most positions only the value is needed, which requires region sums but no rows: then the rows
do not include the last stone, which saves taking it back, too.
"""

import numpy as np

from ...kernel import fill_line, kernel, record
from ...kernel.bits import U64, lowest_bit, prefetch, rotate_right
from ...kernel.lanes import LANES, add, clamp, load, save, subtract, widen
from ...patterns.tables import LINE_KEYS, MAX_HALF, THREAT_MASKS
from ...position.board import (
    CLEARS,
    LINES,
    flip_on_lines,
    key_in,
    line_key,
    line_of,
    place_on_line,
    step_of,
)
from ...position.geometry import MARGIN, MAX_BOARD, PADDED_CELLS, STRIDE
from ...position.rules import EMPTY
from ..network_block import (
    CELL_UNITS,
    CHANNELS,
    FEATURE_LIMIT,
    NEAR_CLASSES,
    REGION_UNITS,
    SHIFTS,
    TRUNK_UNITS,
    VALUE_UNITS,
)

LOW_BITS = U64(0x5555555555555555)  # of each two bits of a line
REGIONS = 9
MAX_CODES = 1 << 16

# Indices into HEAD.shifts: right shifts of the layers' sums, and two factors in 256ths.
REGION, POOL, FIRST, SECOND, THIRD, FEATURE, CELL_BIAS, CELL_OUT, CELL, LOGIT, SHARE, HEAT = range(
    12
)

# Weights are stored as the kernel reads them: for each sixteen outputs, for each two inputs, two
# numbers per output (``lanes.add_products``). Channels are absolute, black's first. Arrays read in
# rows of sixteen start at a cache line if the host's memory does.
HEAD = record(
    region=(np.int16, REGION_UNITS * CHANNELS),
    trunk=(np.int16, TRUNK_UNITS * (CHANNELS + REGION_UNITS)),
    threats=(np.int16, THREAT_MASKS * TRUNK_UNITS),  # threat mask -> addition to the trunk
    value=(np.int16, VALUE_UNITS * TRUNK_UNITS),
    result=(np.int16, VALUE_UNITS),
    feature=(np.int16, CHANNELS * TRUNK_UNITS),  # the position's weights for a cell's features
    cell=(np.int16, CELL_UNITS * TRUNK_UNITS),  # its biases of a cell's hidden numbers
    out=(np.int16, CELL_UNITS * TRUNK_UNITS),  # its weights for them
    around=(np.int16, 3 * CHANNELS),  # the cell, its orthogonal and its diagonal neighbours
    hidden=(np.int16, CELL_UNITS * CHANNELS),  # from their mixture to a cell's hidden numbers
    region_bias=(np.int32, REGION_UNITS),
    trunk_bias=(np.int32, TRUNK_UNITS),
    value_bias=(np.int32, VALUE_UNITS),
    feature_bias=(np.int32, CHANNELS),
    cell_bias=(np.int32, CELL_UNITS),
    out_bias=(np.int32, CELL_UNITS),
    shifts=(np.int32, SHIFTS),
    result_bias=np.int32,
    near=(np.int16, 2 * NEAR_CLASSES),  # distance to the enemy's last stone, to the own
    gap=fill_line(4, 4 * NEAR_CLASSES),
)

NETWORK = record(
    book=(np.int16, MAX_CODES * CHANNELS),  # code -> vector
    codes=(np.uint16, LINE_KEYS),  # line key -> code
    heads=(HEAD, 2),  # by side to move
    loaded=np.int64,  # 0: there is no network for this rule
)

ROW = MAX_BOARD + 2  # cells of the board with a border of one, row by row
ROOM = ROW * ROW
DEPTH = 320  # capacity in stones above the position of ``begin``
CHANGES = 8 * MAX_HALF + 1  # cells whose rows one stone changes, its own included
RINGS = REGIONS * CHANNELS

ACCUMULATOR = record(
    rows=(np.int16, ROOM * CHANNELS),  # cell -> sums of its four vectors
    features=(np.int16, ROOM * CHANNELS),  # cell -> features; none on stones and outside
    log_rows=(np.int16, (DEPTH + 1) * CHANGES * CHANNELS),  # rows before the change
    regions=(np.int32, (DEPTH + 1) * RINGS),  # depth, region, channel -> sum of features
    trunk=(np.int16, TRUNK_UNITS),  # shared by value and policy
    cell_biases=(np.int16, CELL_UNITS),  # the position's part of the policy
    feature_weights=(np.int16, CHANNELS),
    out_weights=(np.int16, CELL_UNITS),
    inputs=(np.int16, CHANNELS + REGION_UNITS),  # scratch row of the layers
    lines=(np.uint64, (4, LINES)),  # as in POSITION, of the accumulated stones
    root=np.int64,  # stones of the position of ``begin``
    depth=np.int64,  # accumulated stones above it
    peeked=np.int64,  # one more, as in ``stones``, only in ``regions``; 0 for none
    asked=np.int64,  # 1 + side for which the trunk is valid, 0 if it is not
    policy_side=np.int64,  # the same for the position's part of the policy
    stones=(np.int32, DEPTH + 1),  # accumulated stones: cell and kind
    log_end=(np.int32, DEPTH + 2),  # log[:log_end[depth]] belongs to the first depth stones
    log_codes=(np.int64, (DEPTH + 1) * CHANGES),  # the code before and after
    log_cells=(np.int32, (DEPTH + 1) * CHANGES),
    region_of=(np.uint8, ROOM),
)


@kernel
def dense(cell):
    """Return the row number of a board cell in an accumulator."""
    return (cell >> 5) * ROW + (cell & (STRIDE - 1)) - (MARGIN - 1) * (ROW + 1)


@kernel
def third(place, length):
    """Return the third of the board, 0 to 2, of a row or column; the middle is smallest."""
    part = (length + 2) // 3
    if place < part:
        return 0
    return 2 if place >= length - part else 1


@kernel
def ring_of(accumulator, number):
    """Return where the sums of a cell's region begin, with the stone that is being added."""
    return (accumulator.depth + 1) * RINGS + np.int64(accumulator.region_of[number]) * CHANNELS


@kernel
def exchange(accumulator, network, end, keep):
    """Replace one vector by another in a cell's row, as noted in the log.

    If ``keep`` is true, the row is logged and updated; else only the sums of its region are.
    """
    number = np.int64(accumulator.log_cells[end])
    old = np.int64(accumulator.log_codes[end]) >> 16
    new = np.int64(accumulator.log_codes[end]) & (MAX_CODES - 1)
    ring = ring_of(accumulator, number)
    for part in range(0, CHANNELS, LANES):
        at = number * CHANNELS + part
        row = load(accumulator.rows, at)
        if keep:
            save(accumulator.log_rows, end * CHANNELS + part, row)
        row = add(row, load(network.book, new * CHANNELS + part))
        row = subtract(row, load(network.book, old * CHANNELS + part))
        features = clamp(row, 0, FEATURE_LIMIT)
        gain = widen(subtract(features, load(accumulator.features, at)))
        if keep:
            save(accumulator.rows, at, row)
            save(accumulator.features, at, features)
        save(accumulator.regions, ring + part, add(load(accumulator.regions, ring + part), gain))


@kernel
def cover(accumulator, number, end, keep):
    """Remove the features of a cell on which a stone was put. ``keep``: as for ``exchange``."""
    ring = ring_of(accumulator, number)
    accumulator.log_cells[end] = number
    for part in range(0, CHANNELS, LANES):
        at = number * CHANNELS + part
        features = load(accumulator.features, at)
        if keep:
            save(accumulator.log_rows, end * CHANNELS + part, load(accumulator.rows, at))
            save(accumulator.features, at, subtract(features, features))
        sums = subtract(load(accumulator.regions, ring + part), widen(features))
        save(accumulator.regions, ring + part, sums)


@kernel
def note_changes(accumulator, network, cell, clear, half, end):
    """Log the cells whose vectors a stone changes; return the log's new end.

    ``clear``: the bits of its cell that it clears. Each line is rotated once so that every window
    on it is one shift away. The vectors are prefetched here and exchanged later.
    """
    window = ((U64(1) << U64(4 * half + 2)) - U64(1)) ^ (U64(1) << U64(2 * half))
    centre = dense(cell)
    for direction in range(4):
        line = line_of(cell, direction)
        place = place_on_line(cell, direction)
        before = accumulator.lines[direction, line]
        after = before ^ (clear << U64(2 * place))
        turn = 2 * (place - 2 * half)
        before = rotate_right(before, turn)
        after = rotate_right(after, turn)
        empties = before & (before >> U64(1)) & LOW_BITS
        empties = (empties >> U64(2 * half)) & window
        step = dense(cell + step_of(direction)) - centre
        while empties != U64(0):
            place = lowest_bit(empties)
            empties &= empties - U64(1)
            old = np.int64(network.codes[key_in(before >> U64(place), half)])
            new = np.int64(network.codes[key_in(after >> U64(place), half)])
            if old != new:
                prefetch(network.book, old * CHANNELS)
                prefetch(network.book, new * CHANNELS)
                accumulator.log_cells[end] = centre + ((place >> 1) - half) * step
                accumulator.log_codes[end] = old * MAX_CODES + new
                end += 1
    return end


@kernel
def parts_of(stone):
    """Return the cell and the kind of a stone in the accumulator's encoding."""
    return stone & (PADDED_CELLS - 1), stone // PADDED_CELLS


@kernel
def sum_with(accumulator, network, half, stone, keep):
    """Compute the region sums with one more stone or wall; return the log's new end.

    ``keep``: also update rows, features and log; the caller must then add the stone.
    """
    depth = accumulator.depth
    cell, kind = parts_of(stone)
    clear = CLEARS[kind]
    for i in range(0, RINGS, LANES):
        sums = load(accumulator.regions, depth * RINGS + i)
        save(accumulator.regions, (depth + 1) * RINGS + i, sums)
    first = np.int64(accumulator.log_end[depth])
    if half == 4:
        end = note_changes(accumulator, network, cell, clear, 4, first)
    else:
        end = note_changes(accumulator, network, cell, clear, 5, first)
    for i in range(first, end):
        exchange(accumulator, network, i, keep)
    cover(accumulator, dense(cell), end, keep)
    return end + 1


@kernel
def put_stone(accumulator, network, half, stone):
    """Accumulate a stone or wall on an empty cell."""
    depth = accumulator.depth
    accumulator.stones[depth] = stone
    accumulator.log_end[depth + 1] = sum_with(accumulator, network, half, stone, True)
    cell, kind = parts_of(stone)
    flip_on_lines(accumulator.lines, cell, kind)
    accumulator.depth = depth + 1


@kernel
def lift_stone(accumulator):
    """Take back the last accumulated stone."""
    depth = accumulator.depth - 1
    accumulator.depth = depth
    for i in range(accumulator.log_end[depth], accumulator.log_end[depth + 1]):
        number = np.int64(accumulator.log_cells[i])
        for part in range(0, CHANNELS, LANES):
            row = load(accumulator.log_rows, i * CHANNELS + part)
            save(accumulator.rows, number * CHANNELS + part, row)
            save(accumulator.features, number * CHANNELS + part, clamp(row, 0, FEATURE_LIMIT))
    cell, kind = parts_of(np.int64(accumulator.stones[depth]))
    flip_on_lines(accumulator.lines, cell, kind)


@kernel
def start_from(accumulator, network, position, half):
    """Compute everything from scratch for a position, the root of later updates."""
    width = np.int64(position.width)
    height = np.int64(position.height)
    for direction in range(4):
        for line in range(LINES):
            accumulator.lines[direction, line] = position.lines[direction, line]
    accumulator.root = np.int64(position.ply)
    accumulator.depth = 0
    accumulator.peeked = 0
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
                row = load(accumulator.rows, at)
                for direction in range(4):
                    code = np.int64(
                        network.codes[line_key(accumulator.lines, cell, direction, half)]
                    )
                    row = add(row, load(network.book, code * CHANNELS + part))
                features = clamp(row, 0, FEATURE_LIMIT)
                save(accumulator.rows, at, row)
                save(accumulator.features, at, features)
                ring = region * CHANNELS + part
                sums = add(load(accumulator.regions, ring), widen(features))
                save(accumulator.regions, ring, sums)


@kernel
def stone_at(position, ply):
    """Return a stone of a position in the accumulator's encoding: cell and kind."""
    cell = np.int64(position.moves[ply])
    return np.int64(position.holds[cell]) * PADDED_CELLS + cell


@kernel
def bring_up(accumulator, network, position, half, whole):
    """Bring the accumulator to a position by taking back and putting the stones that differ.

    ``whole``: include the last stone in the rows; else it may be only in the region sums. The
    stones of the position of ``begin`` must not have changed.
    """
    root = np.int64(accumulator.root)
    target = np.int64(position.ply) - root
    if target < 0 or target > DEPTH:
        start_from(accumulator, network, position, half)
        return
    depth = np.int64(accumulator.depth)
    shared = np.int64(0)
    while (
        shared < depth
        and shared < target
        and accumulator.stones[shared] == stone_at(position, root + shared)
    ):
        shared += 1
    last = stone_at(position, root + target - 1) if target > 0 else np.int64(0)
    kept = target if whole or shared == target else target - 1
    if depth == shared == kept and accumulator.peeked == (last if kept < target else 0):
        return
    if depth != shared or depth + 1 != target or accumulator.peeked != last:
        accumulator.asked = 0
        accumulator.policy_side = 0
    accumulator.peeked = 0
    while accumulator.depth > min(shared, kept):
        lift_stone(accumulator)
    while accumulator.depth < kept:
        stone = stone_at(position, root + np.int64(accumulator.depth))
        put_stone(accumulator, network, half, stone)
    if kept < target:
        sum_with(accumulator, network, half, last, False)
        accumulator.peeked = last
