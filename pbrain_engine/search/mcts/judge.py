"""What the tree search asks of an evaluator, in one place: values, and scores of moves.

Whatever evaluates positions has to answer these two questions, and nothing else in the
search knows which evaluator it is.
"""

from __future__ import annotations

import numpy as np

from ...eval.evaluate import evaluate, move_score
from ...kernel import kernel
from .walker import cell_in


@kernel
def judge_value(threats, tables):
    """Return the value of the position on the board for the side to move (``values.py``)."""
    return evaluate(threats.state, tables)


@kernel
def judge_moves(walker, threats, tables):
    """Give each listed move its score: logarithms of the policy, times the temperature."""
    state = threats.state
    side = np.int64(state.position.side)
    for i in range(walker.count):
        cell = cell_in(walker.moves[i])
        walker.moves[i] = move_score(state, tables, side, cell) * 65536 + cell
