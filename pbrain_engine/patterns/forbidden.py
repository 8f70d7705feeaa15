"""Renju: whether black may play on a cell.

The tables say where black *may* commit a foul (class MAKES_FOUL). Overlines and double fours are
always fouls. In a double three, a three counts only if one more stone, on a cell that is itself
allowed and makes no five elsewhere, turns it into an open four; so the stone is tried on the board
and the question asked recursively.
"""

from ..kernel import kernel, recursive_kernel
from ..position.board import line_key, step_of
from ..position.geometry import NO_CELL, PADDED_CELLS
from ..position.rules import BLACK, EMPTY
from . import shapes as s
from .state import STATE, class_at, code_of, place, take_back
from .tables import TABLES, line_shape_of, shape_in, with_stone


@kernel
def neighbour_cell(cell, half, direction, number):
    """Return the cell of a window's neighbour number, 0 to 2 * half - 1."""
    offset = number - half if number < half else number - half + 1
    return cell + offset * step_of(direction)


@kernel
def is_three(shape):
    """Return whether a line shape is an open three."""
    return shape == s.OPEN_THREE or shape == s.OPEN_THREE_FREE


@kernel
def has_foul_line(code):
    """Return whether a code is an overline or two fours, a foul in any case."""
    fours = 0
    for direction in range(4):
        shape = shape_in(code, direction)
        if shape == s.OVERLINE:
            return True
        fours += shape == s.FOUR or shape == s.OPEN_FOUR
    return fours > 1


@recursive_kernel(STATE, TABLES, int)
def foul(state, tables, cell):
    """Return 1 if a black stone on this empty cell is a foul, 0 if it is allowed."""
    if class_at(state, BLACK, cell) != s.MAKES_FOUL:
        return 0
    code = code_of(state.shapes[cell], BLACK)
    if has_foul_line(code):
        return 1
    half = tables.half
    live = 0
    left = 0  # threes not checked yet
    for direction in range(4):
        left += is_three(shape_in(code, direction))
    place(state, tables, cell, BLACK)
    for direction in range(4):
        if not is_three(shape_in(code, direction)):
            continue
        if live + left < 2:
            break
        left -= 1
        key = line_key(state.position.lines, cell, direction, half)
        for number in range(2 * half):
            if (key >> (2 * number)) & 3 != 3:
                continue
            after = with_stone(key, number, BLACK)
            if line_shape_of(tables, after, BLACK) != s.OPEN_FOUR:
                continue
            other = neighbour_cell(cell, half, direction, number)
            if class_at(state, BLACK, other) == s.MAKES_FIVE:
                continue
            if foul(state, tables, other) == 0:
                live += 1
                break
    take_back(state, tables)
    return 1 if live > 1 else 0


@kernel
def is_forbidden(state, tables, cell):
    """Return whether this empty cell is forbidden to the side to move."""
    if tables.fouls == 0 or state.position.side != BLACK:
        return False
    return foul(state, tables, cell) == 1


@kernel
def is_allowed(state, tables, cell):
    """Return whether the side to move may play on a cell: empty, and no foul."""
    return state.position.holds[cell] == EMPTY and not is_forbidden(state, tables, cell)


@kernel
def first_allowed(state, tables):
    """Return the first cell that the side to move may play on, or NO_CELL."""
    for cell in range(PADDED_CELLS):
        if is_allowed(state, tables, cell):
            return cell
    return NO_CELL
