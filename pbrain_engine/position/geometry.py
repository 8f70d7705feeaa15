"""Cells of the padded board: 32 to a row, with a wall of five around the playing field.

A cell is one flat index, ``(y + 5) * 32 + (x + 5)``: neighbours within reach of a pattern, up to
five cells away, are always inside the array. ``x, y`` count from the top left. A square board has
eight symmetries, a rectangular one four.
"""

from collections.abc import Sequence

Coordinates = tuple[int, int]  # x, y from the top left

MIN_BOARD = 5
MAX_BOARD = 22
STRIDE = 32
MARGIN = 5
PADDED_CELLS = STRIDE * STRIDE
MAX_STONES = MAX_BOARD * MAX_BOARD
NO_CELL = 0  # a wall cell, so never a move


def cell_of(x: int, y: int) -> int:
    """Return the cell at ``x, y``."""
    return (y + MARGIN) * STRIDE + (x + MARGIN)


def is_board(width: int, height: int) -> bool:
    """Return whether boards may have this size."""
    return MIN_BOARD <= min(width, height) and max(width, height) <= MAX_BOARD


def symmetries(width: int, height: int) -> int:
    """Return the number of symmetries of a board."""
    return 8 if width == height else 4


def transform(
    cells: Sequence[Coordinates], number: int, width: int, height: int
) -> list[Coordinates]:
    """Return the images of cells under a symmetry; number 0 is the identity."""
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
