"""The value of a position without search, and the score of a move without search."""

from __future__ import annotations

import numpy as np

from ..kernel import kernel
from ..patterns import shapes as s
from ..patterns.state import count_of
from ..patterns.tables import combination_in
from ..position.rules import BLACK
from ..values import EVAL_LIMIT

# The threat mask of the side to move, lowest bit first: enemy five; winning four, own and
# enemy; own four with a three or more, own plain four, own double or stronger three, own
# three; and the same four of the enemy.
MASK_BITS = 11


@kernel
def threat_mask(state, side):
    """Return which kinds of threat exist on the board, seen by the side to move."""
    enemy = 1 - side
    mask = 1 if count_of(state, enemy, s.MAKES_FIVE) else 0
    mask |= 2 if count_of(state, side, s.MAKES_WINNING_FOUR) else 0
    mask |= 4 if count_of(state, enemy, s.MAKES_WINNING_FOUR) else 0
    bit = 8
    for i in range(2):
        who = side if i == 0 else enemy
        strong = count_of(state, who, s.MAKES_FOUR_THREE) + count_of(state, who, s.MAKES_FOUR_PLUS)
        double = count_of(state, who, s.MAKES_TWO_THREES) + count_of(state, who, s.MAKES_THREE_PLUS)
        mask |= bit if strong else 0
        mask |= 2 * bit if count_of(state, who, s.MAKES_FOUR) else 0
        mask |= 4 * bit if double else 0
        mask |= 8 * bit if count_of(state, who, s.MAKES_THREE) else 0
        bit *= 16
    return mask


@kernel
def evaluate(state, tables):
    """Return the value for the side to move, within +-EVAL_LIMIT.

    The cell values are averaged over the last two plies, which takes out most of the
    swing between the sides' turns; the threat mask adds what the turn is worth.
    """
    side = state.position.side
    ply = state.position.ply
    total = np.int64(state.sums[ply])
    if ply > 0:
        total = (total + state.sums[ply - 1]) >> 1
    if side != BLACK:
        total = -total
    total += tables.threats[side, threat_mask(state, side)]
    return min(max(total, -EVAL_LIMIT), EVAL_LIMIT)


@kernel
def move_score(state, tables, side, cell):
    """Return the ordering score of a move: what it makes and what it takes away."""
    own = combination_in(state.entries[side, cell])
    enemy = combination_in(state.entries[1 - side, cell])
    return np.int64(tables.scores[side, 0, own]) + np.int64(tables.scores[side, 1, enemy])
