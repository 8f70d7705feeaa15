"""What the tree search asks of an evaluator, in one place: values, and scores of moves.

With a network both come from it, else from the linear evaluation and the learned scores;
nothing else in the search knows which it is.
"""

from __future__ import annotations

import numpy as np

from ...eval.evaluator import ask_moves, begin, has_network, judge, logit_of, score_of
from ...kernel import kernel
from .walker import cell_in

LOGIT_UNIT = 256  # points of a network's logit that make a move e times likelier


@kernel
def begin_judging(walker, threats, evaluator):
    """Make ready to judge positions that begin with the one on the board."""
    begin(walker.accumulator, evaluator, threats.state)


@kernel
def judge_value(walker, threats, evaluator):
    """Return the value of the position on the board for the side to move (``values.py``)."""
    return np.int64(judge(walker.accumulator, evaluator, threats.state))


@kernel
def judge_moves(walker, threats, evaluator):
    """Give each listed move its score: logarithms of the policy, times ``score_unit``."""
    state = threats.state
    side = np.int64(state.position.side)
    network = has_network(evaluator)
    if network:
        ask_moves(walker.accumulator, evaluator, state)
    for i in range(walker.count):
        cell = cell_in(walker.moves[i])
        score = np.int64(score_of(evaluator, state, side, cell))
        if network:
            score = np.int64(logit_of(walker.accumulator, evaluator, state, cell, score))
        walker.moves[i] = score * 65536 + cell


@kernel
def score_unit(evaluator, params):
    """Return how many points of score make a move e times likelier."""
    if has_network(evaluator):
        return max(LOGIT_UNIT * np.int64(params.mcts_policy) // 100, 1)
    return np.int64(params.mcts_temperature)


@kernel
def doubt_of(evaluator, params):
    """Return the scale of evaluations in percent of that of searches."""
    return np.int64(params.mcts_trust if has_network(evaluator) else params.mcts_doubt)
