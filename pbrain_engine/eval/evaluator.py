"""What a search asks about a position: its value, and the scores of its moves.

A search calls these functions and nothing behind them, so that it need not know how a
position is judged: by the linear evaluation alone, or with the network on top of it. An
EVALUATOR is what does not change while a rule is played; it begins with the tables, so its
address serves wherever theirs does. An ACCUMULATOR is what one searching thread keeps beside
its game; nothing happens to it when a stone is put or taken back, but only when something is
asked.
"""

from __future__ import annotations

import numpy as np

from ..kernel import fill_line, kernel, record
from ..patterns.tables import TABLES
from ..position.board import last_move
from ..values import EVAL_LIMIT
from .evaluate import evaluate, move_score, threat_mask
from .network.accumulator import ACCUMULATOR as ACCUMULATOR
from .network.accumulator import NETWORK, bring_up, start_from
from .network.layers import ask_policy, ask_trunk, network_logit, network_value, score_logit

EVALUATOR = record(tables=TABLES, gap=fill_line(TABLES.itemsize), network=NETWORK)


@kernel
def has_network(evaluator):
    """Return whether the rule is played with a network, and so with a policy."""
    return evaluator.network.loaded != 0


@kernel
def begin(accumulator, evaluator, state):
    """Make an accumulator ready for a search that starts from this position.

    It serves as long as no stone below this position changes.
    """
    if has_network(evaluator):
        half = np.int64(evaluator.tables.half)
        start_from(accumulator, evaluator.network, state.position, half)


@kernel
def ask_network(accumulator, evaluator, state):
    """Bring the accumulator to a position and compute what value and policy share."""
    network = evaluator.network
    side = np.int64(state.position.side)
    bring_up(accumulator, network, state.position, np.int64(evaluator.tables.half))
    ask_trunk(accumulator, network, side, threat_mask(state, side))


@kernel
def correct(accumulator, evaluator, state, linear):
    """Return the network's value of a position, given the linear one."""
    ask_network(accumulator, evaluator, state)
    side = np.int64(state.position.side)
    value = network_value(accumulator, evaluator.network, side, linear)
    return min(max(value, -EVAL_LIMIT), EVAL_LIMIT)


@kernel
def judge(accumulator, evaluator, state):
    """Return the value of a position for the side to move, within +-EVAL_LIMIT."""
    linear = evaluate(state, evaluator.tables)
    if has_network(evaluator):
        return correct(accumulator, evaluator, state, linear)
    return linear


@kernel
def judge_near(accumulator, evaluator, state, alpha, beta, margin):
    """Return the value of a position; the linear one where it is ``margin`` off the window."""
    linear = evaluate(state, evaluator.tables)
    if has_network(evaluator) and alpha - margin < linear < beta + margin:
        return correct(accumulator, evaluator, state, linear)
    return linear


@kernel
def ask_moves(accumulator, evaluator, state):
    """Make ready to be asked for the logits of the moves of a position."""
    ask_network(accumulator, evaluator, state)
    ask_policy(accumulator, evaluator.network, np.int64(state.position.side))


@kernel
def logit_of(accumulator, evaluator, state, cell, score):
    """Return the policy's logit of a move, in 256ths; ``ask_moves`` has come before.

    ``score``: the linear one (``score_of``).
    """
    position = state.position
    side = np.int64(position.side)
    return network_logit(
        accumulator,
        evaluator.network,
        side,
        cell,
        score,
        last_move(position, 1),
        last_move(position, 2),
    )


@kernel
def linear_logit(evaluator, side, score):
    """Return what a linear score adds to a logit, in 256ths."""
    return score_logit(evaluator.network.heads[side], score)


@kernel
def score_of(evaluator, state, side, cell):
    """Return the linear ordering score of a move."""
    return move_score(state, evaluator.tables, side, cell)
