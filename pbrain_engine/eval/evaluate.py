"""The linear evaluation: values of positions, scores of moves, and the features they are made of.

The value is linear in its weights: it adds one number for the combination of each empty cell and
side, and one for the threat mask.
"""

from __future__ import annotations

import numpy as np

from ..kernel import kernel, record
from ..kernel.bits import U64, lowest_bit
from ..patterns import shapes as s
from ..patterns.shapes import COMBINATIONS
from ..patterns.state import count_of, sets_of
from ..patterns.tables import CELL_CODES, THREAT_MASKS, class_in, combination_in, pack_entry
from ..position.board import contains
from ..position.geometry import MARGIN, STRIDE
from ..position.rules import BLACK, WHITE
from ..values import EVAL_LIMIT

# The threat mask of the side to move, lowest bit first: enemy five; winning four, own and
# enemy; own four with a three or more, own plain four, own double or stronger three, own
# three; and the same four of the enemy.
MASK_BITS = 11

# The numbers of one rule family.
WEIGHTS = record(
    values=(np.int16, (2, COMBINATIONS)),  # side, combination -> what an empty cell adds
    threats=(np.int16, (2, THREAT_MASKS)),  # side to move, mask -> value for that side
    scores=(np.int16, (2, 2, COMBINATIONS)),  # side to move, own or enemy combination -> order
)


@kernel
def apply_weights(tables, weights):
    """Write the weights of a rule family into the tables of a rule."""
    for side in range(2):
        for code in range(CELL_CODES):
            entry = tables.cells[side, code]
            combination = combination_in(entry)
            value = np.int64(weights.values[side, combination])
            tables.cells[side, code] = pack_entry(value, combination, class_in(entry))
        for mask in range(THREAT_MASKS):
            tables.threats[side, mask] = weights.threats[side, mask]
        for whose in range(2):
            for combination in range(COMBINATIONS):
                score = weights.scores[side, whose, combination]
                tables.scores[side, whose, combination] = score


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


ENEMY_WINNING_FOUR = 4  # a bit of the threat mask


@kernel
def write_features(state, out):
    """Write the threat mask, then cell, black's and white's combination and nearness of each cell.

    Only empty cells count. Returns how many numbers were written.
    """
    position = state.position
    out[0] = threat_mask(state, position.side)
    end = 1
    for word in sets_of(state):
        cells = position.empties[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            out[end] = cell
            out[end + 1] = combination_in(state.entries[BLACK, cell])
            out[end + 2] = combination_in(state.entries[WHITE, cell])
            out[end + 3] = 1 if contains(state.near[position.ply], cell) else 0
            end += 4
    return end


@kernel
def write_lesson(state, tables, fours, near, scores, end):
    """Write which cells a search looks at, as bits, and their linear scores from a place on.

    Cells near stones; where the enemy threatens a winning four those where a side makes a
    four (``fours``, by combination), which is nearly what answers it. Returns the scores' end.
    """
    position = state.position
    side = np.int64(position.side)
    urgent = threat_mask(state, side) & ENEMY_WINNING_FOUR != 0
    for i in range(64):
        near[i] = 0
    for word in sets_of(state):
        cells = position.empties[word] & state.near[position.ply, word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if urgent:
                black = combination_in(state.entries[BLACK, cell])
                white = combination_in(state.entries[WHITE, cell])
                if fours[black] == 0 and fours[white] == 0:
                    continue
            flat = (cell // STRIDE - MARGIN) * np.int64(position.width) + cell % STRIDE - MARGIN
            near[flat >> 3] |= np.uint8(1 << (flat & 7))
            scores[end] = move_score(state, tables, side, cell)
            end += 1
    return end
