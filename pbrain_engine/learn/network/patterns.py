"""The patterns of a network: windows of lines, of which mirror images are one.

A pattern is a *window* of a line, a line key (``patterns/tables.py``). What lies beyond a wall
counts as wall; the number of a pattern counts the smallest keys of patterns in ascending order.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..losses import Ints

LOW_BITS = 0x5555555555  # of every cell of a key


class Patterns(NamedTuple):
    """The patterns of windows that reach ``half`` cells to each side."""

    half: int
    number: NDArray[np.int32]  # of each key
    keys: Ints  # the smallest key of each pattern
    swapped: Ints  # the pattern with colours exchanged

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def blank(self) -> int:
        """The pattern without stones and walls."""
        return len(self.keys) - 1


def _wall_off(keys: Ints, canonical: Ints, outwards: Iterable[int]) -> Ints:
    """Return the canonical keys with all that lies beyond a wall made wall."""
    wall = np.zeros(len(keys), bool)
    for place in outwards:
        wall |= keys >> (2 * place) & 3 == 0
        canonical = np.where(wall, canonical & ~(3 << (2 * place)), canonical)
    return canonical


@cache
def patterns(half: int) -> Patterns:
    """Return the patterns of windows of ``2 * half`` cells."""
    cells = 2 * half
    keys = np.arange(1 << (2 * cells), dtype=np.int64)
    canonical = _wall_off(keys, keys, range(half - 1, -1, -1))
    canonical = _wall_off(keys, canonical, range(half, cells))
    mirror = np.zeros_like(keys)
    for place in range(cells):
        mirror |= (canonical >> (2 * place) & 3) << (2 * (cells - 1 - place))
    canonical = np.minimum(canonical, mirror)
    smallest = np.flatnonzero(canonical == keys)
    number = np.zeros(len(keys), np.int64)
    number[smallest] = np.arange(len(smallest))
    number = number[canonical]
    low = LOW_BITS & (len(keys) - 1)
    swapped = number[(smallest & low) << 1 | smallest >> 1 & low]
    return Patterns(half, number.astype(np.int32), smallest, swapped)
