"""A sensible move without any search, for when there is no time at all."""

import numpy as np

from ..kernel import kernel
from ..patterns import shapes as s
from ..patterns.forbidden import is_allowed
from ..patterns.state import class_at
from ..position.board import contains
from ..position.geometry import MARGIN, PADDED_CELLS, STRIDE
from .evaluator import move_score


@kernel
def urgency(state, side, cell):
    """Return what a cell is worth before any score: fives, then winning fours, own ones first."""
    own = class_at(state, side, cell)
    enemy = class_at(state, 1 - side, cell)
    if own == s.MAKES_FIVE:
        return 1 << 33
    if enemy == s.MAKES_FIVE:
        return 1 << 32
    if own == s.MAKES_WINNING_FOUR:
        return 1 << 31
    return 1 << 30 if enemy == s.MAKES_WINNING_FOUR else 0


@kernel
def quick_move(state, tables):
    """Return the best legal cell at a glance, or 0 if every empty cell is forbidden.

    Near the stones, if that can be; on an empty board the centre. Of equal cells the one
    nearest to the centre.
    """
    position = state.position
    side = np.int64(position.side)
    middle_x = MARGIN + np.int64(position.width) // 2
    middle_y = MARGIN + np.int64(position.height) // 2
    best = 0
    for attempt in range(2):
        best_score = -(1 << 40)
        for cell in range(PADDED_CELLS):
            if attempt == 0 and not contains(state.near[position.ply], cell):
                continue
            far = abs((cell & (STRIDE - 1)) - middle_x) + abs((cell >> 5) - middle_y)
            score = urgency(state, side, cell) - far
            if position.ply > 0:
                score += move_score(state, tables, side, cell) * 64
            if score > best_score and is_allowed(state, tables, cell):
                best = cell
                best_score = score
        if best != 0:
            break
    return best
