"""What a search asks about a position: its value, and the scores of its moves.

A search calls these functions and nothing behind them, so that it need not know how a
position is judged. An EVALUATOR is what does not change while a rule is played; it begins
with the tables, so its address serves wherever theirs does. An ACCUMULATOR is what one
searching thread keeps beside its game; nothing happens to it when a stone is put or taken
back, but only when something is asked.
"""

from __future__ import annotations

import numpy as np

from ..kernel import kernel, record
from ..patterns.tables import TABLES
from .evaluate import evaluate, move_score

EVALUATOR = record(tables=TABLES)
ACCUMULATOR = record(root=np.int64)  # stones on the board when the search began


@kernel
def begin(accumulator, evaluator, state):
    """Make an accumulator ready for a search that starts from this position."""
    accumulator.root = np.int64(state.position.ply)


@kernel
def judge(accumulator, evaluator, state):
    """Return the value of a position for the side to move, within +-EVAL_LIMIT."""
    return evaluate(state, evaluator.tables)


@kernel
def judge_near(accumulator, evaluator, state, alpha, beta):
    """Return the value of a position; a rougher one where it lies far outside of the window."""
    return evaluate(state, evaluator.tables)


@kernel
def score_of(accumulator, evaluator, state, side, cell):
    """Return the ordering score of a move of the side to move."""
    return move_score(state, evaluator.tables, side, cell)
