"""The inner loop of training: losses of positions and their gradients.

Each position is processed completely while it is in the cache of a core, and its gradients are
added in place. Each thread takes a range of positions, with its own workspace and gradients.
Numbers are float32; tests run the same loop with float64 and compare it with finite differences.
"""

from __future__ import annotations

import numpy as np

from ...kernel.lanes import LANES, load, save
from .forward import (
    BOARD_SCALE,
    POOL_SCALE,
    REGION_SCALE,
    SCORE_SCALE,
    TOP,
    forward_candidates,
    forward_features,
    forward_logits,
    forward_regions,
    forward_trunk,
    forward_units,
    forward_value,
    list_candidates,
    lose_move,
    lose_value,
    make_workspace,
    place_of,
    raise_peaks,
    range_of,
    vectors_of,
)
from .layout import MASK_BITS, REGIONS
from .rows import (
    NONE,
    accumulate,
    add,
    add_product,
    backward_layer,
    clamp,
    gate,
    layer,
    loop,
    multiply,
    outer,
    row_of,
    scale,
    splat,
    step,
)

LEVEL_BEND = 4.0  # the pull of mean logits towards 0 is constant beyond this


@step
def backward_logits(batch, i, picked, moves, level, shares, of_head, work):
    """Turn chances into logit gradients; add those of the near terms and of the score share."""
    logits, classes = work.logits, work.classes
    kind = logits.dtype
    bent = min(max(level / kind.type(LEVEL_BEND), kind.type(-1)), kind.type(1))
    bent *= shares[2] / kind.type(max(moves, 1))
    score_at, scores = batch.positions.score_at[batch.chosen[i]], batch.positions.scores
    of_score = kind.type(0)
    for j in range(moves):
        change = kind.type(0)
        if picked >= 0:
            change = logits[j]
            if j == picked:
                change -= kind.type(1)
            change *= shares[1]
        change += bent
        logits[j] = change
        of_score += change * kind.type(scores[score_at + j])
        of_head.near[classes[2 * j]] += change
        of_head.near[len(of_head.near) // 2 + classes[2 * j + 1]] += change
    of_head.score_share[0] += of_score / kind.type(SCORE_SCALE)


@step
def backward_units(moves, channels, cell_units, work):
    """Compute the gradients of the hidden units, their shifts and their scales."""
    logits, of_policy, units = work.logits, work.of_policy, work.units
    policy, of_units = work.policy, work.of_units
    of_policy[:] = 0
    for j in range(moves):
        factor = row_of(logits[j])
        for u in range(0, cell_units, LANES):
            at = j * cell_units + u
            unit = load(units, at)
            place = channels + cell_units + u
            save(of_policy, place, add_product(load(of_policy, place), factor, unit))
            back = gate(multiply(factor, load(policy, place)), unit, NONE)
            save(of_units, at, back)
            place = channels + u
            save(of_policy, place, add(load(of_policy, place), back))


@step
def backward_cell(of_cell, moves, channels, cell_units, work):
    """Add the gradients of the weights of the hidden units, four channels at a time."""
    of_units, mixed = work.of_units, work.mixed
    for k in range(0, channels, 4):
        for u in range(0, cell_units, LANES):
            at = k * cell_units + u
            one, two = load(of_cell, at), load(of_cell, at + cell_units)
            three, four = load(of_cell, at + 2 * cell_units), load(of_cell, at + 3 * cell_units)
            for j in range(moves):
                back = load(of_units, j * cell_units + u)
                place = j * channels + k
                one = add_product(one, splat(mixed, place), back)
                two = add_product(two, splat(mixed, place + 1), back)
                three = add_product(three, splat(mixed, place + 2), back)
                four = add_product(four, splat(mixed, place + 3), back)
            save(of_cell, at, one)
            save(of_cell, at + cell_units, two)
            save(of_cell, at + 2 * cell_units, three)
            save(of_cell, at + 3 * cell_units, four)


@step
def back_to_mixed(cell, of_units, j, k, channels, cell_units):
    """Return the gradients of sixteen mixed channels of a candidate."""
    back = row_of(of_units.dtype.type(0))
    other = back
    for u in range(0, cell_units, 2):
        at = u * channels + k
        back = add_product(back, splat(of_units, j * cell_units + u), load(cell, at))
        unit = splat(of_units, j * cell_units + u + 1)
        other = add_product(other, unit, load(cell, at + channels))
    return add(back, other)


@step
def backward_neighbours(model, of_neighbours, moves, width, work):
    """Propagate the gradients of the candidates to the features of the cells around them."""
    policy, logits, places, features = work.policy, work.logits, work.places, work.features
    crosses, corners = work.crosses, work.corners
    of_features, of_policy = work.of_features, work.of_policy
    near, cell, of_units = model.head.neighbours, model.transposed.cell, work.of_units
    channels = len(near) // 3
    cell_units = len(model.head.cell) // channels
    side, below = channels, (width + 2) * channels
    for k in range(0, channels, LANES):
        direct, near_own = load(policy, k), load(near, k)
        near_cross, near_corner = load(near, channels + k), load(near, 2 * channels + k)
        of_direct = row_of(logits.dtype.type(0))
        of_own = load(of_neighbours, k)
        of_cross = load(of_neighbours, channels + k)
        of_corner = load(of_neighbours, 2 * channels + k)
        for j in range(moves):
            back = back_to_mixed(cell, of_units, j, k, channels, cell_units)
            here = places[j] + k
            own = load(features, here)
            factor = splat(logits, j)
            of_direct = add_product(of_direct, factor, own)
            of_own = add_product(of_own, back, own)
            of_cross = add_product(of_cross, back, load(crosses, j * channels + k))
            of_corner = add_product(of_corner, back, load(corners, j * channels + k))
            change = add_product(multiply(factor, direct), back, near_own)
            save(of_features, here, add(load(of_features, here), change))
            change = multiply(back, near_cross)
            for at in (here - side, here + side, here - below, here + below):
                save(of_features, at, add(load(of_features, at), change))
            change = multiply(back, near_corner)
            for at in (
                here - below - side, here - below + side,
                here + below - side, here + below + side,
            ):  # fmt: skip
                save(of_features, at, add(load(of_features, at), change))
        save(of_policy, k, of_direct)
        save(of_neighbours, k, of_own)
        save(of_neighbours, channels + k, of_cross)
        save(of_neighbours, 2 * channels + k, of_corner)


@step
def backward_value(model, change, linear, of_head, work):
    """Propagate the gradient of the odds to the trunk."""
    head, hidden, of_hidden = model.head, work.hidden, work.of_hidden
    factor = row_of(change)
    of_head.linear_share[0] += change * linear
    of_head.last_bias[0] += change
    for k in range(0, len(hidden), LANES):
        unit = load(hidden, k)
        save(of_head.last, k, add_product(load(of_head.last, k), factor, unit))
        save(of_hidden, k, gate(multiply(factor, load(head.last, k)), unit, NONE))
    backward_layer(
        work.trunk, of_hidden, model.transposed.value, work.of_trunk, of_head.value,
        of_head.value_bias,
    )  # fmt: skip


@step
def backward_trunk(transposed, mask, of_head, work):
    """Propagate the gradients of the trunk to its inputs."""
    trunk, of_trunk, of_inputs = work.trunk, work.of_trunk, work.of_inputs
    units = len(trunk)
    for k in range(0, units, LANES):
        save(of_trunk, k, gate(load(of_trunk, k), load(trunk, k), NONE))
    accumulate(of_head.sets[mask * units :], of_trunk)
    for bit in range(MASK_BITS):
        if mask >> bit & 1:
            accumulate(of_head.threats[bit * units :], of_trunk)
    of_inputs[:] = 0
    backward_layer(
        work.inputs, of_trunk, transposed.trunk, of_inputs, of_head.trunk, of_head.trunk_bias
    )


@step
def backward_regions(transposed, channels, of_head, work):
    """Propagate the gradients of the trunk's inputs to the sums of the regions."""
    of_inputs, units = work.of_inputs, len(of_head.region_bias)
    work.of_sums[:] = 0
    for r in range(REGIONS):
        part = slice(r * units, (r + 1) * units)
        regions, of_regions = work.regions[part], work.of_regions[part]
        part = slice(r * channels, (r + 1) * channels)
        sums, back = work.sums[part], work.of_sums[part]
        for k in range(0, units, LANES):
            change = scale(load(of_inputs, channels + k), 1 / POOL_SCALE)
            save(of_regions, k, gate(change, load(regions, k), NONE))
        backward_layer(
            sums, of_regions, transposed.region, back, of_head.region, of_head.region_bias
        )
        for k in range(0, channels, LANES):
            change = scale(load(back, k), 1 / REGION_SCALE)
            save(back, k, add(change, scale(load(of_inputs, k), 1 / BOARD_SCALE)))


@step
def backward_features(batch, i, channels, of_vectors, work):
    """Propagate the gradients of the features to the vectors they are sums of."""
    of_features, of_sums, features = work.of_features, work.of_sums, work.features
    cells, codes, regions, width = batch.cells, batch.codes, batch.regions, batch.positions.width
    begin, end = range_of(batch, i)
    for j in range(begin, end):
        cell = np.int64(cells[j])
        place, region = place_of(cell, width, channels), regions[cell] * channels
        a, b, c, d = vectors_of(codes, j, channels)
        for k in range(0, channels, LANES):
            change = add(load(of_features, place + k), load(of_sums, region + k))
            change = gate(change, load(features, place + k), TOP)
            save(of_vectors, a + k, add(load(of_vectors, a + k), change))
            save(of_vectors, b + k, add(load(of_vectors, b + k), change))
            save(of_vectors, c + k, add(load(of_vectors, c + k), change))
            save(of_vectors, d + k, add(load(of_vectors, d + k), change))


@loop
def accumulate_gradients(batch, first, last, model, goal, gradients, said):
    """Write a model's outputs for positions ``first`` to ``last`` of a batch; add gradients.

    The records are a ``Batch``, ``Model``, ``Goal``, ``Gradients`` and ``Outputs``; gradients are
    added only if ``goal.learning``.
    """
    head, of_head = model.head, gradients.head
    channels = len(head.neighbours) // 3
    cell_units = len(head.cell) // channels
    kind, work = head.trunk.dtype, make_workspace(batch, head)
    width, area = batch.positions.width, batch.positions.height * batch.positions.width
    for i in range(first, last):
        position = batch.chosen[i]
        mask = np.int64(batch.positions.mask[position])
        linear = kind.type(np.float32(batch.positions.linear[position] / batch.scale))
        forward_features(batch, i, model.vectors, channels, work)
        forward_regions(head, channels, work)
        forward_trunk(head, mask, work)
        odds = forward_value(head, linear, work)
        moves = list_candidates(batch, i, channels, work)
        picked = np.int64(batch.positions.pick[position])
        layer(work.trunk, head.policy, head.policy_bias, work.policy)
        forward_candidates(head, batch, i, moves, channels, work)
        forward_units(head, moves, channels, cell_units, work)
        largest, level = forward_logits(moves, channels, cell_units, i * area, said, work)
        lose_value(batch, i, odds, said)
        lose_move(i, moves, picked, largest, said, work)
        if not goal.learning:
            raise_peaks(goal.peaks, moves, channels, cell_units, work)
            continue
        backward_logits(batch, i, picked, moves, level, goal.shares, of_head, work)
        backward_units(moves, channels, cell_units, work)
        backward_cell(of_head.cell, moves, channels, cell_units, work)
        backward_neighbours(model, of_head.neighbours, moves, width, work)
        work.of_trunk[:] = 0
        backward_layer(
            work.trunk, work.of_policy, model.transposed.policy, work.of_trunk, of_head.policy,
            of_head.policy_bias,
        )  # fmt: skip
        if batch.positions.opens[position]:
            likely = kind.type(1) / (kind.type(1) + np.exp(-odds))
            change = (likely - kind.type(batch.positions.target[position])) * goal.shares[0]
            backward_value(model, change, linear, of_head, work)
        backward_trunk(model.transposed, mask, of_head, work)
        backward_regions(model.transposed, channels, of_head, work)
        backward_features(batch, i, channels, gradients.vectors, work)


# The map from patterns to vectors ------------------------------------------------------
# A window and its mirror image go through the first layer and are added, so that both have the same
# vector; two more layers follow.


@loop
def inner_layers(net, key, cells, pre, hidden, middle):
    """Write the first units of a pattern and of its mirror image, their sum, and the second."""
    count = len(net.first_bias)
    for k in range(0, count, LANES):
        one = load(net.first_bias, k)
        two = one
        for place in range(cells):
            state = key >> 2 * place & 3
            one = add(one, load(net.first, (4 * place + state) * count + k))
            two = add(two, load(net.first, (4 * (cells - 1 - place) + state) * count + k))
        save(pre, k, one)
        save(pre, count + k, two)
        save(hidden, k, add(clamp(one, NONE), clamp(two, NONE)))
    layer(hidden, net.second, net.second_bias, middle)
    for k in range(0, count, LANES):
        save(middle, k, clamp(load(middle, k), NONE))


@loop
def map_patterns(net, keys, half, first, last, out):
    """Write a map's vectors, [patterns, outputs], of keys ``first`` to ``last``."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
        row = out[i * outputs : (i + 1) * outputs]
        row[:] = 0
        layer(middle, net.third, row, row)


@loop
def backward_map(net, transposed, keys, half, first, last, of_out, of_net):
    """Add the gradients of a map for keys ``first`` to ``last``; ``of_out``: of its vectors."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    change, back = np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
        change[:] = back[:] = 0
        row = of_out[i * outputs : (i + 1) * outputs]
        outer(middle, row, of_net.third)
        layer(row, transposed.third, change, change)
        for k in range(0, count, LANES):
            save(change, k, gate(load(change, k), load(middle, k), NONE))
        backward_layer(hidden, change, transposed.second, back, of_net.second, of_net.second_bias)
        for k in range(0, count, LANES):
            one = gate(load(back, k), load(pre, k), NONE)
            two = gate(load(back, k), load(pre, count + k), NONE)
            save(of_net.first_bias, k, add(load(of_net.first_bias, k), add(one, two)))
            for place in range(2 * half):
                state = keys[i] >> 2 * place & 3
                at = (4 * place + state) * count + k
                save(of_net.first, at, add(load(of_net.first, at), one))
                at = (4 * (2 * half - 1 - place) + state) * count + k
                save(of_net.first, at, add(load(of_net.first, at), two))
