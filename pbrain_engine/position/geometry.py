"""Cells of the padded board: 32 to a row, with a wall of five around the playing field.

A cell is one flat index, ``(y + 5) * 32 + (x + 5)``: no neighbour that a pattern can
reach, up to five cells away, ever leaves the array. ``x, y`` count from the top left.
"""

from __future__ import annotations

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


def x_of(cell: int) -> int:
    """Return the column of a cell, from 0 at the left."""
    return cell % STRIDE - MARGIN


def y_of(cell: int) -> int:
    """Return the row of a cell, from 0 at the top."""
    return cell // STRIDE - MARGIN
