"""The forward pass of the network for one position, layer by layer, and its losses.

Each step reads what earlier steps wrote to the ``Workspace``; ``gradients.py`` calls them in order.
The records are a ``Batch``, ``Head``, ``Outputs`` and ``Workspace``; ``i`` is the index of a
position in the batch.
"""

from __future__ import annotations

import numpy as np

from ...eval.network_block import FEATURE_LIMIT, NEAR_REACH
from ...kernel.lanes import LANES, load, save
from .layout import MASK_BITS, REGIONS, Workspace
from .rows import (
    NONE,
    add,
    add_product,
    clamp,
    layer,
    loop,
    multiply,
    row_of,
    scale,
    splat,
    step,
    total_of,
)

FEATURE_UNIT = 256  # of quantised features
TOP = FEATURE_LIMIT / FEATURE_UNIT
REGION_SCALE, BOARD_SCALE, POOL_SCALE = 8.0, 32.0, 4.0  # keep the inputs of layers near one
SCORE_SCALE = 26.0  # points of the linear move score per logistic unit


@step
def make_workspace(batch, head):
    """Return a thread's memory; allocated here, so that the compiler knows it is not aliased."""
    height, width, kind = batch.positions.height, batch.positions.width, head.trunk.dtype
    area, rimmed = height * width, (height + 2) * (width + 2)
    channels = len(head.neighbours) // 3
    region_units, cell_units = len(head.region_bias), len(head.cell) // channels
    return Workspace(
        np.zeros(rimmed * channels, kind), np.zeros(rimmed * channels, kind),
        np.zeros(REGIONS * channels, kind), np.zeros(REGIONS * channels, kind),
        np.zeros(REGIONS * region_units, kind), np.zeros(REGIONS * region_units, kind),
        np.zeros(channels + region_units, kind), np.zeros(channels + region_units, kind),
        np.zeros(len(head.trunk_bias), kind), np.zeros(len(head.trunk_bias), kind),
        np.zeros(len(head.value_bias), kind), np.zeros(len(head.value_bias), kind),
        np.zeros(len(head.policy_bias), kind), np.zeros(len(head.policy_bias), kind),
        np.zeros(area, np.int64), np.zeros(2 * area, np.int64),
        np.zeros(area * channels, kind), np.zeros(area * channels, kind),
        np.zeros((area + 4) * channels, kind), np.zeros((area + 4) * cell_units, kind),
        np.zeros(area * cell_units, kind), np.zeros(area, kind),
    )  # fmt: skip


# Places -----------------------------------------------------------------------------


