"""PUCT: AlphaZero's tree search, with the engine's own network.

Rosin, "Multi-armed Bandits with Episode Context" (2011), and Silver et al., "A General
Reinforcement Learning Algorithm" (2018). A network replaces random games: it rates the position
(the *value*) and the moves (the *priors*). The search follows the move with the greatest sum of
mean result and prior times a bonus for few visits. Proven results are not averaged (Winands et al.,
"Monte-Carlo Tree Search Solver", 2008): a win by fours, a five, a full board; a winning move proves
its position won, and a position in which all moves lose is proven lost.

Cost: an evaluation and a short search for fours per visit. A graphics card would want hundreds of
positions in one batch; here the network evaluates one at a time, from its incremental state.
"""

from __future__ import annotations

from math import sqrt
from random import Random

from ..engine.engine import Engine
from ..position.rules import EMPTY, Side
from ..solver import Solver
from .board import Budget, Choice, NodeCounter, PlainGame

VISITS = 800  # if no limit is given
EXPLORE = 0.7  # weight of the priors against the mean
PESSIMISM = 0.25  # assumed loss of an unvisited move against its position
ROOT_STONES = 20_000  # of the solver before the first visit
LEAF_STONES = 60  # and at each new position
SOLVER_BYTES = 8_000_000


class PolicyNode:
    """A move in the tree: its prior, its visits and its results for the side that plays it."""

    def __init__(self, move: tuple[int, int], prior: float) -> None:
        self.move, self.prior = move, prior
        self.children: list[PolicyNode] = []
        self.visits, self.total = 0, 0.0
        self.result: float | None = None  # proven: 1 won, 0.5 drawn, 0 lost

    def score(self, unvisited: float, doubt: float) -> float:
        """Return mean plus bonus, or the proven result; ``unvisited``: mean without visits."""
        mean = self.total / self.visits if self.visits else unvisited
        bonus = doubt * self.prior / (1 + self.visits)
        return mean + bonus if self.result is None else self.result

    def settle(self) -> None:
        """Derive a proven result from those of the replies, if they suffice."""
        proven = [reply.result for reply in self.children if reply.result is not None]
        if 1.0 in proven or len(proven) == len(self.children):
            self.result = 1.0 - max(proven, default=0.0)


class PUCT:
    """A tree that grows from the position on the engine's board."""

    def __init__(self, engine: Engine, solver: Solver, limit: Budget) -> None:
        self.engine, self.solver = engine, solver
        self.effort = NodeCounter(Budget(nodes=VISITS) if limit == Budget() else limit)
        self.root = PolicyNode((-1, -1), 1.0)

    def run(self) -> list[PolicyNode]:
        """Grow the tree until the limit or a proof; return the most visited line."""
        self.expand(self.root)
        while self.root.result is None and not self.effort.is_over:
            self.visit(self.root)
            self.effort.nodes += 1
        line, node = [], self.root
        while node.children:
            node = max(node.children, key=lambda c: (c.result == 1, c.result != 0, c.visits))
            line.append(node)
        return line

    def visit(self, node: PolicyNode) -> float:
        """Visit a node, whose position is on the board; return the result for its last move."""
        if node.result is None and node.children:
            best = self.select(node)
            self.engine.play(*best.move)
            result = 1 - self.visit(best)
            self.engine.undo()
            if best.result is not None:
                node.settle()
        else:
            result = self.expand(node)
        node.visits += 1
        node.total += result
        return result if node.result is None else node.result

    def select(self, node: PolicyNode) -> PolicyNode:
        """Return the move with the greatest score."""
        mean = 1 - node.total / node.visits if node.visits else 0.5
        doubt = EXPLORE * sqrt(node.visits + 1)
        return max(node.children, key=lambda child: child.score(mean - PESSIMISM, doubt))

    def expand(self, node: PolicyNode) -> float:
        """Add a new position's moves with their priors; return the result for its last move."""
        game = self.engine.game
        if node.result is None and game.is_over:
            node.result = 0.5 if game.winner is None else 1.0
        elif node.result is None and self.solver.fours(game, nodes=LEAF_STONES).wins:
            node.result = 0.0
        if node.result is not None:
            return node.result
        seen = self.engine.evaluate()
        node.children = [PolicyNode(move, prior) for move, prior in seen.moves]
        node.settle()  # lost if every move is forbidden
        return 1 - seen.chance


def choose(game: PlainGame, limit: Budget, rng: Random) -> Choice:
    """Return the most visited or a winning move; ValueError if the board is too large."""
    with Engine() as engine, Solver(SOLVER_BYTES, engine.library) as solver:
        engine.new_game(game.width, game.height, game.rule)
        stones = [cell for cell, held in enumerate(game.cells) if held != EMPTY]
        for cell in dict.fromkeys(game.history + stones):  # blocked cells last
            y, x = divmod(cell, game.width)
            engine.place(x, y, Side(game.cells[cell]))
        engine.set_to_move(Side(game.to_move))
        tree = PUCT(engine, solver, limit)
        win = solver.fours(engine.game, nodes=ROOT_STONES)
        if not win.wins:
            win = solver.threats(engine.game, nodes=ROOT_STONES)
        if win.wins:
            cells = [y * game.width + x for x, y in win.line]
            return Choice(cells[0], 1.0, win.nodes + 1, tuple(cells))
        line = tree.run() or [PolicyNode(engine.quick_move(), 1.0)]
        cells = [node.move[1] * game.width + node.move[0] for node in line]
        mean = line[0].total / max(line[0].visits, 1)
        return Choice(cells[0], mean, tree.effort.nodes, tuple(cells))
