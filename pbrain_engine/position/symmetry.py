"""The eight symmetries of a square board, and the four of a rectangular one."""

from __future__ import annotations

from collections.abc import Sequence

from .geometry import Coordinates


def symmetries(width: int, height: int) -> int:
    """Return how many symmetries a board has."""
    return 8 if width == height else 4


def transform(
    cells: Sequence[Coordinates], number: int, width: int, height: int
) -> list[Coordinates]:
    """Return the cells under one symmetry; number 0 leaves them where they are."""
    moved = []
    for x, y in cells:
        if number & 1:
            x = width - 1 - x
        if number & 2:
            y = height - 1 - y
        if number & 4:
            x, y = y, x
        moved.append((x, y))
    return moved
