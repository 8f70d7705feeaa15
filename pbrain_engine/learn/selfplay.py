"""One game of self-play: a random balanced opening, then searches limited by nodes.

A game depends on the seed and its number alone: the engine forgets everything before it, every
search ends by nodes, and one thread searches. So games can be played anywhere in any order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..arena.openings import first_balanced, square_around
from ..engine.alphabeta import Glance
from ..engine.engine import MCTS, Engine, Limit, Move
from ..engine.weights import find_weights
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import WIN_BAND, loss_in
from .branches import Line, grow, lay
from .policy_records import Lessons, Policy, policy_of
from .records import NO_VALUE, Ending, Record

HASH_BYTES = 1 << 20  # ample for a few thousand nodes, and cheap to clear
NODES_SPREAD = 0.25  # searches of a game differ in length by this share, so that games differ
STONES = (2, 9)  # of an opening
REACHES = (2, 3, 4)  # how far its stones lie from the middle of their square
OFF_CENTRE = 0.25  # share of openings whose square lies anywhere on the board
BALANCE = 150  # largest value of an opening for either side
TRIES = 100  # openings looked at before the best of them is taken
GLANCE_PART = 10  # a tenth of the nodes of a move rejects most openings
CALM_VALUE, CALM_MOVES = 10, 8  # a draw after 8 values in a row this close to 0
OPENING_VISITS = 200  # of a tree search, by which openings are found balanced
CALM_FROM = 0.45  # and this share of the board is full


class SelfPlayed(NamedTuple):
    """A game, and what was made beside it."""

    record: Record
    branches: tuple[Record, ...] = ()
    lessons: Lessons | None = None


class Plan(NamedTuple):
    """How the games of a file are made."""

    seed: int
    nodes: int
    rules: tuple[Rule, ...]
    boards: tuple[int, ...]
    weights: str  # name or path
    branch_share: float = 0.0  # of all positions

    def kind(self, number: int) -> tuple[Rule, int]:
        """Return rule and board of a game: all combinations in turn."""
        which = number % (len(self.rules) * len(self.boards))
        return self.rules[which % len(self.rules)], self.boards[which // len(self.rules)]

    def scattered_nodes(self, chance: random.Random) -> int:
        """Return how many nodes a search gets: those of a game differ, so that games do."""
        return int(self.nodes * chance.uniform(1 - NODES_SPREAD, 1 + NODES_SPREAD))

    def about(self) -> dict[str, str]:
        """Return the head of a file: all that its games depend on but their numbers."""
        return {
            "seed": str(self.seed),
            "nodes": str(self.nodes),
            "rules": " ".join(rule.name.lower() for rule in self.rules),
            "boards": " ".join(map(str, self.boards)),
            "branches": f"{self.branch_share:g}",
            "weights": find_weights(self.weights).key,
        }

    def make_engine(self) -> Engine:
        """Return the engine that plays such games."""
        return Engine(hash_size=HASH_BYTES, weights=self.weights)

    def play(self, engine: Engine, number: int) -> SelfPlayed:
        """Play a game and make its branches; they depend on the plan and the number alone."""
        ends: list[Line] = []
        record = play_game(engine, self, number, by_search(engine, self, ends))
        chance = random.Random(f"{self.seed}:{number}:branches")

        def search() -> Glance | None:
            return engine.glance(self.scattered_nodes(chance))

        return SelfPlayed(record, grow(engine, chance, record, ends, self.branch_share, search))


def scatter(chance: random.Random, board: int) -> list[Coordinates]:
    """Return random stones in a small square, mostly around the centre."""
    reach = min(chance.choice(REACHES), (board - 1) // 2)
    middle = (board // 2, board // 2)
    if chance.random() < OFF_CENTRE:
        middle = (chance.randrange(board), chance.randrange(board))
    near = square_around(middle, reach, board, board)
    return chance.sample(near, min(chance.randint(*STONES), len(near) - 1))


def balanced_opening(
    engine: Engine, chance: random.Random, board: int, judge: Callable[[], int]
) -> list[Coordinates]:
    """Return the first random opening that is found balanced, or the best of many.

    ``judge`` values the position of the engine.
    """

    def value_of(opening: Sequence[Coordinates]) -> int:
        lay(engine, opening)
        return judge()

    tried = (scatter(chance, board) for _ in range(TRIES))
    return first_balanced((o for o in tried if lay(engine, o)), value_of, BALANCE)


class Decision(NamedTuple):
    """A move, and the value of the position before it for the side that plays it."""

    move: Coordinates
    value: int


class Way(NamedTuple):
    """How both sides of a game are played: who values openings, and who decides on moves."""

    judge: Callable[[], int]
    decide: Callable[[random.Random], Decision]


def by_search(engine: Engine, plan: Plan, ends: list[Line] | None = None) -> Way:
    """Return the usual way: searches of about the plan's nodes.

    Openings are glanced at first, and what the last search of one found is its first move.
    ``ends`` gets the position in which each search of a move ended, if that has a choice.
    """
    known: tuple[list[Move], Glance | None] | None = None

    def judge() -> int:
        nonlocal known
        found = engine.glance(max(1, plan.nodes // GLANCE_PART))
        if found is not None and abs(found.value) <= BALANCE:
            found = engine.glance(plan.nodes)
            known = engine.game.moves, found
        return loss_in(2) if found is None else found.value

    def decide(chance: random.Random) -> Decision:
        nodes = plan.scattered_nodes(chance)
        found = known[1] if known and known[0] == engine.game.moves else engine.glance(nodes)
        if found is None:  # a foul is all that is left
            return Decision(engine.quick_move(), loss_in(2))
        if ends is not None and found.end and found.choices > 1:
            ends.append([*engine.game.moves, *found.end])
        return Decision(found.move, found.value)

    return Way(judge, decide)


def play_game(engine: Engine, plan: Plan, number: int, way: Way | None = None) -> Record:
    """Play one game of a plan from its opening to its end."""
    chance = random.Random(f"{plan.seed}:{number}")
    rule, board = plan.kind(number)
    engine.new_game(board, rule=rule)
    engine.clear_hash()
    way = way or by_search(engine, plan)
    opening = balanced_opening(engine, chance, board, way.judge)
    lay(engine, opening)
    game = engine.game
    cells = [y * board + x for x, y in opening]
    values = [NO_VALUE] * len(opening)
    calm = 0
    while True:
        side = game.to_move
        (x, y), value = way.decide(chance)
        foul = game.is_forbidden(x, y)
        cells.append(y * board + x)
        values.append(value)
        calm = calm + 1 if abs(value) <= CALM_VALUE else 0
        ending: Ending | None = None
        winner: Side | None = None
        if foul:
            ending, winner = Ending.FOUL, side.opponent
        else:
            engine.play(x, y)
            if game.winner is not None:
                ending, winner = Ending.FIVE, game.winner
            elif game.is_full:
                ending = Ending.FULL
            elif abs(value) >= WIN_BAND:
                ending, winner = Ending.PROVEN, side if value > 0 else side.opponent
            elif calm >= CALM_MOVES and game.ply >= CALM_FROM * board * board:
                ending = Ending.CALM
        if ending is not None:
            result = 0 if winner is None else 1 if winner is Side.BLACK else -1
            moves, known = tuple(cells), tuple(values)
            return Record(number, rule, board, board, len(opening), result, ending, moves, known)


class TreePlan(NamedTuple):
    """How the games of a file are made by a tree search, which improves a policy at every move."""

    games: Plan
    visits: int

    def about(self) -> dict[str, str]:
        """Return the head of a file: all that its games depend on but their numbers."""
        return {**self.games.about(), "visits": str(self.visits), "root": "gumbel"}

    def make_engine(self) -> Engine:
        """Return the engine that plays such games."""
        return Engine(hash_size=HASH_BYTES, weights=self.games.weights, search=MCTS)

    def play(self, engine: Engine, number: int) -> SelfPlayed:
        """Play one game from its opening to its end."""
        policies: list[Policy] = []

        def judge() -> int:
            return engine.think(Limit(nodes=self.games.nodes)).value

        def decide(chance: random.Random) -> Decision:
            improved = engine.improve(self.visits, chance)
            width = engine.game.width
            shares = [(y * width + x, share) for (x, y), share in improved.policy.items()]
            policies.append(policy_of(shares))
            return Decision(improved.move, improved.value)

        record = play_game(engine, self.games, number, Way(judge, decide))
        return SelfPlayed(record, lessons=Lessons(number, tuple(policies)))
