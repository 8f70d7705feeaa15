"""The slow twin: the same network computed from the stones alone, number by number.

What the accumulator keeps and what the layers make of it must equal it, after any stones
put and taken back in any order.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...position.geometry import MARGIN, STRIDE
from ...position.rules import EMPTY
from ..network_block import CHANNELS, NEAR_CLASSES
from .accumulator import dense, key_at, third
from .layers import ask_policy, ask_trunk, near_class, network_logit, network_value
from .layout import (
    CELL,
    CELL_BIAS,
    CELL_HIDDEN,
    CELL_OUT,
    FEATURE,
    FIRST,
    HEAT,
    HIGH,
    LOGIT,
    POOL,
    POOLED,
    REGION,
    REGIONS,
    RINGS,
    SECOND,
    SHARE,
    THIRD,
    TOP,
    TRUNK,
    VALUE_HIDDEN,
)

SAME, ROWS, FEATURES, SUMS, VALUE, POLICY = range(6)


@kernel
def limited(number, low, high):
    """Return a number raised to ``low`` or lowered to ``high``."""
    return min(max(np.int64(number), low), high)


@kernel
def weight(weights, output, count, place):
    """Return the weight of an input for an output of a layer with ``count`` inputs."""
    block = (output >> 4) * 16 * count
    return np.int64(weights[block + (place >> 1) * 32 + (output & 15) * 2 + (place & 1)])


@kernel
def fresh_row(network, position, half, cell, channel):
    """Return the sum of a cell's four vectors in a channel."""
    total = 0
    for direction in range(4):
        code = np.int64(network.codes[key_at(position.lines, cell, direction, half)])
        total += np.int64(network.book[code * CHANNELS + channel])
    return total


@kernel
def fresh_feature(network, position, half, cell, channel):
    """Return a feature of a cell: none where it is not empty."""
    if position.holds[cell] != EMPTY:
        return 0
    return limited(fresh_row(network, position, half, cell, channel), 0, TOP)


@kernel
def fresh_sum(network, position, half, region, channel):
    """Return the sum of a feature over a region."""
    total = 0
    for y in range(position.height):
        for x in range(position.width):
            where = 3 * third(y, np.int64(position.height)) + third(x, np.int64(position.width))
            if where == region:
                cell = (y + MARGIN) * STRIDE + x + MARGIN
                total += fresh_feature(network, position, half, cell, channel)
    return total


@kernel
def fresh_pooled(accumulator, head, place):
    """Return what the regions add to the input of the trunk, in one place."""
    total = 0
    for region in range(REGIONS):
        start = np.int64(accumulator.depth) * RINGS + region * CHANNELS
        hidden = np.int64(head.region_bias[place])
        for channel in range(CHANNELS):
            share = np.int64(accumulator.regions[start + channel]) >> 3
            hidden += share * weight(head.region, place, CHANNELS, channel)
        total += limited(hidden >> np.int64(head.shifts[REGION]), 0, HIGH)
    return limited(total >> np.int64(head.shifts[POOL]), 0, HIGH)


@kernel
def fresh_input(accumulator, head, place):
    """Return an input of the trunk."""
    if place >= CHANNELS:
        return fresh_pooled(accumulator, head, place - CHANNELS)
    total = 0
    for region in range(REGIONS):
        start = np.int64(accumulator.depth) * RINGS + region * CHANNELS
        total += np.int64(accumulator.regions[start + place])
    return limited(total >> 5, 0, HIGH)


@kernel
def same_trunk(accumulator, head, mask):
    """Return whether the trunk is that of the sums."""
    count = CHANNELS + POOLED
    for place in range(count):
        if accumulator.inputs[place] != fresh_input(accumulator, head, place):
            return False
    for output in range(TRUNK):
        total = np.int64(head.trunk_bias[output])
        for place in range(count):
            total += np.int64(accumulator.inputs[place]) * weight(head.trunk, output, count, place)
        total = (total >> np.int64(head.shifts[FIRST])) + np.int64(
            head.threats[mask * TRUNK + output]
        )
        if accumulator.trunk[output] != limited(total, 0, HIGH):
            return False
    return True


@kernel
def after_trunk(accumulator, biases, weights, output, shift, low):
    """Return an output of a layer above the trunk."""
    total = np.int64(biases[output])
    for place in range(TRUNK):
        total += np.int64(accumulator.trunk[place]) * weight(weights, output, TRUNK, place)
    return limited(total >> np.int64(shift), low, HIGH)


