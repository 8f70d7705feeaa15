"""What is known about weights before any game: combinations share what their parts have in common.

A learned table is its start plus a few *shared* numbers, one a line shape, a pair of line
shapes or a class of cells, plus an *own* number for each entry. Both are drawn towards zero, the
shared ones less, so an entry that few games show follows its relatives, and one that none
shows stays near its start. What is learned makes a smooth function as small as it gets.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations as pairs_of
from itertools import count
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize, minimize_scalar

from ..eval.hand import class_of_lines, combinations, is_foul
from ..eval.weights import MASKS
from ..patterns.shapes import CELL_CLASSES, LINE_SHAPES

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]  # point -> value and gradient

MEMORY = 12  # steps that the curvature is guessed from


def minimise(
    function: Function,
    start: Vector,
    steps: int = 150,
    tolerance: float = 1e-7,
    watch: Callable[[int, float], None] = lambda step, value: None,
) -> Vector:
    """Minimise a function with at most ``steps`` steps of L-BFGS; return the point.

    It ends earlier where a step gains less than ``tolerance`` of the value. ``watch`` gets the
    number of each step and the value there.
    """
    numbers = count(1)

    def report(intermediate_result: OptimizeResult) -> None:
        watch(next(numbers), float(intermediate_result.fun))

    options = {"maxiter": steps, "maxcor": MEMORY, "ftol": tolerance, "gtol": 0.0}
    found = minimize(function, start, jac=True, method="L-BFGS-B", callback=report, options=options)
    return np.asarray(found.x)


def minimise_scale(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of a scale with one valley is smallest, to a thousandth."""
    bounds = log(low), log(high)
    found = minimize_scalar(
        lambda x: function(exp(x)), bounds=bounds, method="bounded", options={"xatol": 1e-3}
    )
    return exp(float(found.x))


MASK_BITS = 11


class Prior(NamedTuple):
    """How an entry of a table follows from the numbers that are learned."""

    shares: NDArray[np.float64]  # entry, shared number -> how often it counts
    shared: float  # expected size of a shared number
    own: float  # expected size of an entry's own number

    @property
    def length(self) -> int:
        """How many numbers are learned for one table."""
        return sum(map(int, self.shares.shape))

    def spread(self, numbers: Vector) -> Vector:
        """Return the change of each entry that the learned numbers, in their sizes, make."""
        count = self.shares.shape[1]
        return self.shares @ (self.shared * numbers[:count]) + self.own * numbers[count:]

    def gather(self, gradient: Vector) -> Vector:
        """Return the gradient by the learned numbers from the one by the entries."""
        return np.concatenate((self.shared * (gradient @ self.shares), self.own * gradient))


def combination_shares() -> NDArray[np.float64]:
    """Return which line shapes, pairs of them and class each combination has."""
    pairs_in_order = [(a, b) for b in range(LINE_SHAPES) for a in range(b + 1)]
    pair_number = {pair: number for number, pair in enumerate(pairs_in_order)}
    rows = []
    for lines in combinations():
        shapes = np.bincount(lines, minlength=LINE_SHAPES).astype(float)
        pairs = np.zeros(len(pair_number))
        for a, b in pairs_of(lines, 2):
            pairs[pair_number[min(a, b), max(a, b)]] += 1
        classes = np.zeros(CELL_CLASSES + 1)
        classes[class_of_lines(lines)] = 1
        classes[CELL_CLASSES] = is_foul(lines)
        rows.append(np.concatenate((shapes, pairs, classes)))
    return np.array(rows)


def mask_shares() -> NDArray[np.float64]:
    """Return which bits each threat mask has."""
    return (np.arange(MASKS)[:, None] >> np.arange(MASK_BITS) & 1).astype(float)
