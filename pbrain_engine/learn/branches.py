"""Branches: positions beside those of games, as search trees have them, each with its own label.

Search trees are full of positions that no game shows: moves that nobody would play, threats left
unanswered. A branch leaves a recorded game at a random place, goes on with a few moves of which
every second or so is odd, and is then searched, once. Nobody plays it to the end, so it has a
value and a move but no result (Veness et al. 2009 learn from such trees for the same reason).
"""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..engine.engine import Engine, Limit
from ..position.geometry import Coordinates
from .records import NO_VALUE, Ending, GamesError, Record, is_held_out, read_about, read_games
from .selfplay import HASH_BYTES, NODES_SPREAD

STEPS = (1, 1, 2, 2, 3, 4, 6)  # moves between the game and the branch
ODD_SHARE = 0.5  # of these moves, how many are odd
ODD_AMONG = 14  # an odd move is any of so many of the policy's first
TRIES = 50  # places looked at before a shorter walk will do


class BranchPlan(NamedTuple):
    """How the branches of a file are made: from which games, and how each is searched."""

    seed: int
    nodes: int
    games: tuple[str, ...]  # files
    weights: str  # name or path

    def make_engine(self) -> Engine:
        """Return the engine that searches them."""
        return Engine(hash_size=HASH_BYTES, weights=self.weights)

    def about(self) -> dict[str, str]:
        """Return what tells the games apart that the branches leave.

        Raises:
            GamesError: a file is missing or damaged.
        """
        found = {}
        for number, path in enumerate(self.games, 1):
            head = ", ".join(f"{key} {value}" for key, value in read_about(Path(path)).items())
            learned, held = games_of((path,))
            if not learned or not held:
                raise GamesError(f"{path} has too few games for branches")
            games = len(learned) + len(held)
            found[f"branches of {number}"] = f"{games} games, {head}"
        return found


@lru_cache(maxsize=4)
def games_of(paths: tuple[str, ...]) -> tuple[tuple[Record, ...], tuple[Record, ...]]:
    """Return the games of some files that a branch can leave: to learn from, and held out."""
    records = [
        record
        for path in paths
        for record in read_games(Path(path))
        if record.ending is not Ending.BRANCH and len(record.moves) > record.opening
    ]
    parts = ([r for r in records if is_held_out(r.number) is held] for held in (False, True))
    learned, held = (tuple(part) for part in parts)
    return learned, held


def odd_or_sound(engine: Engine, chance: random.Random) -> Coordinates | None:
    """Return a move to walk on with: any good-looking one, or one by the policy's chances."""
    policy = engine.policy()
    game = engine.game
    if chance.random() < ODD_SHARE:
        policy = [(move, 1.0) for move, _ in policy[:ODD_AMONG]]
    policy = [(move, share) for move, share in policy if not game.is_forbidden(*move)]
    if not policy:
        return None
    shares = [share for _, share in policy]
    return chance.choices([move for move, _ in policy], shares)[0]


def walk(engine: Engine, chance: random.Random, record: Record, steps: int) -> bool:
    """Set up a branch of a game; say whether there is something to search where it ends."""
    width = record.width
    start = chance.randrange(record.opening, len(record.moves))
    engine.new_game(width, record.height, rule=record.rule)
    for cell in record.moves[:start]:
        engine.play(cell % width, cell // width)
    for _ in range(steps):
        move = odd_or_sound(engine, chance)
        if move is None:
            return False
        engine.play(*move)
        if engine.game.is_over:
            return False
    return True


def grow_branch(engine: Engine, plan: BranchPlan, number: int) -> Record:
    """Make one branch: it depends on the plan and its number alone.

    A branch that is held out leaves a game that is, so nothing near it is learned from.
    """
    chance = random.Random(f"{plan.seed}:{number}")
    games = games_of(plan.games)[is_held_out(number)]
    for tries in range(10 * TRIES):
        record = games[chance.randrange(len(games))]
        steps = chance.choice(STEPS) if tries < TRIES else 1
        if walk(engine, chance, record, steps):
            break
    else:
        raise GamesError("the games have no position that a branch could leave")
    engine.clear_hash()
    share = chance.uniform(1 - NODES_SPREAD, 1 + NODES_SPREAD)
    thought = engine.think(Limit(nodes=int(plan.nodes * share)))
    width, game = record.width, engine.game
    cells = [move.y * width + move.x for move in game.moves]
    x, y = thought.move
    moves = (*cells, y * width + x)
    values = (*[NO_VALUE] * len(cells), thought.value)
    return Record(
        number, record.rule, width, record.height, len(cells), 0, Ending.BRANCH, moves, values
    )
