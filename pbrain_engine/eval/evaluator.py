"""The evaluation interface of the search: values of positions and scores of moves.

The linear evaluation adds one number for the combination of each empty cell and side, and one for
the threat mask. If a rule has a network, it builds on the linear evaluation.

A search calls only these functions, so it does not depend on how positions are evaluated. An
EVALUATOR is constant for a rule and its weights; it begins with the tables, so its address can be
used as theirs. An ACCUMULATOR belongs to one search thread, next to its game; it is not updated
when a stone is put or taken back, only when a value or policy is requested.
"""

import numpy as np

from ..kernel import fill_line, kernel, record
from ..patterns import shapes as s
from ..patterns.forbidden import is_allowed
from ..patterns.shapes import COMBINATIONS
from ..patterns.state import class_at, count_of, entry_of
from ..patterns.tables import (
    CELL_CODES,
    TABLES,
    THREAT_MASKS,
    class_in,
    combination_in,
    pack_entry,
)
from ..position.board import contains, last_move
from ..position.geometry import MARGIN, PADDED_CELLS, STRIDE
from ..position.rules import BLACK
from ..values import EVAL_LIMIT
from .network.accumulator import ACCUMULATOR as ACCUMULATOR
from .network.accumulator import NETWORK, bring_up, start_from
from .network.layers import ask_policy, ask_trunk, network_logit, network_value, score_logit

# The threat mask of the side to move, lowest bit first: enemy five; winning four, own and
# enemy; own four with a three or more, own plain four, own double or stronger three, own
# three; and the same four of the enemy.
ENEMY_WINNING_FOUR = 4

MOST_BY_FOULS = 1000  # white's gain on a full board from a cell that black may not play on

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
    """Return the mask of the kinds of threats on the board, for the side to move."""
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
def gain_by_fouls(state, tables):
    """Return white's gain from cells that black may not play on: what is left to black at the end.

    White need not play there. If such a cell is left (two where white has the last move on the
    board), black is without a move before the board is full, and loses. It counts from a board that
    is half full, and MOST_BY_FOULS at its end.
    """
    if tables.fouls == 0:
        return np.int64(0)
    cells = np.int64(state.position.width) * state.position.height
    late = 2 * np.int64(state.position.ply) - cells
    if late <= 0 or count_of(state, BLACK, s.MAKES_FOUL) < 2 - (cells & 1):
        return np.int64(0)
    return MOST_BY_FOULS * late // cells


@kernel
def evaluate(state, tables):
    """Return the value for the side to move, within +-EVAL_LIMIT.

    The cell values are averaged over the last two plies, which removes most of the swing between
    the sides' turns; the threat mask adds the value of the turn.
    """
    side = state.position.side
    ply = state.position.ply
    total = np.int64(state.sums[ply])
    if ply > 0:
        total = (total + state.sums[ply - 1]) >> 1
    total -= gain_by_fouls(state, tables)
    if side != BLACK:
        total = -total
    total += tables.threats[side, threat_mask(state, side)]
    return min(max(total, -EVAL_LIMIT), EVAL_LIMIT)


@kernel
def move_score(state, tables, side, cell):
    """Return the ordering score of a move, for the shapes it makes and those it prevents."""
    own = combination_in(entry_of(state.entries[cell], side))
    enemy = combination_in(entry_of(state.entries[cell], 1 - side))
    return np.int64(tables.scores[side, 0, own]) + np.int64(tables.scores[side, 1, enemy])


# With a network ----------------------------------------------------------------------

EVALUATOR = record(tables=TABLES, gap=fill_line(TABLES.itemsize), network=NETWORK)


@kernel
def has_network(evaluator):
    """Return whether the rule has a network, and so a policy."""
    return evaluator.network.loaded != 0


@kernel
def begin(accumulator, evaluator, state):
    """Prepare an accumulator for a search from this position.

    It stays valid as long as the stones of this position do not change.
    """
    if has_network(evaluator):
        half = np.int64(evaluator.tables.half)
        start_from(accumulator, evaluator.network, state.position, half)


@kernel
def ask_network(accumulator, evaluator, state, whole):
    """Bring the accumulator to a position and compute the trunk, shared by value and policy.

    ``whole``: bring it up completely, as the policy requires.
    """
    network = evaluator.network
    side = np.int64(state.position.side)
    bring_up(accumulator, network, state.position, np.int64(evaluator.tables.half), whole)
    ask_trunk(accumulator, network, side, threat_mask(state, side))


@kernel
def judge_near(accumulator, evaluator, state, alpha, beta, margin):
    """Return the value of a position; the linear one if that is ``margin`` outside the window."""
    linear = evaluate(state, evaluator.tables)
    if not has_network(evaluator) or not alpha - margin < linear < beta + margin:
        return linear
    ask_network(accumulator, evaluator, state, False)
    side = np.int64(state.position.side)
    value = network_value(accumulator, evaluator.network, side, linear)
    return min(max(value, -EVAL_LIMIT), EVAL_LIMIT)


@kernel
def judge(accumulator, evaluator, state):
    """Return the value of a position for the side to move, within +-EVAL_LIMIT."""
    return judge_near(accumulator, evaluator, state, -EVAL_LIMIT, EVAL_LIMIT, 1)


@kernel
def ask_moves(accumulator, evaluator, state):
    """Prepare the accumulator for ``logit_of`` on the moves of a position."""
    ask_network(accumulator, evaluator, state, True)
    ask_policy(accumulator, evaluator.network, np.int64(state.position.side))


@kernel
def logit_of(accumulator, evaluator, state, cell, score):
    """Return the policy's logit of a move, in 256ths, after ``ask_moves``.

    ``score``: the linear score (``move_score``).
    """
    side, network = np.int64(state.position.side), evaluator.network
    enemy_last, own_last = last_move(state.position, 1), last_move(state.position, 2)
    return network_logit(accumulator, network, side, cell, score, enemy_last, own_last)


@kernel
def linear_logit(evaluator, side, score):
    """Return the contribution of a linear score to a logit, in 256ths."""
    return score_logit(evaluator.network.heads[side], score)


# Without a search, for when there is no time -------------------------------------------


@kernel
def urgency(state, side, cell):
    """Return a bonus for urgent cells: fives, then winning fours, own before enemy ones."""
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
    """Return the best legal cell by static scores, or 0 if every empty cell is forbidden.

    Cells near stones are preferred; of equal cells, the one nearest to the centre wins. On an empty
    board this is the centre.
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
