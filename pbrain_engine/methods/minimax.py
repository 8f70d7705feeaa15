"""Minimax: try every move, every reply, every reply to that.

Russell and Norvig, *Artificial Intelligence: A Modern Approach*, "Adversarial Search", the figure
of minimax search; the idea is von Neumann's (1928). MAX plays the move with the greatest value, MIN
the move with the least, and the value of a position is that of its best move; a side without a
legal move has lost. As games are long, the search is cut off at a depth and an evaluation replaces
the result.

Cost: with b moves per position and depth d, b**d positions; b is 30 to 100 here.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

from .board import Budget, Choice, NodeCounter, PlainGame
from .evaluation import order_actions, value

DEPTH = 2

Found = tuple[float, tuple[int, ...]]  # the value for MAX, and the line that leads to it


class Minimax:
    """The functions of the figure, for one player: MAX is the side to move at the root."""

    def __init__(self, game: PlainGame, limit: Budget) -> None:
        self.game, self.player, self.effort = game, game.to_move, NodeCounter(limit)

    def max_value(self, depth: int) -> Found:
        """Return the value of a position in which MAX moves."""
        if self.is_cutoff(depth):
            return self.evaluate(), ()
        best: Found = (float("-inf"), ())
        for move in self.game.actions():
            self.game.play(move)
            found, line = self.min_value(depth - 1)
            self.game.undo()
            if found > best[0]:
                best = found, (move, *line)
        return best

    def min_value(self, depth: int) -> Found:
        """Return the value of a position in which MIN moves."""
        if self.is_cutoff(depth):
            return self.evaluate(), ()
        best: Found = (float("inf"), ())
        for move in self.game.actions():
            self.game.play(move)
            found, line = self.max_value(depth - 1)
            self.game.undo()
            if found < best[0]:
                best = found, (move, *line)
        return best

    def reply_value(self, best: float, depth: int) -> Found:
        """Return the value after a move at the root, where MAX already has ``best``."""
        return self.min_value(depth)

    def search(self, moves: list[int], depth: int, known: Choice | None = None) -> Choice:
        """Search moves in order; return the best, or what is known if there is time for none."""
        best, value = known or Choice(moves[0], 0, 0, (moves[0],)), float("-inf")
        with self.game.kept(), suppress(TimeoutError):
            for move in moves:
                self.game.play(move)
                found, line = self.reply_value(value, depth - 1)
                self.game.undo()
                if found > value:
                    best, value = Choice(move, found, 0, (move, *line)), found
        return best._replace(nodes=self.effort.nodes)

    def is_cutoff(self, depth: int) -> bool:
        """Count the position; return whether to stop searching here."""
        self.effort.spend()
        return depth == 0 or self.game.is_over()

    def evaluate(self) -> float:
        """Return the value for MAX of a position at the end of the search."""
        return value(self.game, self.player)


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Search to a fixed depth; if time runs out, return the best of the moves searched."""
    return Minimax(game, limit).search(order_actions(game), limit.depth or DEPTH)
