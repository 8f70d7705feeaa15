"""The loop that trains on positions: each one forwards and, where it is learned, backwards.

Everything that belongs to one position is done while it lies in the caches of a core, and
gradients are added where they belong at once. Threads do ranges of positions, each with
gradients of its own. The numbers are float32; with float64 the same loops are what the tests
hold against differences.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...eval.network_block import FEATURE_LIMIT
from .rows import (
    LANES,
    NONE,
    accumulate,
    add,
    add_product,
    clamp,
    gate,
    layer,
    load,
    loop,
    multiply,
    outer,
    row_of,
    save,
    splat,
    total_of,
)

FEATURE_UNIT = 256  # of the integers that stand for a feature
TOP = FEATURE_LIMIT / FEATURE_UNIT
REGIONS, NEAR_REACH, MASK_BITS = 9, 7, 11
REGION_SCALE, BOARD_SCALE, POOL_SCALE = 8.0, 32.0, 4.0  # keep the inputs of layers near one
LEVEL_BEND = 4.0  # mean logits above this are drawn to nought no harder
LOGIT_UNIT = 256  # of the integers that stand for a logit
SCORE_SCALE = 26.0  # points of the linear move score that are worth one logistic unit
PEAKS = ("region", "pool", "trunk", "value", "direct", "scale", "mixed", "shift")


class Head(NamedTuple):
    """The numbers of a head as flat arrays, weights as rows of inputs by columns of outputs."""

    region: Any
    region_bias: Any
    trunk: Any
    trunk_bias: Any
    threats: Any
    sets: Any
    value: Any
    value_bias: Any
    last: Any
    last_bias: Any
    policy: Any
    policy_bias: Any
    cell: Any
    neighbours: Any
    near: Any
    linear_share: Any
    score_share: Any


class Turned(NamedTuple):
    """The weights of a head with rows and columns exchanged."""

    region: Any
    trunk: Any
    value: Any
    policy: Any
    cell: Any


class PositionArrays(NamedTuple):
    """What the loops read of the positions of one size of board; see ``pool.PositionPool``."""

    height: int
    width: int
    regions: Any  # of each cell
    moves: Any
    at: Any
    ply: Any
    mask: Any
    linear: Any  # in logistic units
    target: Any
    result: Any
    opens: Any  # whether the value counts
    near: Any
    score_at: Any
    scores: Any


class Windows(NamedTuple):
    """What ``patterns.see`` has written for a batch."""

    cells: Any
    codes: Any
    counts: Any


class Outputs(NamedTuple):
    """What is said of each position of a batch, and what it loses (NaN: nothing to lose)."""

    odds: Any
    logits: Any  # room for the cells of a board, filled by the candidates
    target: Any
    result: Any
    entropy: Any
    first: Any


@loop
def see_peak(peaks: Any, place: Any, numbers: Any, start: Any, count: Any) -> None:
    """Take the largest size of some numbers into account."""
    for i in range(start, start + count):
        peaks[place] = max(peaks[place], abs(numbers[i]))


@loop
def near_class(cell: Any, stone: Any, width: Any) -> Any:
    """Return the class of the distance of a cell from a stone, 0 far away or if it is none."""
    if stone < 0:
        return 0
    down = abs(cell // width - stone // width)
    right = abs(cell % width - stone % width)
    longer = max(down, right)
    if longer > NEAR_REACH:
        return 0
    return 1 + longer * (longer + 1) // 2 + min(down, right)


@loop
def starts_of(positions: Any, seen: Any, j: Any, channels: Any) -> Any:
    """Return where the features of a seen cell, its region's and its four vectors begin."""
    width, cell = positions.width, np.int64(seen.cells[j])
    return (
        ((cell // width + 1) * (width + 2) + cell % width + 1) * channels,
        positions.regions[cell] * channels,
        np.int64(seen.codes[4 * j]) * channels,
        np.int64(seen.codes[4 * j + 1]) * channels,
        np.int64(seen.codes[4 * j + 2]) * channels,
        np.int64(seen.codes[4 * j + 3]) * channels,
    )


@loop
def study(
    learning: Any, chosen: Any, first: Any, last: Any, positions: Any, seen: Any,
    vectors: Any, head: Any, turned: Any, shares_of_loss: Any,
    of_vectors: Any, of_head: Any, said: Any, peaks: Any,
) -> None:  # fmt: skip
    """Judge the positions ``first`` to ``last`` of a batch; if ``learning`` add their gradients.

    ``shares_of_loss``: what a unit of the losses of value, move and level of one position adds to
    the loss of the batch. ``peaks`` is raised to the largest numbers seen where nothing is
    learned (``PEAKS``).
    """
    height, width = positions.height, positions.width
    area, wide = height * width, width + 2
    channels, region_units = len(head.neighbours) // 3, len(head.region_bias)
    trunk_units, value_units = len(head.trunk_bias), len(head.value_bias)
    cell_units = len(head.cell) // channels
    policy_units = channels + 2 * cell_units
    whole = channels + region_units
    kind = vectors.dtype
    most = row_of(kind.type(NONE))
    top = row_of(kind.type(TOP))
    none = row_of(kind.type(0))
    features = np.zeros((height + 2) * wide * channels, kind)
    of_features = np.zeros((height + 2) * wide * channels, kind)
    sums = np.zeros(REGIONS * channels, kind)
    of_sums = np.zeros(REGIONS * channels, kind)
    pre_region = np.zeros(REGIONS * region_units, kind)
    of_region = np.zeros(REGIONS * region_units, kind)
    inputs, of_inputs = np.zeros(whole, kind), np.zeros(whole, kind)
    trunk, of_trunk = np.zeros(trunk_units, kind), np.zeros(trunk_units, kind)
    hidden, of_hidden = np.zeros(value_units, kind), np.zeros(value_units, kind)
    policy, of_policy = np.zeros(policy_units, kind), np.zeros(policy_units, kind)
    places = np.zeros(area, np.int64)
    classes = np.zeros(2 * area, np.int64)
    crosses = np.zeros(area * channels, kind)
    corners = np.zeros(area * channels, kind)
    mixed = np.zeros((area + 4) * channels, kind)  # four candidates are done at a time
    units = np.zeros((area + 4) * cell_units, kind)  # hidden ones of the candidates
    of_units = np.zeros(area * cell_units, kind)
    chances = np.zeros(area, kind)
    below, side = wide * channels, channels
    for i in range(first, last):
        position = chosen[i]
        mask = np.int64(positions.mask[position])
        count = np.int64(seen.counts[i])
        # The features, and their sums over regions.
        for k in range(0, REGIONS * channels, LANES):
            save(sums, k, none)
        for j in range(i * area, i * area + count):
            place, region, a, b, c, d = starts_of(positions, seen, j, channels)
            for k in range(0, channels, LANES):
                total = add(
                    add(load(vectors, a + k), load(vectors, b + k)),
                    add(load(vectors, c + k), load(vectors, d + k)),
                )
                total = clamp(total, top)
                save(features, place + k, total)
                save(of_features, place + k, none)
                save(sums, region + k, add(load(sums, region + k), total))
        # What value and policy share.
        factor = row_of(kind.type(1 / REGION_SCALE))
        for k in range(0, channels, LANES):
            total = none
            for r in range(REGIONS):
                at = r * channels + k
                total = add(total, load(sums, at))
                save(sums, at, multiply(load(sums, at), factor))
            save(inputs, k, multiply(total, row_of(kind.type(1 / BOARD_SCALE))))
        for k in range(0, region_units, LANES):
            save(inputs, channels + k, none)
        for r in range(REGIONS):
            at = r * region_units
            units_of_region = pre_region[at : at + region_units]
            units_of_region[:] = head.region_bias
            layer(sums, r * channels, channels, head.region, region_units, units_of_region)
            for k in range(0, region_units, LANES):
                pooled = clamp(load(units_of_region, k), most)
                save(inputs, channels + k, add(load(inputs, channels + k), pooled))
        if not learning:
            for r in range(REGIONS * region_units):
                peaks[0] = max(peaks[0], pre_region[r])
            see_peak(peaks, 1, inputs, channels, region_units)
        for k in range(0, region_units, LANES):
            at = channels + k
            save(inputs, at, multiply(load(inputs, at), row_of(kind.type(1 / POOL_SCALE))))
        for k in range(0, trunk_units, LANES):
            total = add(load(head.trunk_bias, k), load(head.sets, mask * trunk_units + k))
            for bit in range(MASK_BITS):
                if mask >> bit & 1:
                    total = add(total, load(head.threats, bit * trunk_units + k))
            save(trunk, k, total)
        layer(inputs, 0, whole, head.trunk, trunk_units, trunk)
        for k in range(0, trunk_units, LANES):
            save(trunk, k, clamp(load(trunk, k), most))
        # The value.
        hidden[:] = head.value_bias
        layer(trunk, 0, trunk_units, head.value, value_units, hidden)
        total = none
        for k in range(0, value_units, LANES):
            save(hidden, k, clamp(load(hidden, k), most))
            total = add_product(total, load(hidden, k), load(head.last, k))
        linear = kind.type(positions.linear[position])
        odds = linear * head.linear_share[0] + total_of(total) + head.last_bias[0]
        # The policy.
        policy[:] = head.policy_bias
        layer(trunk, 0, trunk_units, head.policy, policy_units, policy)
        stones, at = np.int64(positions.ply[position]), positions.at[position]
        before = np.int64(positions.moves[at - 1]) if stones > 0 else -1
        second = np.int64(positions.moves[at - 2]) if stones > 1 else -1
        move = np.int64(positions.moves[at])
        score_at = positions.score_at[position]
        moves, picked = 0, -1
        for spot in range(area):
            if not positions.near[position, spot >> 3] >> (spot & 7) & 1:
                continue
            if spot == move:
                picked = moves
            places[moves] = ((spot // width + 1) * wide + spot % width + 1) * channels
            classes[2 * moves] = near_class(spot, before, width)
            classes[2 * moves + 1] = near_class(spot, second, width)
            moves += 1
        for j in range(moves):
            place = places[j]
            dot = none
            for k in range(0, channels, LANES):
                own = load(features, place + k)
                dot = add_product(dot, own, load(policy, k))
                here = place + k
                cross = add(
                    add(load(features, here - side), load(features, here + side)),
                    add(load(features, here - below), load(features, here + below)),
                )
                corner = add(
                    add(load(features, here - below - side), load(features, here - below + side)),
                    add(load(features, here + below - side), load(features, here + below + side)),
                )
                save(crosses, j * channels + k, cross)
                save(corners, j * channels + k, corner)
                total = multiply(own, load(head.neighbours, k))
                total = add_product(total, cross, load(head.neighbours, channels + k))
                total = add_product(total, corner, load(head.neighbours, 2 * channels + k))
                save(mixed, j * channels + k, total)
            score = kind.type(positions.scores[score_at + j]) / kind.type(SCORE_SCALE)
            chances[j] = (
                total_of(dot)
                + score * head.score_share[0]
                + head.near[classes[2 * j]]
                + head.near[len(head.near) // 2 + classes[2 * j + 1]]
            )
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
                save(units, at, clamp(one, most))
                save(units, at + cell_units, clamp(two, most))
                save(units, at + 2 * cell_units, clamp(three, most))
                save(units, at + 3 * cell_units, clamp(four, most))
        largest, level = kind.type(-NONE), kind.type(0)
        for j in range(moves):
            dot = none
            for u in range(0, cell_units, LANES):
                factor = load(policy, channels + cell_units + u)
                dot = add_product(dot, load(units, j * cell_units + u), factor)
            chances[j] += total_of(dot)
            said.logits[i * area + j] = chances[j]
            level += chances[j]
            largest = max(largest, chances[j])
        level /= kind.type(max(moves, 1))
        if not learning:
            see_peak(peaks, 2, trunk, 0, trunk_units)
            see_peak(peaks, 3, hidden, 0, value_units)
            see_peak(peaks, 4, policy, 0, channels)
            see_peak(peaks, 5, policy, channels + cell_units, cell_units)
            see_peak(peaks, 6, mixed, 0, moves * channels)
            see_peak(peaks, 7, policy, channels, cell_units)
            see_peak(peaks, 7, units, 0, moves * cell_units)
        # The losses.
        said.odds[i] = odds
        softplus = np.log1p(np.exp(-abs(odds))) + max(odds, kind.type(0))
        target, result = positions.target[position], positions.result[position]
        opens = positions.opens[position]
        said.target[i] = softplus - target * odds if opens else np.nan
        known = opens and result >= 0
        said.result[i] = softplus - kind.type(result) * odds if known else np.nan
        said.entropy[i] = said.first[i] = np.nan
        mass = kind.type(0)
        if picked >= 0:
            said.first[i] = 1 if chances[picked] >= largest else 0
            logit = chances[picked]
            for j in range(moves):
                chances[j] = np.exp(chances[j] - largest)
                mass += chances[j]
            said.entropy[i] = np.log(mass) + largest - logit
        if not learning:
            for j in range(i * area, i * area + count):
                place = starts_of(positions, seen, j, channels)[0]
                for k in range(0, channels, LANES):
                    save(features, place + k, none)
            continue
        # Backwards: the policy.
        bent = min(max(level / kind.type(LEVEL_BEND), kind.type(-1)), kind.type(1))
        bent *= shares_of_loss[2] / kind.type(max(moves, 1))
        of_score = kind.type(0)
        for k in range(0, policy_units, LANES):
            save(of_policy, k, none)
        for j in range(moves):
            change = kind.type(0)
            if picked >= 0:
                change = chances[j] / mass
                if j == picked:
                    change -= kind.type(1)
                change *= shares_of_loss[1]
            change += bent
            chances[j] = change
            of_score += change * kind.type(positions.scores[score_at + j])
            of_head.near[classes[2 * j]] += change
            of_head.near[len(head.near) // 2 + classes[2 * j + 1]] += change
            factor = row_of(change)
            for u in range(0, cell_units, LANES):
                at = j * cell_units + u
                unit = load(units, at)
                place = channels + cell_units + u
                save(of_policy, place, add_product(load(of_policy, place), factor, unit))
                back = gate(multiply(factor, load(policy, place)), unit, most)
                save(of_units, at, back)
                place = channels + u
                save(of_policy, place, add(load(of_policy, place), back))
        of_head.score_share[0] += of_score / kind.type(SCORE_SCALE)
        for k in range(0, channels, 4):
            for u in range(0, cell_units, LANES):
                at = k * cell_units + u
                one, two = load(of_head.cell, at), load(of_head.cell, at + cell_units)
                three = load(of_head.cell, at + 2 * cell_units)
                four = load(of_head.cell, at + 3 * cell_units)
                for j in range(moves):
                    back = load(of_units, j * cell_units + u)
                    place = j * channels + k
                    one = add_product(one, splat(mixed, place), back)
                    two = add_product(two, splat(mixed, place + 1), back)
                    three = add_product(three, splat(mixed, place + 2), back)
                    four = add_product(four, splat(mixed, place + 3), back)
                save(of_head.cell, at, one)
                save(of_head.cell, at + cell_units, two)
                save(of_head.cell, at + 2 * cell_units, three)
                save(of_head.cell, at + 3 * cell_units, four)
        for k in range(0, channels, LANES):
            direct, near_own = load(policy, k), load(head.neighbours, k)
            near_cross = load(head.neighbours, channels + k)
            near_corner = load(head.neighbours, 2 * channels + k)
            of_direct = none
            of_own = load(of_head.neighbours, k)
            of_cross = load(of_head.neighbours, channels + k)
            of_corner = load(of_head.neighbours, 2 * channels + k)
            for j in range(moves):
                back, other = none, none
                for u in range(0, cell_units, 2):
                    at = u * channels + k
                    back = add_product(
                        back, splat(of_units, j * cell_units + u), load(turned.cell, at)
                    )
                    other = add_product(
                        other,
                        splat(of_units, j * cell_units + u + 1),
                        load(turned.cell, at + channels),
                    )
                back = add(back, other)
                here = places[j] + k
                own = load(features, here)
                factor = splat(chances, j)
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
            save(of_head.neighbours, k, of_own)
            save(of_head.neighbours, channels + k, of_cross)
            save(of_head.neighbours, 2 * channels + k, of_corner)
        for k in range(0, trunk_units, LANES):
            save(of_trunk, k, none)
        layer(of_policy, 0, policy_units, turned.policy, trunk_units, of_trunk)
        outer(trunk, trunk_units, of_policy, policy_units, of_head.policy)
        accumulate(of_head.policy_bias, 0, of_policy, policy_units)
        # The value.
        if opens:
            change = kind.type(1) / (kind.type(1) + np.exp(-odds)) - kind.type(target)
            change *= shares_of_loss[0]
            of_head.linear_share[0] += change * linear
            of_head.last_bias[0] += change
            factor = row_of(change)
            for k in range(0, value_units, LANES):
                unit = load(hidden, k)
                save(of_head.last, k, add_product(load(of_head.last, k), factor, unit))
                save(of_hidden, k, gate(multiply(factor, load(head.last, k)), unit, most))
            layer(of_hidden, 0, value_units, turned.value, trunk_units, of_trunk)
            outer(trunk, trunk_units, of_hidden, value_units, of_head.value)
            accumulate(of_head.value_bias, 0, of_hidden, value_units)
        # What both share.
        for k in range(0, trunk_units, LANES):
            save(of_trunk, k, gate(load(of_trunk, k), load(trunk, k), most))
        accumulate(of_head.trunk_bias, 0, of_trunk, trunk_units)
        accumulate(of_head.sets, mask * trunk_units, of_trunk, trunk_units)
        for bit in range(MASK_BITS):
            if mask >> bit & 1:
                accumulate(of_head.threats, bit * trunk_units, of_trunk, trunk_units)
        for k in range(0, whole, LANES):
            save(of_inputs, k, none)
        layer(of_trunk, 0, trunk_units, turned.trunk, whole, of_inputs)
        outer(inputs, whole, of_trunk, trunk_units, of_head.trunk)
        for r in range(REGIONS):
            at, place = r * region_units, r * channels
            for k in range(0, region_units, LANES):
                change = multiply(load(of_inputs, channels + k), row_of(kind.type(1 / POOL_SCALE)))
                save(of_region, at + k, gate(change, load(pre_region, at + k), most))
            back_of_region = of_sums[place : place + channels]
            for k in range(0, channels, LANES):
                save(back_of_region, k, none)
            layer(of_region, at, region_units, turned.region, channels, back_of_region)
            factor = row_of(kind.type(1 / REGION_SCALE))
            for k in range(0, channels, LANES):
                change = multiply(load(back_of_region, k), factor)
                of_board = multiply(load(of_inputs, k), row_of(kind.type(1 / BOARD_SCALE)))
                save(back_of_region, k, add(change, of_board))
            accumulate(of_head.region_bias, 0, of_region[at : at + region_units], region_units)
        for k in range(channels):
            for u in range(0, region_units, LANES):
                at = k * region_units + u
                total = load(of_head.region, at)
                for r in range(REGIONS):
                    back = load(of_region, r * region_units + u)
                    total = add_product(total, splat(sums, r * channels + k), back)
                save(of_head.region, at, total)
        # The features, and the vectors that they are sums of.
        for j in range(i * area, i * area + count):
            place, region, a, b, c, d = starts_of(positions, seen, j, channels)
            for k in range(0, channels, LANES):
                change = add(load(of_features, place + k), load(of_sums, region + k))
                change = gate(change, load(features, place + k), top)
                save(features, place + k, none)
                save(of_vectors, a + k, add(load(of_vectors, a + k), change))
                save(of_vectors, b + k, add(load(of_vectors, b + k), change))
                save(of_vectors, c + k, add(load(of_vectors, c + k), change))
                save(of_vectors, d + k, add(load(of_vectors, d + k), change))
