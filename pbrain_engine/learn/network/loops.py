"""The sums over cells as plain loops for the processor, several times faster than torch there.

Each does what the function of the same name in ``sums.py`` does, with its gradient.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_loop = numba.njit(fastmath=True, nogil=True, boundscheck=False, cache=True)


@_loop
def add_lines(patterns: Any, vectors: Any, top: Any, found: Any) -> None:
    """Write each cell's feature: the sum of its four vectors, from nought to ``top``."""
    for i in range(len(patterns)):
        a, b, c, d = patterns[i, 0], patterns[i, 1], patterns[i, 2], patterns[i, 3]
        for k in range(vectors.shape[1]):
            total = vectors[a, k] + vectors[b, k] + vectors[c, k] + vectors[d, k]
            found[i, k] = min(max(total, np.float32(0)), top)


@_loop
def add_lines_back(patterns: Any, found: Any, top: Any, gradient: Any, of_vectors: Any) -> None:
    """Add the gradient of the features to that of the vectors; the last vector gets none."""
    none = len(of_vectors) - 1
    for i in range(len(patterns)):
        a, b, c, d = patterns[i, 0], patterns[i, 1], patterns[i, 2], patterns[i, 3]
        if a == none:
            continue
        for k in range(of_vectors.shape[1]):
            if 0 < found[i, k] < top:
                change = gradient[i, k]
                of_vectors[a, k] += change
                of_vectors[b, k] += change
                of_vectors[c, k] += change
                of_vectors[d, k] += change


@_loop
def add_neighbours(features: Any, cells: Any, height: int, width: int, out: Any) -> None:
    """Write features of some cells, then sums over orthogonal and over diagonal neighbours."""
    channels = features.shape[1]
    for j in range(len(cells)):
        cell = cells[j] % (height * width)
        y, x = cell // width, cell % width
        for down in range(-1, 2):
            for right in range(-1, 2):
                if 0 <= y + down < height and 0 <= x + right < width:
                    other = cells[j] + down * width + right
                    kind = abs(down) + abs(right)
                    for k in range(channels):
                        out[kind, j, k] += features[other, k]


@_loop
def add_neighbours_back(
    gradient: Any, cells: Any, height: int, width: int, of_features: Any
) -> None:
    """Add the gradient of what ``add_neighbours`` wrote to that of the features."""
    channels = of_features.shape[1]
    for j in range(len(cells)):
        cell = cells[j] % (height * width)
        y, x = cell // width, cell % width
        for down in range(-1, 2):
            for right in range(-1, 2):
                if 0 <= y + down < height and 0 <= x + right < width:
                    other = cells[j] + down * width + right
                    kind = abs(down) + abs(right)
                    for k in range(channels):
                        of_features[other, k] += gradient[kind, j, k]
