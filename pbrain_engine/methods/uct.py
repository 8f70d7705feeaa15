"""UCT: Monte Carlo tree search that knows nothing but the rules of the game.

Kocsis and Szepesvári, "Bandit Based Monte-Carlo Planning" (2006). Four steps are repeated:
*select* a path down the tree, at each node the move with the greatest mean result plus bonus for
few visits (UCB1); *expand* the tree by one move; *simulate* a random game from there to its end;
*back up* its result. The most visited move is played. In the limit, the means converge to minimax.

Cost: a random game per visit, some hundredths of a second on a large board.
"""

from __future__ import annotations

from math import log, sqrt
from random import Random

from ..position.rules import EMPTY
from .board import Budget, Choice, NodeCounter, PlainGame

VISITS = 2000  # if no limit is given


class Node:
    """A move in the tree: its visits, and its results for the side that played it."""

    def __init__(self, move: int, parent: Node | None) -> None:
        self.move, self.parent = move, parent
        self.children: list[Node] = []
        self.untried: list[int] | None = None  # moves without a node; None: not listed yet
        self.visits, self.total = 0, 0.0
        self.prior = 0.0  # heuristic score, for ``knowledge.py``

    @property
    def mean(self) -> float:
        """The mean result for the side that played the move: 1 won, 0 lost."""
        return self.total / self.visits


class UCT:
    """A tree that grows from the position on the board."""

    def __init__(self, game: PlainGame, limit: Budget, rng: Random) -> None:
        self.effort = NodeCounter(Budget(nodes=VISITS) if limit == Budget() else limit)
        self.game, self.rng = game, rng
        self.root, self.root_player = Node(-1, None), game.to_move

    def run(self) -> Node:
        """Grow the tree until the limit is reached; return the most visited child."""
        while not self.effort.is_over or not self.root.children:
            with self.game.kept():
                node = self.expand(self.select())
                self.effort.nodes += 1
                self.back_up(node, self.simulate())
            if not self.root.children:
                break
        return max(self.root.children, key=lambda child: (child.visits, child.mean))

    def select(self) -> Node:
        """Walk down, playing moves, to a node with untried moves or the end of a game."""
        node = self.root
        while not self.game.is_over():
            if node.untried is None:
                node.untried = self.moves(node)
            if node.untried or not node.children:
                break
            node = max(node.children, key=self.upper_bound)
            self.game.play(node.move)
        return node

    def moves(self, node: Node) -> list[int]:
        """Return the possible moves of a node; the last is tried first."""
        moves = self.game.actions()
        self.rng.shuffle(moves)
        return moves

    def upper_bound(self, child: Node) -> float:
        """Return UCB1: the mean plus a bonus for few visits."""
        assert child.parent is not None
        return child.mean + sqrt(2 * log(child.parent.visits) / child.visits)

    def expand(self, node: Node) -> Node:
        """Add an untried move to a node and play it."""
        if self.game.is_over() or not node.untried:
            return node
        child = Node(node.untried.pop(), node)
        node.children.append(child)
        self.game.play(child.move)
        return child

    def simulate(self) -> int | None:
        """Play to the end at random; return the winner."""
        game = self.game
        cells = [cell for cell, held in enumerate(game.cells) if held == EMPTY]
        self.rng.shuffle(cells)
        for cell in cells:
            if game.is_over():
                break
            if game.is_legal(cell):
                game.play(cell)
        return game.winner

    def back_up(self, node: Node, winner: int | None) -> None:
        """Count the result at every node up to the root."""
        way: Node | None = node
        mover = 1 - self.root_player if node is self.root else self.game.cells[node.move]
        while way is not None:
            way.visits += 1
            way.total += 0.5 if winner is None else float(winner == mover)
            way, mover = way.parent, 1 - mover

    def choice(self) -> Choice:
        """Grow the tree; return the most visited move, with its mean as the value, and its line."""
        node = best = self.run()
        line = [best.move]
        while node.children:
            node = max(node.children, key=lambda child: child.visits)
            line.append(node.move)
        return Choice(best.move, best.mean, self.effort.nodes, tuple(line))


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the most visited move, with its mean as the value."""
    return UCT(game, limit, rng).choice()
