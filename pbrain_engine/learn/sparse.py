"""A sparse matrix in rows, with the two products that learning needs, and sums by segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .minimise import Vector

BLOCK = 1 << 14  # rows at a time, so that what lies between stays small

Starts = NDArray[np.int64]


class Matrix(NamedTuple):
    """Rows of (column, entry) pairs; every row has at least one."""

    starts: Starts  # pairs[starts[i]:starts[i + 1]] belong to row i
    columns: NDArray[np.int64]
    entries: NDArray[np.float32]
    width: int

    @classmethod
    def summed(cls, starts: Starts, columns: Starts, entries: Vector, width: int) -> Matrix:
        """Return the matrix in which pairs of one row and column are added up; zeros go.

        Every row keeps at least one pair. The pairs of a row may come in any order.
        """
        parts = []
        for first in range(0, len(starts) - 1, BLOCK):
            last = min(first + BLOCK, len(starts) - 1)
            here = slice(int(starts[first]), int(starts[last]))
            rows = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
            keys = rows * width + columns[here]
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
            begins = np.flatnonzero(np.diff(keys, prepend=-1))
            sums = np.add.reduceat(entries[here][order], begins)
            keys = keys[begins]
            kept = sums != 0
            kept |= np.diff(keys // width, prepend=-1) != 0  # the first of each row
            parts.append((keys[kept], sums[kept], last - first))
        lengths = [np.bincount(keys // width, minlength=count) for keys, _, count in parts]
        return cls(
            np.concatenate(([0], np.cumsum(np.concatenate(lengths)))),
            np.concatenate([keys % width for keys, _, _ in parts]),
            np.concatenate([sums for _, sums, _ in parts]).astype(np.float32),
            width,
        )

    def _blocks(self) -> Iterator[tuple[slice, slice]]:
        rows = len(self.starts) - 1
        for first in range(0, rows, BLOCK):
            last = min(first + BLOCK, rows)
            yield slice(first, last), slice(int(self.starts[first]), int(self.starts[last]))

    def times(self, weights: Vector) -> Vector:
        """Return the product with a column vector."""
        result = np.empty(len(self.starts) - 1)
        for rows, pairs in self._blocks():
            products = weights[self.columns[pairs]] * self.entries[pairs]
            result[rows] = np.add.reduceat(products, self.starts[rows] - self.starts[rows.start])
        return result

    def times_transposed(self, rows_vector: Vector) -> Vector:
        """Return the product of the transposed matrix with a vector of the rows."""
        result = np.zeros(self.width)
        for rows, pairs in self._blocks():
            lengths = np.diff(self.starts[rows.start : rows.stop + 1])
            products = np.repeat(rows_vector[rows], lengths) * self.entries[pairs]
            result += np.bincount(self.columns[pairs], products, self.width)
        return result


def segment_sums(values: Vector, starts: Starts) -> Vector:
    """Return the sum of each segment; none is empty."""
    return np.asarray(np.add.reduceat(values, starts[:-1]))


def segment_maxima(values: Vector, starts: Starts) -> Vector:
    """Return the largest of each segment; none is empty."""
    return np.asarray(np.maximum.reduceat(values, starts[:-1]))
