"""What is known about weights before any game: combinations share what their parts have in common.

A learned table is its start plus a few *shared* numbers, one a line shape, a pair of line
shapes or a class of cells, plus an *own* number for each entry. Both are drawn towards zero, the
shared ones less, so an entry that few games show follows its relatives, and one that none
shows stays near its start.
"""

from __future__ import annotations

from itertools import combinations as pairs_of
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..eval.hand import class_of_lines, combinations, is_foul
from ..eval.weights import MASKS
from ..patterns.shapes import CELL_CLASSES, LINE_SHAPES
from .minimise import Vector

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
