"""Line patterns by number: the windows of a line that a network tells apart.

A window is a line key (``patterns/tables.py``). What lies beyond a wall counts as wall, and a
window and its mirror image are one pattern; its number counts the smallest keys of patterns in
ascending order.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...position.rules import Rule

Ints = NDArray[np.int64]
LOW_BITS = 0x5555555555  # of every cell of a key
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (-1, 1))  # steps in y and x


class Patterns(NamedTuple):
    """The patterns of windows that reach so many cells to each side."""

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

    def one_hot(self, mirrored: bool = False) -> NDArray[np.float32]:
        """Return what each cell of each pattern holds: 0 or 1, shape [patterns, cells * 4]."""
        cells = 2 * self.half
        hot = np.zeros((len(self), cells, 4), np.float32)
        for place in range(cells):
            to = cells - 1 - place if mirrored else place
            hot[np.arange(len(self)), to, self.keys >> (2 * place) & 3] = 1
        return hot.reshape(len(self), -1)


def half_of(family: str) -> int:
    """Return how far the windows of a rule family reach to each side."""
    return Rule.parse(family).traits.half


def _walled(keys: Ints, canonical: Ints, outwards: Iterable[int]) -> Ints:
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
    canonical = _walled(keys, keys, range(half - 1, -1, -1))
    canonical = _walled(keys, canonical, range(half, cells))
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


def patterns_on(boards: NDArray[np.uint8], known: Patterns) -> NDArray[np.int32]:
    """Return the four patterns of each cell, shape [boards * height * width, 4].

    ``boards`` has shape [boards, height, width]: 3 empty, 2 and 1 stones, as the two bits of a
    key. Cells with a stone have the number ``len(known)``, which is no pattern.
    """
    half = known.half
    count, height, width = boards.shape
    padded = np.zeros((count, height + 2 * half, width + 2 * half), np.int32)
    padded[:, half : half + height, half : half + width] = boards
    found = np.empty((count, height, width, 4), np.int32)
    offsets = [offset for offset in range(-half, half + 1) if offset]
    for direction, (down, right) in enumerate(DIRECTIONS):
        key = np.zeros((count, height, width), np.int32)
        for place, offset in enumerate(offsets):
            y, x = half + down * offset, half + right * offset
            key |= padded[:, y : y + height, x : x + width] << np.int32(2 * place)
        found[..., direction] = known.number[key]
    found[boards != 3] = len(known)
    return found.reshape(-1, 4)
