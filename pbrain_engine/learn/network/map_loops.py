"""The loops over patterns and numbers: from patterns to vectors and back, and Adam."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .rows import (
    LANES,
    NONE,
    accumulate,
    add,
    clamp,
    gate,
    layer,
    load,
    loop,
    outer,
    row_of,
    save,
)  # fmt: skip


class Map(NamedTuple):
    """The numbers of a map from patterns to vectors, as those of a head."""

    first: Any
    first_bias: Any
    second: Any
    second_bias: Any
    third: Any


@loop
def first_layer(net: Any, key: Any, cells: Any, pre: Any, hidden: Any) -> None:
    """Write the first units of a pattern and of its mirror image, and the sum of both."""
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


@loop
def map_patterns(net: Any, keys: Any, first: Any, last: Any, half: Any, out: Any) -> None:
    """Write the vectors that a map makes of patterns ``first`` to ``last``."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    most = row_of(kind.type(NONE))
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        first_layer(net, keys[i], 2 * half, pre, hidden)
        middle[:] = net.second_bias
        layer(hidden, 0, count, net.second, count, middle)
        for k in range(0, count, LANES):
            save(middle, k, clamp(load(middle, k), most))
        row = out[i * outputs : (i + 1) * outputs]
        row[:] = 0
        layer(middle, 0, count, net.third, outputs, row)


@loop
def map_back(
    net: Any, second: Any, third: Any, keys: Any, first: Any, last: Any, half: Any, of_out: Any,
    of_net: Any,
) -> None:  # fmt: skip
    """Add the gradients of a map; ``second`` and ``third`` are its weights turned."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    most, none = row_of(kind.type(NONE)), row_of(kind.type(0))
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    change, back = np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        first_layer(net, keys[i], 2 * half, pre, hidden)
        middle[:] = net.second_bias
        layer(hidden, 0, count, net.second, count, middle)
        for k in range(0, count, LANES):
            save(middle, k, clamp(load(middle, k), most))
            save(change, k, none)
            save(back, k, none)
        row = of_out[i * outputs : (i + 1) * outputs]
        outer(middle, count, row, outputs, of_net.third)
        layer(row, 0, outputs, third, count, change)
        for k in range(0, count, LANES):
            save(change, k, gate(load(change, k), load(middle, k), most))
        outer(hidden, count, change, count, of_net.second)
        accumulate(of_net.second_bias, 0, change, count)
        layer(change, 0, count, second, count, back)
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
def adam(
    numbers: Any, gradient: Any, anchor: Any, slope: Any, square: Any, mean: Any, first: Any,
    last: Any, rate: Any, decay: Any, step: Any, kept: Any,
) -> None:  # fmt: skip
    """Do a step of Adam with decay towards ``anchor`` (Loshchilov and Hutter 2019) on some numbers.

    ``mean``, the running mean of the numbers, keeps ``kept`` of itself.
    """
    one = numbers.dtype.type
    early, late = one(1 / (1 - 0.9**step)), one(1 / (1 - 0.99**step))
    pull, rate, kept, rest = one(rate * decay), one(rate), one(kept), one(1 - kept)
    for i in range(first, last):
        change = gradient[i]
        slope[i] = one(0.9) * slope[i] + one(0.1) * change
        square[i] = one(0.99) * square[i] + one(0.01) * change * change
        towards = slope[i] * early / (np.sqrt(square[i] * late) + one(1e-8))
        numbers[i] -= rate * towards + pull * (numbers[i] - anchor[i])
        mean[i] = kept * mean[i] + rest * numbers[i]
