"""The loops of a training: patterns to vectors, and positions, forwards and backwards.

A window goes through a layer forwards and mirrored, so that both get the same vector, then through
two more; only a training has this map.

Everything that belongs to one position is done while it lies in the caches of a core, and
gradients are added where they belong at once. Threads do ranges of positions, each with a workspace
and gradients of its own. The numbers are float32; with float64 the same loops are what the tests
hold against differences.
"""

from __future__ import annotations

import numpy as np

from ...kernel.lanes import LANES, load, save
from .backward import (
    backward_cell,
    backward_features,
    backward_logits,
    backward_neighbours,
    backward_policy,
    backward_regions,
    backward_trunk,
    backward_units,
    backward_value,
)
from .forward import (
    clear_features,
    forward_candidates,
    forward_features,
    forward_logits,
    forward_policy,
    forward_regions,
    forward_trunk,
    forward_units,
    forward_value,
    list_candidates,
    lose_move,
    lose_value,
    make_workspace,
    raise_peak,
    raise_peaks,
    scale_pool,
)
from .layout import OF_POOL, OF_REGION
from .rows import NONE, accumulate, add, clamp, gate, layer, loop, outer, row_of


@loop
def inner_layers(net, key, cells, pre, hidden, middle):
    """Write the first units of a pattern and of its mirror image, their sum, and the second."""
    count = len(net.first_bias)
    most = row_of(net.first.dtype.type(NONE))
    for k in range(0, count, LANES):
        one = load(net.first_bias, k)
        two = one
        for place in range(cells):
            state = key >> 2 * place & 3
            one = add(one, load(net.first, (4 * place + state) * count + k))
            two = add(two, load(net.first, (4 * (cells - 1 - place) + state) * count + k))
        save(pre, k, one)
        save(pre, count + k, two)
        save(hidden, k, add(clamp(one, most), clamp(two, most)))
    middle[:] = net.second_bias
    layer(hidden, 0, count, net.second, count, middle)
    for k in range(0, count, LANES):
        save(middle, k, clamp(load(middle, k), most))


@loop
def map_patterns(net, keys, half, first, last, out):
    """Write the vectors, [patterns, outputs], that a map makes of keys ``first`` to ``last``."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
        row = out[i * outputs : (i + 1) * outputs]
        row[:] = 0
        layer(middle, 0, count, net.third, outputs, row)


@loop
def backward_map(net, transposed, keys, half, first, last, of_out, of_net):
    """Add the gradients of a map for keys ``first`` to ``last``; ``of_out`` are its vectors'."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    most = row_of(kind.type(NONE))
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    change, back = np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
        change[:] = 0
        back[:] = 0
        row = of_out[i * outputs : (i + 1) * outputs]
        outer(middle, count, row, outputs, of_net.third)
        layer(row, 0, outputs, transposed.third, count, change)
        for k in range(0, count, LANES):
            save(change, k, gate(load(change, k), load(middle, k), most))
        outer(hidden, count, change, count, of_net.second)
        accumulate(of_net.second_bias, 0, change, count)
        layer(change, 0, count, transposed.second, count, back)
        for k in range(0, count, LANES):
            one = gate(load(back, k), load(pre, k), most)
            two = gate(load(back, k), load(pre, count + k), most)
            save(of_net.first_bias, k, add(load(of_net.first_bias, k), add(one, two)))
            for place in range(2 * half):
                state = keys[i] >> 2 * place & 3
                at = (4 * place + state) * count + k
                save(of_net.first, at, add(load(of_net.first, at), one))
                at = (4 * (2 * half - 1 - place) + state) * count + k
                save(of_net.first, at, add(load(of_net.first, at), two))


@loop
def accumulate_gradients(batch, first, last, model, goal, gradients, said):
    """Write what a model says of positions ``first`` to ``last`` of a batch; add their gradients.

    The records are a ``Batch``, ``Model``, ``Goal``, ``Gradients`` and ``Outputs``; gradients are
    added where the goal is to learn.
    """
    head, of_head = model.head, gradients.head
    channels = len(head.neighbours) // 3
    region_units, cell_units = len(head.region_bias), len(head.cell) // channels
    kind, work = head.trunk.dtype, make_workspace(batch, head)
    width, area = batch.positions.width, batch.positions.height * batch.positions.width
    for i in range(first, last):
        position = batch.chosen[i]
        mask = np.int64(batch.positions.mask[position])
        linear = kind.type(np.float32(batch.positions.linear[position] / batch.scale))
        forward_features(batch, i, model.vectors, channels, work)
        forward_regions(head, channels, work)
        if not goal.learning:
            goal.peaks[OF_REGION] = max(goal.peaks[OF_REGION], work.regions.max())  # clamped at 0
            raise_peak(goal.peaks, OF_POOL, work.inputs, channels, region_units)
        scale_pool(channels, region_units, work)
        forward_trunk(head, mask, work)
        odds = forward_value(head, linear, work)
        moves, picked = list_candidates(batch, i, channels, work)
        forward_policy(head, work)
        forward_candidates(head, batch, i, moves, channels, work)
        forward_units(head, moves, channels, cell_units, work)
        largest, level = forward_logits(moves, channels, cell_units, i * area, said, work)
        lose_value(batch, i, odds, said)
        if not goal.learning:
            raise_peaks(goal.peaks, moves, channels, cell_units, work)
        lose_move(i, moves, picked, largest, said, work)
        if not goal.learning:
            clear_features(batch, i, channels, work)
            continue
        backward_logits(batch, i, picked, moves, level, goal.shares, of_head, work)
        backward_units(moves, channels, cell_units, work)
        backward_cell(of_head.cell, moves, channels, cell_units, work)
        backward_neighbours(model, of_head.neighbours, moves, width, work)
        backward_policy(model.transposed, of_head, work)
        if batch.positions.opens[position]:
            likely = kind.type(1) / (kind.type(1) + np.exp(-odds))
            change = (likely - kind.type(batch.positions.target[position])) * goal.shares[0]
            backward_value(model, change, linear, of_head, work)
        backward_trunk(model.transposed, mask, of_head, work)
        backward_regions(model.transposed, channels, of_head, work)
        backward_features(batch, i, channels, gradients.vectors, work)