@kernel
def fresh_value(accumulator, head, linear):
    """Return the value that follows from the trunk."""
    total = np.int64(head.result_bias)
    for output in range(VALUE_HIDDEN):
        hidden = after_trunk(
            accumulator, head.value_bias, head.value, output, head.shifts[SECOND], 0
        )
        total += hidden * np.int64(head.result[output])
    share = (linear * np.int64(head.shifts[SHARE])) >> 8
    return share + (total >> np.int64(head.shifts[THIRD]))


@kernel
def around_feature(network, position, half, cell, channel, diagonal):
    """Return the sum of a feature over the four orthogonal or diagonal neighbours."""
    total = 0
    for i in range(4):
        sign = 2 * (i & 1) - 1
        if diagonal:
            step = sign * (STRIDE + (i & 2) - 1)
        else:
            step = sign * (STRIDE if i & 2 else 1)
        total += fresh_feature(network, position, half, cell + step, channel)
    return total


@kernel
def fresh_logit(accumulator, network, position, half, side, cell, score, enemy_last, own_last):
    """Return the logit of a move."""
    head = network.heads[side]
    total = 0
    for channel in range(CHANNELS):
        factor = after_trunk(
            accumulator, head.feature_bias, head.feature, channel, head.shifts[FEATURE], -HIGH
        )
        total += factor * fresh_feature(network, position, half, cell, channel)
    for output in range(CELL_HIDDEN):
        hidden = 0
        for channel in range(CHANNELS):
            own = fresh_feature(network, position, half, cell, channel)
            beside = around_feature(network, position, half, cell, channel, False)
            corners = around_feature(network, position, half, cell, channel, True)
            mixed = (own * 8 * np.int64(head.around[channel])) >> 16
            mixed += (beside * 2 * np.int64(head.around[CHANNELS + channel])) >> 16
            mixed += (corners * 2 * np.int64(head.around[2 * CHANNELS + channel])) >> 16
            hidden += mixed * weight(head.hidden, output, CHANNELS, channel)
        hidden >>= np.int64(head.shifts[CELL])
        hidden += after_trunk(
            accumulator, head.cell_bias, head.cell, output, head.shifts[CELL_BIAS], -HIGH
        )
        factor = after_trunk(
            accumulator, head.out_bias, head.out, output, head.shifts[CELL_OUT], -HIGH
        )
        total += limited(hidden, 0, HIGH) * factor
    logit = total >> np.int64(head.shifts[LOGIT])
    logit += (score * np.int64(head.shifts[HEAT])) >> 8
    logit += np.int64(head.near[near_class(cell, enemy_last)])
    logit += np.int64(head.near[NEAR_CLASSES + near_class(cell, own_last)])
    return limited(logit, -32767, 32767)


@kernel
def same_features(accumulator, network, position, half):
    """Compare rows, features and sums with fresh ones; return the part that differs, or SAME."""
    for y in range(position.height):
        for x in range(position.width):
            cell = (y + MARGIN) * STRIDE + x + MARGIN
            at = dense(cell) * CHANNELS
            for channel in range(CHANNELS):
                if position.holds[cell] == EMPTY:
                    row = fresh_row(network, position, half, cell, channel)
                    if accumulator.rows[at + channel] != row:
                        return ROWS
                feature = fresh_feature(network, position, half, cell, channel)
                if accumulator.features[at + channel] != feature:
                    return FEATURES
    start = np.int64(accumulator.depth) * RINGS
    for region in range(REGIONS):
        for channel in range(CHANNELS):
            fresh = fresh_sum(network, position, half, region, channel)
            if accumulator.regions[start + region * CHANNELS + channel] != fresh:
                return SUMS
    return SAME


@kernel
def same_as_twin(accumulator, network, position, half, mask, linear, score):
    """Compare all that the network says of a position with its twin; SAME, or what differs.

    The accumulator has been brought up to date. The logit is compared on one empty cell.
    """
    part = same_features(accumulator, network, position, half)
    if part != SAME:
        return part
    side = np.int64(position.side)
    head = network.heads[side]
    accumulator.asked = 0
    ask_trunk(accumulator, network, side, mask)
    value = network_value(accumulator, network, side, linear)
    if not same_trunk(accumulator, head, mask) or value != fresh_value(accumulator, head, linear):
        return VALUE
    ask_policy(accumulator, network, side)
    ply = np.int64(position.ply)
    enemy_last = np.int64(position.moves[ply - 1]) if ply > 0 else 0
    own_last = np.int64(position.moves[ply - 2]) if ply > 1 else 0
    for probe in range(1 << 10):
        cell = (ply * 37 + probe) & 1023
        if position.holds[cell] == EMPTY:
            logit = network_logit(accumulator, network, side, cell, score, enemy_last, own_last)
            fresh = fresh_logit(
                accumulator, network, position, half, side, cell, score, enemy_last, own_last
            )
            return SAME if logit == fresh else POLICY
    return SAME
