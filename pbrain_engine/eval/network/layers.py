"""The layers above the features: the trunk, the value, and the policy of single moves."""

import numpy as np

from ...kernel import kernel
from ...kernel.lanes import (
    LANES,
    add,
    add_products,
    clamp,
    dot,
    load,
    multiply_high,
    narrow,
    save,
    shift_left,
    shift_right,
    widen,
    zero_ints,
)
from ...position.geometry import STRIDE
from ..network_block import (
    CELL_UNITS,
    CHANNELS,
    LAYER_LIMIT,
    NEAR_CLASSES,
    NEAR_REACH,
    REGION_UNITS,
    TRUNK_UNITS,
    VALUE_UNITS,
)
from .accumulator import (
    CELL,
    CELL_BIAS,
    CELL_OUT,
    FEATURE,
    FIRST,
    HEAT,
    LOGIT,
    POOL,
    REGION,
    RINGS,
    ROW,
    SECOND,
    SHARE,
    THIRD,
    dense,
)

LARGEST_LOGIT = 32767


@kernel
def add_layer(total, weights, block, inputs, count):
    """Add to sixteen sums the weights of a block of outputs times ``count`` inputs."""
    start = block * LANES * count
    for i in range(0, count, 2):
        total = add_products(total, weights, start + i * LANES, inputs, i)
    return total


@kernel
def layer(biases, weights, block, inputs, count):
    """Return sixteen sums of a layer: the biases, and the weights times ``count`` inputs."""
    return add_layer(load(biases, block * LANES), weights, block, inputs, count)


