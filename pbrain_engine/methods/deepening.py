"""Iterative deepening: search to depth 1, then 2, then 3, until time is up.

Slate and Atkin, "Chess 4.5" (1977); Korf (1985) for trees in general. The time of a search to a
fixed depth is hard to foresee. Searching all depths in turn costs little more than the last alone,
there is an answer at any time, and each search tells the next which move to try first, which gives
alpha-beta the most cutoffs.

Cost: with b moves per position, the searches before the last take about 1/(b-1) of its time.
"""

from __future__ import annotations

from random import Random

from .alphabeta import AlphaBetaTree
from .board import Budget, Choice, PlainGame
from .evaluation import WIN, order_actions

DEEPEST = 20


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the best move of the deepest search, complete or not."""
    tree, moves = AlphaBetaTree(game, limit), order_actions(game)
    best = tree.search(moves, 1)
    for depth in range(2, (limit.depth or DEEPEST) + 1):
        if abs(best.value) > WIN // 2:
            break
        # The last best move is searched first, so the best of an incomplete search is either
        # better or the same move.
        moves = [best.move, *(move for move in moves if move != best.move)]
        best = tree.search(moves, depth, best)
    return best
