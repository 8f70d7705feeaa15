"""UCT with knowledge: a heuristic tells the tree which moves are likely to be good.

Chaslot et al., "Progressive Strategies for Monte-Carlo Tree Search" (2008), and Gelly and Silver
(2007) on knowledge in UCT. *Progressive bias* adds to the bound of a move its heuristic score
divided by its visits, which dominates at first and fades. The simulated games are not quite
random: a side completes a five if it can, else stops one if it must, else plays near stones. In
the tree, too, nodes with such a five have no other moves.

Cost: a simulated move takes several times as long as a random one, and is worth it.
"""

from __future__ import annotations

from math import log
from random import Random

from .board import Budget, Choice, PlainGame
from .evaluation import promise
from .uct import UCT, Node

BIAS = 1.0  # weight of the heuristic
LONGEST = 30  # simulated moves until a game counts as drawn


class KnowingUCT(UCT):
    """UCT with progressive bias, and simulated games that see fives."""

    def urgent(self) -> list[int]:
        """Return the cells that complete a five, else those that stop one."""
        game = self.game
        for side in (game.to_move, 1 - game.to_move):
            if cells := [cell for cell in game.five_cells(side) if game.is_legal(cell)]:
                return cells
        return []

    def moves(self, node: Node) -> list[int]:
        """Return the moves of a node, the most promising last, as it is tried first."""
        return sorted(self.urgent() or self.game.actions(), key=lambda c: promise(self.game, c))

    def expand(self, node: Node) -> Node:
        """Add a move with its heuristic score: 0 to 1, by order of magnitude."""
        prior = log(1 + promise(self.game, node.untried[-1])) / 12 if node.untried else 0.0
        child = super().expand(node)
        if child is not node:
            child.prior = prior
        return child

    def upper_bound(self, child: Node) -> float:
        """Return UCB1 with progressive bias."""
        return super().upper_bound(child) + BIAS * child.prior / (child.visits + 1)

    def simulate(self) -> int | None:
        """Play on near stones, completing and stopping fives; return the winner."""
        game = self.game
        for _ in range(LONGEST):
            if game.is_over():
                break
            moves = self.urgent() or game.actions()
            if not moves:
                return 1 - game.to_move  # only forbidden moves are left
            game.play(self.rng.choice(moves))
        return game.winner


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the most visited move, with its mean as the value."""
    return KnowingUCT(game, limit, rng).choice()