@kernel
def ask_trunk(accumulator, network, side, mask):
    """Compute the trunk, shared by value and policy, for a side to move and its threat mask."""
    if accumulator.asked == 1 + side:
        return
    head = network.heads[side]
    shifts = head.shifts
    depth = np.int64(accumulator.depth)
    start = (depth + 1 if accumulator.peeked != 0 else depth) * RINGS
    pooled = zero_ints()
    for ring in range(start, start + RINGS, CHANNELS):
        for part in range(0, CHANNELS, LANES):
            sums = load(accumulator.regions, ring + part)
            save(accumulator.inputs, part, narrow(shift_right(sums, 3)))
        hidden = layer(head.region_bias, head.region, 0, accumulator.inputs, CHANNELS)
        pooled = add(pooled, clamp(shift_right(hidden, shifts[REGION]), 0, LAYER_LIMIT))
    for part in range(0, CHANNELS, LANES):
        whole = zero_ints()
        for ring in range(start + part, start + RINGS + part, CHANNELS):
            whole = add(whole, load(accumulator.regions, ring))
        save(accumulator.inputs, part, narrow(clamp(shift_right(whole, 5), 0, LAYER_LIMIT)))
    pooled = clamp(shift_right(pooled, shifts[POOL]), 0, LAYER_LIMIT)
    save(accumulator.inputs, CHANNELS, narrow(pooled))
    for block in range(TRUNK_UNITS // LANES):
        at = block * LANES
        sums = layer(
            head.trunk_bias, head.trunk, block, accumulator.inputs, CHANNELS + REGION_UNITS
        )
        sums = shift_right(sums, shifts[FIRST])
        sums = add(sums, widen(load(head.threats, mask * TRUNK_UNITS + at)))
        save(accumulator.trunk, at, narrow(clamp(sums, 0, LAYER_LIMIT)))
    accumulator.asked = 1 + side
    accumulator.policy_side = 0


@kernel
def network_value(accumulator, network, side, linear):
    """Return the value for the side to move, unclamped, after ``ask_trunk``."""
    head = network.heads[side]
    total = np.int64(head.result_bias)
    for block in range(VALUE_UNITS // LANES):
        sums = layer(head.value_bias, head.value, block, accumulator.trunk, TRUNK_UNITS)
        row = narrow(clamp(shift_right(sums, head.shifts[SECOND]), 0, LAYER_LIMIT))
        total += dot(row, load(head.result, block * LANES))
    return ((linear * np.int64(head.shifts[SHARE])) >> 8) + (total >> np.int64(head.shifts[THIRD]))


@kernel
def ask_policy(accumulator, network, side):
    """Compute the weights shared by all moves of the position, after ``ask_trunk``."""
    if accumulator.policy_side == 1 + side:
        return
    head = network.heads[side]
    shifts = head.shifts
    for block in range(CHANNELS // LANES):
        sums = layer(head.feature_bias, head.feature, block, accumulator.trunk, TRUNK_UNITS)
        row = narrow(clamp(shift_right(sums, shifts[FEATURE]), -LAYER_LIMIT, LAYER_LIMIT))
        save(accumulator.feature_weights, block * LANES, row)
    for block in range(CELL_UNITS // LANES):
        sums = layer(head.cell_bias, head.cell, block, accumulator.trunk, TRUNK_UNITS)
        row = narrow(clamp(shift_right(sums, shifts[CELL_BIAS]), -LAYER_LIMIT, LAYER_LIMIT))
        save(accumulator.cell_biases, block * LANES, row)
        sums = layer(head.out_bias, head.out, block, accumulator.trunk, TRUNK_UNITS)
        row = narrow(clamp(shift_right(sums, shifts[CELL_OUT]), -LAYER_LIMIT, LAYER_LIMIT))
        save(accumulator.out_weights, block * LANES, row)
    accumulator.policy_side = 1 + side


@kernel
def near_class(cell, stone):
    """Return the distance class of a cell and a stone; 0 if far apart."""
    if stone == 0:
        return 0
    dx = abs((cell & (STRIDE - 1)) - (stone & (STRIDE - 1)))
    dy = abs((cell >> 5) - (stone >> 5))
    longer = max(dx, dy)
    if longer > NEAR_REACH:
        return 0
    return 1 + ((longer * (longer + 1)) >> 1) + min(dx, dy)


@kernel
def score_logit(head, score):
    """Return the contribution of a move's linear score to its logit."""
    return (score * np.int64(head.shifts[HEAT])) >> 8


@kernel
def network_logit(accumulator, network, side, cell, score, enemy_last, own_last):
    """Return the policy's logit of a move, in 256ths, after ``ask_policy``.

    ``score``: the linear score of the move; ``enemy_last``, ``own_last``: the cells of the
    last two stones, 0 for none.
    """
    head = network.heads[side]
    features = accumulator.features
    total = np.int64(0)
    for at in range(0, CHANNELS, LANES):
        here = dense(cell) * CHANNELS + at
        below = here + ROW * CHANNELS
        above = here - ROW * CHANNELS
        own = load(features, here)
        total += dot(own, load(accumulator.feature_weights, at))
        row = multiply_high(shift_left(own, 3), load(head.around, at))
        adjacent = add(load(features, here - CHANNELS), load(features, here + CHANNELS))
        adjacent = add(adjacent, add(load(features, above), load(features, below)))
        weights = load(head.around, CHANNELS + at)
        row = add(row, multiply_high(shift_left(adjacent, 1), weights))
        corners = add(load(features, above - CHANNELS), load(features, above + CHANNELS))
        corners = add(corners, load(features, below - CHANNELS))
        corners = add(corners, load(features, below + CHANNELS))
        weights = load(head.around, 2 * CHANNELS + at)
        row = add(row, multiply_high(shift_left(corners, 1), weights))
        save(accumulator.inputs, at, row)
    shift = head.shifts[CELL]
    for block in range(CELL_UNITS // LANES):
        sums = add_layer(zero_ints(), head.hidden, block, accumulator.inputs, CHANNELS)
        sums = shift_right(sums, shift)
        biases = widen(load(accumulator.cell_biases, block * LANES))
        hidden = narrow(clamp(add(sums, biases), 0, LAYER_LIMIT))
        total += dot(hidden, load(accumulator.out_weights, block * LANES))
    logit = (total >> np.int64(head.shifts[LOGIT])) + score_logit(head, score)
    logit += np.int64(head.near[near_class(cell, enemy_last)])
    logit += np.int64(head.near[NEAR_CLASSES + near_class(cell, own_last)])
    return min(max(logit, -LARGEST_LOGIT), LARGEST_LOGIT)
