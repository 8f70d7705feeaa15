"""Adam with decay (Loshchilov and Hutter 2019), and a running mean of the numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..losses import Floats
from .batch import Threads
from .layout import Part
from .rows import loop

EARLY, LATE = 0.9, 0.99  # of the running means of slopes and squares that a step leaves
APART = 1 << 14  # numbers of a part that threads share


class AdamState(NamedTuple):
    """Flat arrays, a place for each number of the network."""

    numbers: Floats
    gradient: Floats
    anchor: Floats  # what decay draws the numbers to
    slope: Floats  # running mean of the gradient
    square: Floats  # of its square
    mean: Floats  # of the numbers


class AdamStep(NamedTuple):
    """What one step does to the numbers of one part."""

    rate: float
    decay: float
    number: int  # of the step, from 1
    kept: float  # of the running mean of the numbers that the step leaves


@loop
def adam(state, step, first, last):
    """Do a step on numbers ``first`` to ``last``; the records are AdamState and AdamStep."""
    numbers, gradient, anchor, slope, square, mean = state
    one = numbers.dtype.type
    early, late = one(1 / (1 - EARLY**step.number)), one(1 / (1 - LATE**step.number))
    pull, rate = one(step.rate * step.decay), one(step.rate)
    kept, rest = one(step.kept), one(1 - step.kept)
    for i in range(first, last):
        change = gradient[i]
        slope[i] = one(EARLY) * slope[i] + one(0.1) * change
        square[i] = one(LATE) * square[i] + one(0.01) * change * change
        towards = slope[i] * early / (np.sqrt(square[i] * late) + one(1e-8))
        numbers[i] -= rate * towards + pull * (numbers[i] - anchor[i])
        mean[i] = kept * mean[i] + rest * numbers[i]


class Adam:
    """What a training keeps of each number."""

    def __init__(self, numbers: Floats, anchor: Floats) -> None:
        """Begin with nothing; the numbers are changed in place."""
        self.numbers, self.anchor = numbers, anchor
        self.slope, self.square = np.zeros_like(numbers), np.zeros_like(numbers)
        self.mean, self.step = numbers.copy(), 0

    def update(self, gradient: Floats, parts: list[Part], step: AdamStep, threads: Threads) -> None:
        """Do a step with a gradient; the decay is that of each part."""
        self.step = step.number
        state = AdamState(self.numbers, gradient, self.anchor, self.slope, self.square, self.mean)
        for part in parts:
            own = step._replace(decay=part.decay)

            def change(thread: int, first: int, last: int, own: AdamStep = own) -> None:
                adam(state, own, first, last)

            if part.end - part.start > APART:
                threads.each(change, part.start, part.end)
            else:
                change(0, part.start, part.end)
