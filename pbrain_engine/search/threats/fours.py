"""The moves of the search by fours: attacks in the order to try them, and the answers to a four."""

from __future__ import annotations

import numpy as np

from ...bits import U64, lowest_bit
from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.forbidden import foul
from ...patterns.state import class_at, count_of, first_of, sets_of
from ...position.board import last_move
from ...position.geometry import NO_CELL, STRIDE
from .defence import clear_marks, closes_rows, four_cells, makes_four, mark_killers, may_foul
from .memory import cell_in, list_marks, listed


@kernel
def closeness(cell, other):
    """Return how near two cells are: 3 next to each other, down to 0 out of reach."""
    dx = abs((cell & (STRIDE - 1)) - (other & (STRIDE - 1)))
    dy = abs((cell >> 5) - (other >> 5))
    far = max(dx, dy)
    if far > 4 or (far > 2 and dx != dy and dx != 0 and dy != 0):
        return 0
    return 3 if far == 1 else (2 if far <= 2 else 1)


@kernel
def last_stone(position, side):
    """Return the cell of a side's last stone, if it is one of the last two; else NO_CELL."""
    cell = last_move(position, 1)
    if cell != NO_CELL and position.holds[cell] != side:
        cell = last_move(position, 2)
    return cell


@kernel
def note_four(threats, side, cell, at):
    """Write a four to the move list, with its place in the order."""
    last = last_stone(threats.state.position, side)
    score = class_at(threats.state, side, cell) * 4
    if last != NO_CELL:
        score += closeness(cell, last)
    threats.moves[at] = listed(cell, score)


@kernel
def list_attacks(threats, tables, first):
    """List from ``first`` on the fours that the side to move has to try; return the end.

    Against a five of the enemy only a four that stops it. No own five can be made.
    """
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    fives = count_of(state, enemy, s.MAKES_FIVE)
    end = first
    if fives > 0 and not closes_rows(tables):
        cell = first_of(state, enemy, s.MAKES_FIVE)
        if fives == 1 and makes_four(state, tables, side, cell):
            note_four(threats, side, cell, end)
            end += 1
        return end
    if fives > 0:
        clear_marks(threats)
        mark_killers(threats, tables, s.MAKES_FIVE)
    for word in sets_of(state):
        cells = four_cells(state, tables, side, word)
        if fives > 0:
            cells &= threats.marks[word]
        while cells != U64(0):
            note_four(threats, side, word * 64 + lowest_bit(cells), end)
            cells &= cells - U64(1)
            end += 1
    return end


@kernel
def pick_attack(threats, first, end):
    """Move the best of a list to its beginning and return its cell."""
    best = first
    for i in range(first + 1, end):
        if threats.moves[i] > threats.moves[best]:
            best = i
    packed = threats.moves[best]
    threats.moves[best] = threats.moves[first]
    threats.moves[first] = packed
    return cell_in(packed)


@kernel
def list_blocks(threats, tables, first):
    """List the legal answers of the side to move, who has no five, to a five; return the end."""
    state = threats.state
    side = np.int64(state.position.side)
    enemy = 1 - side
    end = first
    if not closes_rows(tables):
        if count_of(state, enemy, s.MAKES_FIVE) == 1:
            cell = first_of(state, enemy, s.MAKES_FIVE)
            if not (may_foul(tables, side) and foul(state, tables, cell) == 1):
                threats.moves[end] = cell
                end += 1
        return end
    clear_marks(threats)
    mark_killers(threats, tables, s.MAKES_FIVE)
    return list_marks(threats, first)