@loop
def near_class(cell, stone, width):
    """Return the distance class of a cell from a stone; 0 if far away or without a stone."""
    if stone < 0:
        return 0
    down = abs(cell // width - stone // width)
    right = abs(cell % width - stone % width)
    longer = max(down, right)
    if longer > NEAR_REACH:
        return 0
    return 1 + longer * (longer + 1) // 2 + min(down, right)


@loop
def place_of(cell, width, channels):
    """Return the offset of a cell's features in the workspace."""
    return ((cell // width + 1) * (width + 2) + cell % width + 1) * channels


@loop
def vectors_of(codes, j, channels):
    """Return the offsets of the four vectors of a cell of a batch."""
    return (
        np.int64(codes[4 * j]) * channels,
        np.int64(codes[4 * j + 1]) * channels,
        np.int64(codes[4 * j + 2]) * channels,
        np.int64(codes[4 * j + 3]) * channels,
    )


@step
def range_of(batch, i):
    """Return the range of a position's cells in a batch."""
    begin = i * batch.positions.height * batch.positions.width
    return begin, begin + np.int64(batch.counts[i])


@step
def list_candidates(batch, i, channels, work):
    """List the candidates of a position; return their number."""
    places, classes = work.places, work.classes
    positions, position = batch.positions, batch.chosen[i]
    near, width = positions.near, positions.width
    stones, at = np.int64(positions.ply[position]), positions.at[position]
    before = np.int64(positions.moves[at - 1]) if stones > 0 else -1
    second = np.int64(positions.moves[at - 2]) if stones > 1 else -1
    count = 0
    for spot in range(positions.height * width):
        if near[position, spot >> 3] >> (spot & 7) & 1:
            places[count] = place_of(spot, width, channels)
            classes[2 * count] = near_class(spot, before, width)
            classes[2 * count + 1] = near_class(spot, second, width)
            count += 1
    return count


# Forward pass -----------------------------------------------------------------------


@step
def forward_features(batch, i, vectors, channels, work):
    """Sum the vectors of each cell, and the features of each region."""
    sums, features = work.sums, work.features
    features[:] = work.of_features[:] = sums[:] = 0
    cells, codes, regions, width = batch.cells, batch.codes, batch.regions, batch.positions.width
    begin, end = range_of(batch, i)
    for j in range(begin, end):
        cell = np.int64(cells[j])
        place, region = place_of(cell, width, channels), regions[cell] * channels
        a, b, c, d = vectors_of(codes, j, channels)
        for k in range(0, channels, LANES):
            total = add(
                add(load(vectors, a + k), load(vectors, b + k)),
                add(load(vectors, c + k), load(vectors, d + k)),
            )
            total = clamp(total, TOP)
            save(features, place + k, total)
            save(sums, region + k, add(load(sums, region + k), total))


@step
def forward_regions(head, channels, work):
    """Compute the inputs of the trunk: the sum over the board, and the pooled region units."""
    sums, inputs, regions = work.sums, work.inputs, work.regions
    region_units = len(head.region_bias)
    for k in range(0, channels, LANES):
        total = row_of(sums.dtype.type(0))
        for r in range(REGIONS):
            at = r * channels + k
            total = add(total, load(sums, at))
            save(sums, at, scale(load(sums, at), 1 / REGION_SCALE))
        save(inputs, k, scale(total, 1 / BOARD_SCALE))
    inputs[channels:] = 0
    for r in range(REGIONS):
        units = regions[r * region_units : (r + 1) * region_units]
        layer(sums[r * channels : (r + 1) * channels], head.region, head.region_bias, units)
        for k in range(0, region_units, LANES):
            pooled = scale(clamp(load(units, k), NONE), 1 / POOL_SCALE)
            save(inputs, channels + k, add(load(inputs, channels + k), pooled))


@step
def forward_trunk(head, mask, work):
    """Compute the trunk, shared by value and policy."""
    trunk, inputs = work.trunk, work.inputs
    units = len(head.trunk_bias)
    for k in range(0, units, LANES):
        total = add(load(head.trunk_bias, k), load(head.sets, mask * units + k))
        for bit in range(MASK_BITS):
            if mask >> bit & 1:
                total = add(total, load(head.threats, bit * units + k))
        save(trunk, k, total)
    layer(inputs, head.trunk, trunk, trunk)
    for k in range(0, units, LANES):
        save(trunk, k, clamp(load(trunk, k), NONE))


@step
def forward_value(head, linear, work):
    """Return the logarithm of the odds of the side to move."""
    hidden = work.hidden
    total = row_of(hidden.dtype.type(0))
    layer(work.trunk, head.value, head.value_bias, hidden)
    for k in range(0, len(hidden), LANES):
        save(hidden, k, clamp(load(hidden, k), NONE))
        total = add_product(total, load(hidden, k), load(head.last, k))
    return linear * head.linear_share[0] + total_of(total) + head.last_bias[0]


@step
def forward_candidates(head, batch, i, moves, channels, work):
    """Mix each candidate with its neighbours; compute its logit without the hidden units."""
    features, policy, places, classes = work.features, work.policy, work.places, work.classes
    crosses, corners, mixed, logits = work.crosses, work.corners, work.mixed, work.logits
    kind, mixing, near = head.near.dtype, head.neighbours, head.near
    score_at, scores = batch.positions.score_at[batch.chosen[i]], batch.positions.scores
    side, below = channels, (batch.positions.width + 2) * channels
    for j in range(moves):
        dot = row_of(kind.type(0))
        for k in range(0, channels, LANES):
            at = places[j] + k
            own = load(features, at)
            dot = add_product(dot, own, load(policy, k))
            cross = add(
                add(load(features, at - side), load(features, at + side)),
                add(load(features, at - below), load(features, at + below)),
            )
            corner = add(
                add(load(features, at - below - side), load(features, at - below + side)),
                add(load(features, at + below - side), load(features, at + below + side)),
            )
            save(crosses, j * channels + k, cross)
            save(corners, j * channels + k, corner)
            total = multiply(own, load(mixing, k))
            total = add_product(total, cross, load(mixing, channels + k))
            total = add_product(total, corner, load(mixing, 2 * channels + k))
            save(mixed, j * channels + k, total)
        score = kind.type(scores[score_at + j]) / kind.type(SCORE_SCALE)
        logits[j] = (
            total_of(dot)
            + score * head.score_share[0]
            + near[classes[2 * j]]
            + near[len(near) // 2 + classes[2 * j + 1]]
        )


@step
def forward_units(head, moves, channels, cell_units, work):
    """Compute the hidden units of the candidates, four candidates at a time."""
    policy, mixed, units = work.policy, work.mixed, work.units
    for j in range(0, moves, 4):
        for u in range(0, cell_units, LANES):
            one = load(policy, channels + u)
            two, three, four = one, one, one
            for k in range(channels):
                weights = load(head.cell, k * cell_units + u)
                at = j * channels + k
                one = add_product(one, splat(mixed, at), weights)
                two = add_product(two, splat(mixed, at + channels), weights)
                three = add_product(three, splat(mixed, at + 2 * channels), weights)
                four = add_product(four, splat(mixed, at + 3 * channels), weights)
            at = j * cell_units + u
            save(units, at, clamp(one, NONE))
            save(units, at + cell_units, clamp(two, NONE))
            save(units, at + 2 * cell_units, clamp(three, NONE))
            save(units, at + 3 * cell_units, clamp(four, NONE))


@step
def forward_logits(moves, channels, cell_units, begin, said, work):
    """Complete and write the logits, starting at ``begin``; return the largest and the mean."""
    logits, policy, units = work.logits, work.policy, work.units
    kind = logits.dtype
    largest, level = kind.type(-NONE), kind.type(0)
    for j in range(moves):
        dot = row_of(kind.type(0))
        for u in range(0, cell_units, LANES):
            factor = load(policy, channels + cell_units + u)
            dot = add_product(dot, load(units, j * cell_units + u), factor)
        logits[j] += total_of(dot)
        said.logits[begin + j] = logits[j]
        level += logits[j]
        largest = max(largest, logits[j])
    return largest, level / kind.type(max(moves, 1))


@step
def lose_value(batch, i, odds, said):
    """Write the losses of the value."""
    position = batch.chosen[i]
    softplus = np.log1p(np.exp(-abs(odds))) + max(odds, odds * 0)
    said.odds[i] = odds
    opens, points = batch.positions.opens[position], batch.positions.points[position]
    said.target[i] = softplus - batch.positions.target[position] * odds if opens else np.nan
    result = said.odds.dtype.type(points) / said.odds.dtype.type(2)
    said.result[i] = softplus - result * odds if opens and points >= 0 else np.nan


@step
def lose_move(i, moves, picked, largest, said, work):
    """Write the losses of the move, if it is a candidate, and turn the logits into chances."""
    logits = work.logits
    said.entropy[i] = said.first[i] = np.nan
    if picked >= 0:
        mass, logit = logits.dtype.type(0), logits[picked]
        said.first[i] = 1 if logit >= largest else 0
        for j in range(moves):
            logits[j] = np.exp(logits[j] - largest)
            mass += logits[j]
        said.entropy[i] = np.log(mass) + largest - logit
        for j in range(moves):
            logits[j] /= mass


# Peaks ------------------------------------------------------------------------------


@step
def raise_peaks(peaks, moves, channels, cell_units, work):
    """Raise the peaks, in the order of ``PEAKS``, by the sizes of a position's numbers."""
    shifts = channels + cell_units  # their end
    seen = (
        work.inputs[channels:], work.trunk, work.hidden, work.policy[:channels],
        work.policy[shifts:], work.mixed[: moves * channels],
        np.concatenate((work.policy[channels:shifts], work.units[: moves * cell_units])),
    )  # fmt: skip
    peaks[0] = max(peaks[0], work.regions.max())  # clamped at 0
    for place, numbers in enumerate(seen, 1):
        for number in numbers:
            peaks[place] = max(peaks[place], abs(number))
