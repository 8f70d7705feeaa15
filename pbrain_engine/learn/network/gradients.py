"""The loop of a training: positions forwards and, where they are learned, backwards.

Everything that belongs to one position is done while it lies in the caches of a core, and
gradients are added where they belong at once. Threads do ranges of positions, each with a workspace
and gradients of its own. The numbers are float32; with float64 the same loops are what the tests
hold against differences.
"""

from __future__ import annotations

import numpy as np

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
from .rows import loop
from .workspace import OF_POOL, OF_REGION


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
