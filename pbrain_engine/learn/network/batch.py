"""The network's inputs for a batch of positions: cells, each with the four patterns around it.

A pattern is a *window* of a line, a line key (``patterns/tables.py``), up to mirror images. Cells
beyond a wall count as wall. Patterns are numbered in ascending order of their smallest keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...position.geometry import MAX_BOARD
from .dataset import Dataset, Ints
from .rows import loop

LOW_BITS = 0x5555555555  # of every cell of a key


class Patterns(NamedTuple):
    """The patterns of windows with ``half`` cells on each side."""

    half: int
    number: NDArray[np.int32]  # of each key
    keys: Ints  # the smallest key of each pattern
    swapped: Ints  # the number of each pattern with colours exchanged

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def blank(self) -> int:
        """The number of the pattern without stones and walls."""
        return len(self.keys) - 1


def _wall_off(keys: Ints, canonical: Ints, outwards: Iterable[int]) -> Ints:
    """Return the canonical keys with all cells beyond a wall turned into wall."""
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


# Batches --------------------------------------------------------------------------------

LINES = 2 * MAX_BOARD  # capacity for the lines of one direction


class Batch(NamedTuple):
    """Some positions of a dataset, encoded with the side to move as black."""

    positions: Dataset
    scale: float  # units of the linear evaluation per logistic unit
    regions: Ints  # [cells of the board], the region of each, 0 to 8
    chosen: Ints  # [batch], indices into the dataset
    cells: NDArray[np.int16]  # [batch, cells of the board], ``y * width + x``, flat
    codes: NDArray[np.int32]  # [batch, cells of the board, 4], the numbers of patterns, flat
    counts: NDArray[np.int32]  # [batch], numbers of these cells
    black: int  # number of positions with black to move, which come first; all if colours are tied
    used: Ints  # the patterns that occur, with colours exchanged, and the blank one, ascending

    @property
    def sides(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ranges of the positions of each side."""
        return (0, self.black), (self.black, len(self.chosen))


class Threads:
    """Threads that divide a range into fixed parts."""

    def __init__(self, count: int) -> None:
        """Use ``count`` threads."""
        self.count = count
        self._executor = ThreadPoolExecutor(count)

    def each(self, work: Callable[[int, int, int], None], first: int, last: int) -> None:
        """Call ``work`` with each thread's number and its part of a range, and wait."""
        length = last - first
        ends = [first + length * i // self.count for i in range(self.count + 1)]
        list(self._executor.map(work, range(self.count), ends[:-1], ends[1:]))


def make_batch(
    dataset: Dataset, chosen: Ints, scale: float, known: Patterns, tied: bool, threads: Threads
) -> Batch:
    """Return encoded positions; if colours are not tied, with black to move first."""
    height, width = dataset.height, dataset.width
    area, count = height * width, len(chosen)
    sides = np.zeros(count, np.int16) if tied else dataset.side[chosen]
    used = np.zeros(len(known), np.uint8)
    batch = Batch(
        dataset, scale, regions_of(height, width), chosen[np.argsort(sides, kind="stable")],
        np.empty(count * area, np.int16), np.empty(count * area * 4, np.int32),
        np.empty(count, np.int32), int((sides == 0).sum()), np.zeros(0, np.int64),
    )  # fmt: skip
    empty = empty_lines(height, width, known.half)

    threads.each(
        lambda _, first, last: encode_positions(batch, first, last, known, empty, used), 0, count
    )
    used[known.swapped[np.flatnonzero(used)]] = 1  # closed under exchange of colours
    used[known.blank] = 1
    return batch._replace(used=np.flatnonzero(used))


def third(place: Ints, length: int) -> Ints:
    """Return the third of a board, 0 to 2, of rows or columns; the middle may be smaller."""
    outer = -(-length // 3)
    return np.where(place < outer, 0, np.where(place >= length - outer, 2, 1))


@cache
def regions_of(height: int, width: int) -> Ints:
    """Return the region of each cell, 0 to 8."""
    y, x = np.divmod(np.arange(height * width), width)
    return 3 * third(y, height) + third(x, width)


@cache
def empty_lines(height: int, width: int, half: int) -> Ints:
    """Return the lines of an empty board in four directions, two bits per cell: 3, 0 outside.

    Rows, columns, diagonals down and diagonals up; a cell's bits start at ``2 * (x + half)`` in its
    row and diagonals, at ``2 * (y + half)`` in its column.
    """
    found = np.zeros((4, LINES), np.int64)
    for y in range(height):
        for x in range(width):
            along, down = 3 << 2 * (x + half), 3 << 2 * (y + half)
            found[0, y] |= along
            found[1, x] |= down
            found[2, x - y + height - 1] |= along
            found[3, x + y] |= along
    return found.ravel()


@loop
def window(line, place, half):
    """Return the line key of a cell, given its line and its place in it."""
    raw = line >> 2 * place
    low = (1 << 2 * half) - 1
    return (raw & low) | (raw >> 2 & low << 2 * half)


@loop
def draw_lines(empty, batch, i, half, lines):
    """Write the lines of the empty board with the stones of a position, own stones as black."""
    for k in range(len(empty)):
        lines[k] = empty[k]
    positions = batch.positions
    height, width = positions.height, positions.width
    stones = np.int64(positions.ply[batch.chosen[i]])
    start = positions.at[batch.chosen[i]] - stones
    for j in range(stones):
        move = np.int64(positions.moves[start + j])
        y, x = move // width, move % width
        clear = 1 if (stones - j) & 1 == 0 else 2  # leaves 2 for an own stone, 1 for the enemy's
        along, down = clear << 2 * (x + half), clear << 2 * (y + half)
        lines[y] ^= along
        lines[LINES + x] ^= down
        lines[2 * LINES + x - y + height - 1] ^= along
        lines[3 * LINES + x + y] ^= along


@loop
def encode_positions(batch, first, last, known, empty, used):
    """Write the cells and patterns of positions ``first`` to ``last`` of a batch.

    A cell with neither stone nor border in its windows has no feature and is left out. ``empty``:
    the lines of the empty board; ``used`` gets a 1 for every pattern that occurs. The records are
    a ``Batch`` and ``Patterns``.
    """
    height, width = batch.positions.height, batch.positions.width
    half, number, blank = known.half, known.number, len(known.keys) - 1
    lines = np.empty_like(empty)
    for i in range(first, last):
        draw_lines(empty, batch, i, half, lines)
        found = 0
        for y in range(height):
            for x in range(width):
                if lines[y] >> 2 * (x + half) & 3 != 3:
                    continue
                a = number[window(lines[y], x, half)]
                b = number[window(lines[LINES + x], y, half)]
                c = number[window(lines[2 * LINES + x - y + height - 1], x, half)]
                d = number[window(lines[3 * LINES + x + y], x, half)]
                if a == blank and b == blank and c == blank and d == blank:
                    continue
                place = i * height * width + found
                batch.cells[place] = y * width + x
                batch.codes[4 * place], batch.codes[4 * place + 1] = a, b
                batch.codes[4 * place + 2], batch.codes[4 * place + 3] = c, d
                used[a] = used[b] = used[c] = used[d] = 1
                found += 1
        batch.counts[i] = found
