"""One thread of the tree search: its path, its move list, and what it asks of an evaluator.

The board that it plays on is the one of its threat searches (``threats.memory``), so that a
leaf can ask for a win by fours where it stands.
"""

from __future__ import annotations

import numpy as np

from ...eval.evaluator import (
    ACCUMULATOR,
    ask_moves,
    begin,
    has_network,
    judge,
    logit_of,
    score_of,
)
from ...kernel import kernel, record
from ...patterns.state import play, undo
from ...position.board import SETS
from ...position.geometry import MAX_STONES

MAX_PATH = MAX_STONES + 2
LOGIT_UNIT = 256  # points of a network's logit that make a move e times likelier

WALKER = record(
    accumulator=ACCUMULATOR,  # first, for it begins with a cache line
    moves=(np.int64, MAX_STONES),  # moves[:count] of a position: score * 2**16 + cell
    priors=(np.int64, MAX_STONES),  # and their shares of the policy, of UNIT
    taken=(np.uint64, SETS),  # moves that are on the node's lists already
    key=np.uint64,  # of the position at the end of the path
    depth=np.int64,  # edges of the path
    line_end=np.int64,  # line[:line_end] is on the board, beyond the root
    count=np.int64,
    listing=np.int64,  # WHOLE if the list is all that matters
    least=np.int64,  # plies that a loss takes at least, where moves were left out
    proof=np.int64,  # what the last judgement has proven
    side=np.int64,  # to move at the root
    visits=np.int64,  # since the search began
    judged=np.int64,  # positions judged since then
    seldepth=np.int64,
    order=(np.int32, MAX_STONES),  # the root's edges, best first
    nodes=(np.int32, MAX_PATH),  # nodes[k] and edges[k]: what the path passes at ply k
    edges=(np.int32, MAX_PATH),
    cells=(np.int32, MAX_PATH),  # the moves of the path
    line=(np.int32, MAX_PATH),
)


@kernel
def cell_in(packed):
    """Return the cell of a packed move."""
    return packed & 0xFFFF


@kernel
def score_in(packed):
    """Return the score of a packed move."""
    return packed >> 16


@kernel
def follow(walker, threats, tables, depth):
    """Bring the board to the first ``depth`` moves of the path, from wherever it stands.

    Visits that follow each other mostly share the beginning of their paths.
    """
    same = 0
    most = min(depth, walker.line_end)
    while same < most and walker.line[same] == walker.cells[same]:
        same += 1
    while walker.line_end > same:
        undo(threats.state, tables)
        walker.line_end -= 1
    while walker.line_end < depth:
        step(walker, threats, tables, np.int64(walker.cells[walker.line_end]))


@kernel
def step(walker, threats, tables, cell):
    """Play a move on the board."""
    play(threats.state, tables, cell)
    walker.line[walker.line_end] = cell
    walker.line_end += 1


# What it asks of the evaluator: with a network all comes from it, else from the linear evaluation
# and the learned scores. Nothing else in the search knows which it is.


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
