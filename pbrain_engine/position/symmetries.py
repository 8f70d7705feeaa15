"""Symmetries of a position: which there are, and where they take a cell.

A number names one: bit 0 mirrors left and right, bit 1 top and bottom, bit 2 exchanges columns and
rows, for square boards only. 0 moves nothing.
"""

import numpy as np

from ..kernel import kernel
from .geometry import MARGIN, STRIDE

SYMMETRIES = 8


@kernel
def image_of(position, cell, symmetry):
    """Return where a symmetry of the board takes a cell."""
    x = (cell & (STRIDE - 1)) - MARGIN
    y = (cell >> 5) - MARGIN
    if symmetry & 1:
        x = np.int64(position.width) - 1 - x
    if symmetry & 2:
        y = np.int64(position.height) - 1 - y
    assert 0 <= x < position.width and 0 <= y < position.height
    if symmetry & 4:
        return (x + MARGIN) * STRIDE + y + MARGIN
    return (y + MARGIN) * STRIDE + x + MARGIN


@kernel
def symmetries_of(position):
    """Return the symmetries, but for 0, that keep the position, as a set of bits."""
    found = 0
    for symmetry in range(1, SYMMETRIES):
        keeps = not symmetry & 4 or position.width == position.height
        at = 0
        while keeps and at < position.ply:  # every stone and wall comes to one of its kind
            cell = np.int64(position.moves[at])
            keeps = position.holds[image_of(position, cell, symmetry)] == position.holds[cell]
            at += 1
        if keeps:
            found |= 1 << symmetry
    return found


@kernel
def has_twin(position, symmetries, moves, count, cell):
    """Return whether one of these symmetries takes a cell to one of the first ``count`` moves."""
    for symmetry in range(1, SYMMETRIES):
        if symmetries >> symmetry & 1:
            image = image_of(position, cell, symmetry)
            for i in range(count):
                if moves[i] == image:
                    return True
    return False
