"""The map from patterns to vectors, used only in training: forward and backward pass.

A window and its mirror image go through the first layer and are added, so that both have the same
vector; two more layers follow.
"""

from __future__ import annotations

import numpy as np

from ...kernel.lanes import LANES, load, save
from .rows import NONE, accumulate, add, clamp, clear, copy, gate, layer, loop, outer, row_of


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
    copy(net.second_bias, middle)
    layer(hidden, 0, count, net.second, count, middle)
    for k in range(0, count, LANES):
        save(middle, k, clamp(load(middle, k), most))


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
        clear(row, 0, outputs)
        layer(middle, 0, count, net.third, outputs, row)


@loop
def backward_map(net, transposed, keys, half, first, last, of_out, of_net):
    """Add the gradients of a map for keys ``first`` to ``last``; ``of_out``: of its vectors."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    most = row_of(kind.type(NONE))
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    change, back = np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
        clear(change, 0, count)
        clear(back, 0, count)
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
