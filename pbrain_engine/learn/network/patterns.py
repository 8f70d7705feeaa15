"""From the moves of a game to what a network sees of a position: cells and their four patterns.

Patterns become vectors by a map, which is learned (``learner.py``).

A pattern is a *window* of a line, a line key (``patterns/tables.py``). What lies beyond a wall
counts as wall, and a window and its mirror image are one pattern; its number counts the smallest
keys of patterns in ascending order. A cell that sees neither stone nor border has no feature
(``learner.py``) and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...position.geometry import MAX_BOARD
from ...position.rules import Rule
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

Ints = NDArray[np.int64]
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


def half_of(family: str) -> int:
    """Return how far the windows of a rule family reach to each side."""
    return Rule.parse(family).traits.half


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


def third(place: Ints, length: int) -> Ints:
    """Return in which third of a board a row or column lies; the middle one may be smaller."""
    outer = -(-length // 3)
    return np.where(place < outer, 0, np.where(place >= length - outer, 2, 1))


def regions_of(height: int, width: int) -> Ints:
    """Return the region of each cell, 0 to 8."""
    y, x = np.divmod(np.arange(height * width), width)
    return 3 * third(y, height) + third(x, width)


LINES = 2 * MAX_BOARD  # room for the lines of a direction


@cache
def empty_lines(height: int, width: int, half: int) -> Ints:
    """Return the four directions' lines of an empty board, two bits a cell: 3, and 0 outside.

    Rows, columns, diagonals down and diagonals up; a cell lies in its row, and on a diagonal,
    at bit ``2 * (x + half)``, in its column at ``2 * (y + half)``.
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
def window(line: Any, place: Any, half: Any) -> Any:
    """Return the line key of the cell at a place of a line."""
    raw = line >> 2 * place
    low = (1 << 2 * half) - 1
    return (raw & low) | (raw >> 2 & low << 2 * half)


@loop
def see(
    chosen: Any, first: Any, last: Any, at: Any, ply: Any, moves: Any,
    height: Any, width: Any, half: Any, empty: Any, number: Any, blank: Any,
    cells: Any, codes: Any, counts: Any, used: Any,
) -> None:  # fmt: skip
    """Write the cells of positions ``first`` to ``last`` of a batch, and their patterns.

    ``at`` is the place in ``moves`` of the move that a position was searched for, ``ply`` the
    number of stones before it. A position has room for ``height * width`` cells, each ``y *
    width + x``, and four patterns a cell, which see the stones of the side to move as black's.
    ``used`` gets a 1 for every pattern that occurs.
    """
    lines = np.empty_like(empty)
    area = height * width
    for i in range(first, last):
        lines[:] = empty
        stones = np.int64(ply[chosen[i]])
        start = at[chosen[i]] - stones
        for j in range(stones):
            move = np.int64(moves[start + j])
            y, x = move // width, move % width
            clear = 1 if (stones - j) & 1 == 0 else 2  # an own stone stays 2, another 1
            along, down = clear << 2 * (x + half), clear << 2 * (y + half)
            lines[y] ^= along
            lines[LINES + x] ^= down
            lines[2 * LINES + x - y + height - 1] ^= along
            lines[3 * LINES + x + y] ^= along
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
                place = i * area + found
                cells[place] = y * width + x
                codes[4 * place], codes[4 * place + 1] = a, b
                codes[4 * place + 2], codes[4 * place + 3] = c, d
                used[a] = used[b] = used[c] = used[d] = 1
                found += 1
        counts[i] = found


# From patterns to vectors, and back ------------------------------------------------------


class Map(NamedTuple):
    """The numbers of a map from patterns to vectors, as those of a head."""

    first: Any
    first_bias: Any
    second: Any
    second_bias: Any
    third: Any


@loop
def inner_layers(net: Any, key: Any, cells: Any, pre: Any, hidden: Any, middle: Any) -> None:
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
    middle[:] = net.second_bias
    layer(hidden, 0, count, net.second, count, middle)
    for k in range(0, count, LANES):
        save(middle, k, clamp(load(middle, k), most))


@loop
def map_patterns(net: Any, keys: Any, first: Any, last: Any, half: Any, out: Any) -> None:
    """Write the vectors that a map makes of patterns ``first`` to ``last``."""
    count = len(net.first_bias)
    outputs = len(net.third) // count
    kind = net.first.dtype
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
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
    most = row_of(kind.type(NONE))
    pre, hidden, middle = np.zeros(2 * count, kind), np.zeros(count, kind), np.zeros(count, kind)
    change, back = np.zeros(count, kind), np.zeros(count, kind)
    for i in range(first, last):
        inner_layers(net, keys[i], 2 * half, pre, hidden, middle)
        change[:] = 0
        back[:] = 0
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
