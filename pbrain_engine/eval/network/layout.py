"""What a network holds, and what one thread keeps of it while it searches.

Every empty cell has a row of ``CHANNELS`` numbers: the sum of the vectors of its four line
patterns, cut off below 0 and above ``TOP``: its *features*. In rules where both colours play
alike the first half of the channels is black's view and the second half white's. The features
are summed over nine *regions* of the board. All that follows is small layers of integers, one
set of them (a HEAD) for each side to move.
"""

from __future__ import annotations

import numpy as np

from ...kernel import fill_line, record
from ...patterns.tables import LINE_KEYS, MAX_HALF, THREAT_MASKS
from ...position.board import LINES
from ...position.geometry import MAX_BOARD
from ..network_block import (
    CELL_UNITS,
    CHANNELS,
    FEATURE_LIMIT,
    LAYER_LIMIT,
    NEAR_CLASSES,
    REGION_UNITS,
    SHIFTS,
    TRUNK_UNITS,
    VALUE_UNITS,
)

REGIONS = 9
POOLED = REGION_UNITS  # numbers that the regions add to the channels
TRUNK = TRUNK_UNITS  # numbers that value and policy share
VALUE_HIDDEN = VALUE_UNITS  # numbers between the trunk and the value
CELL_HIDDEN = CELL_UNITS  # numbers between the features of a cell and its policy
NEAR_REACH = 7
TOP = FEATURE_LIMIT
HIGH = LAYER_LIMIT
MAX_CODES = 1 << 16

# Places of HEAD.shifts: by how many bits the sums of a layer go down, and two factors of 256.
REGION, POOL, FIRST, SECOND, THIRD, FEATURE, CELL_BIAS, CELL_OUT, CELL, LOGIT, SHARE, HEAT = range(
    12
)

# Weights lie as the kernel reads them: for each sixteen outputs, for each two inputs, two
# numbers an output (``lanes.add_products``). Channels are absolute, black's first.
# Whatever is read by sixteen numbers begins a cache line, if the memory of the host does.
HEAD = record(
    region=(np.int16, POOLED * CHANNELS),
    trunk=(np.int16, TRUNK * (CHANNELS + POOLED)),
    threats=(np.int16, THREAT_MASKS * TRUNK),  # threat mask -> what it adds to the trunk
    value=(np.int16, VALUE_HIDDEN * TRUNK),
    result=(np.int16, VALUE_HIDDEN),
    feature=(np.int16, CHANNELS * TRUNK),  # the position's weights for a cell's features
    cell=(np.int16, CELL_HIDDEN * TRUNK),  # its biases of a cell's hidden numbers
    out=(np.int16, CELL_HIDDEN * TRUNK),  # its weights for them
    around=(np.int16, 3 * CHANNELS),  # the cell, its orthogonal and its diagonal neighbours
    hidden=(np.int16, CELL_HIDDEN * CHANNELS),  # their mixture to a cell's hidden numbers
    region_bias=(np.int32, POOLED),
    trunk_bias=(np.int32, TRUNK),
    value_bias=(np.int32, VALUE_HIDDEN),
    feature_bias=(np.int32, CHANNELS),
    cell_bias=(np.int32, CELL_HIDDEN),
    out_bias=(np.int32, CELL_HIDDEN),
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
DEPTH = 320  # stones above the position of ``begin`` that can be kept
CHANGES = 8 * MAX_HALF + 1  # cells whose row one stone changes, its own included
RINGS = REGIONS * CHANNELS

ACCUMULATOR = record(
    rows=(np.int16, ROOM * CHANNELS),  # cell -> sums of its four vectors
    features=(np.int16, ROOM * CHANNELS),  # cell -> features; none on stones and outside
    log_rows=(np.int16, (DEPTH + 1) * CHANGES * CHANNELS),  # rows before the change
    regions=(np.int32, (DEPTH + 1) * RINGS),  # depth, region, channel -> sum of features
    trunk=(np.int16, TRUNK),  # what value and policy share
    cell_biases=(np.int16, CELL_HIDDEN),  # the position's part of the policy
    feature_weights=(np.int16, CHANNELS),
    out_weights=(np.int16, CELL_HIDDEN),
    inputs=(np.int16, CHANNELS + POOLED),  # scratch row of the layers
    lines=(np.uint64, (4, LINES)),  # as in POSITION, of the stones that are accounted for
    root=np.int64,  # stones of the position of ``begin``
    depth=np.int64,  # stones above it that are accounted for
    asked=np.int64,  # 1 + side for which the trunk holds, 0 where it does not
    policy_side=np.int64,  # the same for the position's part of the policy
    stones=(np.int32, DEPTH + 1),  # what was put: cell and kind
    log_end=(np.int32, DEPTH + 2),  # log[:log_end[depth]] belongs to the first depth stones
    log_codes=(np.int64, (DEPTH + 1) * CHANGES),  # the code before and after
    log_cells=(np.int32, (DEPTH + 1) * CHANGES),
    region_of=(np.uint8, ROOM),
)
