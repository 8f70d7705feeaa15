"""Self-play by a tree search: games as usual, and the improved policy of every position.

As with other self-play, a game depends on the seed and its number alone.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from ..engine.engine import MCTS, Engine
from ..engine.improve import GUMBEL
from .policy_records import Lessons, Policy, policy_of
from .records import Record
from .selfplay import HASH_BYTES, Decision, Plan, play_game

OPENING_VISITS = 200  # by which openings are found balanced


class TreePlan(NamedTuple):
    """How the games of a file are made by a tree search; ``games.nodes`` judge the openings."""

    games: Plan
    visits: int
    root: str = GUMBEL  # one of ``improve.METHODS``

    @property
    def weights(self) -> str:
        """Name or path of the weights."""
        return self.games.weights

    def make_engine(self) -> Engine:
        """Return the engine that plays such games."""
        return Engine(hash_size=HASH_BYTES, weights=self.weights, search=MCTS)


class TaughtGame(NamedTuple):
    """A game and what its searches teach."""

    record: Record
    lessons: Lessons


def play_taught_game(engine: Engine, plan: TreePlan, number: int) -> TaughtGame:
    """Play one game of a plan from its opening to its end."""
    policies: list[Policy] = []

    def decide(engine: Engine, chance: random.Random) -> Decision:
        improved = engine.improve(plan.visits, chance, plan.root)
        width = engine.game.width
        shares = [(y * width + x, share) for (x, y), share in improved.policy.items()]
        policies.append(policy_of(shares))
        return Decision(improved.move, improved.value)

    record = play_game(engine, plan.games, number, decide)
    return TaughtGame(record, Lessons(number, tuple(policies)))
