"""One game of self-play: a random balanced opening, then searches of so many nodes.

A game depends on the seed and its number alone: the engine forgets everything before it, every
search ends by nodes, and one thread searches. So games can be played anywhere in any order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..arena.openings import begin, first_balanced, problem_on, square_around
from ..engine.engine import Engine, Limit
from ..game.game import Game
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..values import WIN_BAND
from .records import NO_VALUE, Ending, Record

HASH_BYTES = 2 << 20  # ample for a few thousand nodes, and cheap to clear
NODES_SPREAD = 0.25  # searches of a game differ in length by this share, so that games differ
STONES = (2, 9)  # of an opening
REACHES = (2, 3, 4)  # how far its stones lie from the middle of their square
OFF_CENTRE = 0.25  # share of openings whose square lies anywhere on the board
BALANCE = 150  # largest value of an opening for either side
TRIES = 100  # openings looked at before the best of them is taken
CALM_VALUE, CALM_MOVES = 10, 8  # a draw where so many values in a row are this close to 0
CALM_FROM = 0.45  # and this share of the board is full


class Plan(NamedTuple):
    """How the games of a file are made."""

    seed: int
    nodes: int
    rules: tuple[Rule, ...]
    boards: tuple[int, ...]
    weights: str  # name or path

    def kind(self, number: int) -> tuple[Rule, int]:
        """Return rule and board of a game: all combinations in turn."""
        which = number % (len(self.rules) * len(self.boards))
        return self.rules[which % len(self.rules)], self.boards[which // len(self.rules)]

    def make_engine(self) -> Engine:
        """Return the engine that plays such games: without the search by threats.

        Beside so short a search it would take more than half of the time.
        """
        return Engine(hash_size=HASH_BYTES, weights=self.weights, parameters={"threat_share": 0})


def scatter(chance: random.Random, board: int) -> list[Coordinates]:
    """Return random stones in a small square, mostly around the centre."""
    reach = min(chance.choice(REACHES), (board - 1) // 2)
    middle = (board // 2, board // 2)
    if chance.random() < OFF_CENTRE:
        middle = (chance.randrange(board), chance.randrange(board))
    near = square_around(middle, reach, board, board)
    return chance.sample(near, min(chance.randint(*STONES), len(near) - 1))


def is_playable(board: int, rule: Rule, opening: Sequence[Coordinates]) -> bool:
    """Say whether stones can be played in this order without a foul and without a win."""
    return problem_on(Game(board, rule=rule), opening, board * board) is None


def balanced_opening(
    engine: Engine, chance: random.Random, board: int, rule: Rule, nodes: int
) -> list[Coordinates]:
    """Return the first random opening that a search finds balanced, or the best of many."""

    def value_of(opening: Sequence[Coordinates]) -> int:
        begin(engine, board, board, rule, opening)
        return engine.think(Limit(nodes=nodes)).value

    tried = (scatter(chance, board) for _ in range(TRIES))
    return first_balanced((o for o in tried if is_playable(board, rule, o)), value_of, BALANCE)


class Decision(NamedTuple):
    """A move, and the value of the position before it for the side that plays it."""

    move: Coordinates
    value: int


Decide = Callable[[Engine, random.Random], Decision]


def by_search(plan: Plan) -> Decide:
    """Return the usual way to decide: a search of about so many nodes."""

    def decide(engine: Engine, chance: random.Random) -> Decision:
        share = chance.uniform(1 - NODES_SPREAD, 1 + NODES_SPREAD)
        thought = engine.think(Limit(nodes=int(plan.nodes * share)))
        return Decision(thought.move, thought.value)

    return decide


def play_game(engine: Engine, plan: Plan, number: int, decide: Decide | None = None) -> Record:
    """Play one game of a plan from its opening to its end."""
    decide = decide or by_search(plan)
    chance = random.Random(f"{plan.seed}:{number}")
    rule, board = plan.kind(number)
    opening = balanced_opening(engine, chance, board, rule, plan.nodes)
    begin(engine, board, board, rule, opening)
    game = engine.game
    cells = [y * board + x for x, y in opening]
    values = [NO_VALUE] * len(opening)
    calm = 0
    while True:
        side = game.to_move
        (x, y), value = decide(engine, chance)
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
