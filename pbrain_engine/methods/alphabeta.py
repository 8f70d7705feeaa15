"""Alpha-beta: minimax without the moves that cannot change the answer.

Russell and Norvig, *Artificial Intelligence: A Modern Approach*, "Adversarial Search", the figure
of alpha-beta search; Knuth and Moore (1975) analyse its savings. Alpha is the value MAX is sure of
so far, beta the value MIN is sure of. A position worth at least beta will be avoided by MIN and
needs no further search. The result is the same as minimax's.

Cost: between b**(d/2) positions, if the best move always comes first, and b**d; so moves are tried
in order of promise.
"""

from __future__ import annotations

from random import Random

from .board import Budget, Choice, PlainGame
from .evaluation import order_actions
from .minimax import Found, Minimax

DEPTH = 3
INFINITE = float("inf")


class AlphaBetaTree(Minimax):
    """The functions of the figure; MAX, cutoff and evaluation are inherited from minimax."""

    def reply_value(self, best: float, depth: int) -> Found:
        """Return the value after a move at the root, exact if it is above ``best``."""
        return self.min_within(best, INFINITE, depth)

    def max_within(self, alpha: float, beta: float, depth: int) -> Found:
        """Return the value of a position in which MAX moves, exact between alpha and beta."""
        if self.is_cutoff(depth):
            return self.evaluate(), ()
        best: Found = (-INFINITE, ())
        for move in order_actions(self.game):
            self.game.play(move)
            found, line = self.min_within(alpha, beta, depth - 1)
            self.game.undo()
            if found > best[0]:
                best = found, (move, *line)
                alpha = max(alpha, found)
            if best[0] >= beta:
                break
        return best

    def min_within(self, alpha: float, beta: float, depth: int) -> Found:
        """Return the value of a position in which MIN moves, exact between alpha and beta."""
        if self.is_cutoff(depth):
            return self.evaluate(), ()
        best: Found = (INFINITE, ())
        for move in order_actions(self.game):
            self.game.play(move)
            found, line = self.max_within(alpha, beta, depth - 1)
            self.game.undo()
            if found < best[0]:
                best = found, (move, *line)
                beta = min(beta, found)
            if best[0] <= alpha:
                break
        return best


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Search to a fixed depth; if time runs out, return the best of the moves searched."""
    return AlphaBetaTree(game, limit).search(order_actions(game), limit.depth or DEPTH)
