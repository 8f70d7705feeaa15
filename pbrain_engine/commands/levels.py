"""Strength levels for people: how much is searched, and how often a lesser move is taken."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp
from typing import NamedTuple

from ..engine.engine import Engine, Limit, Thought
from . import thinking


class Level(NamedTuple):
    """A strength: positions or plies searched, and the values a player does not tell apart."""

    nodes: int | None
    slip: float  # in units of values.py; 0: always the best move
    depth: int | None = None
    elo: int | None = None  # above level 1, by build/levels.py; None: not measured


LEVELS = {
    1: Level(None, 300.0, 1, elo=0),  # by depth, so that there are lines to choose from
    2: Level(None, 200.0, 2, elo=170),
    3: Level(None, 130.0, 3, elo=340),
    4: Level(3_000, 80.0, elo=440),
    5: Level(10_000, 45.0, elo=710),
    6: Level(30_000, 20.0, elo=920),
    7: Level(100_000, 0.0, elo=1240),
    8: Level(400_000, 0.0, elo=1430),
    9: Level(2_000_000, 0.0, elo=1570),
    10: Level(None, 0.0),
}
CHOICES = 6  # moves that a slip chooses from
MOST_SEEN = 1000  # where moves slip, a win or loss counts no more than this: it is overlooked, too


def choose(
    engine: Engine,
    level: Level,
    seconds: float,
    chance: random.Random,
    listener: Callable[[Thought], None] | None = None,
) -> Thought:
    """Return what a player of this level would play, within so many seconds."""
    limit = Limit(time=seconds, nodes=level.nodes, depth=level.depth)
    if level.slip == 0:
        return thinking.think(engine, limit, on_iteration=listener)
    found: dict[int, Thought] = {}

    def note(thought: Thought) -> None:
        found[thought.multipv] = thought
        if listener is not None:
            listener(thought)

    best = thinking.think(engine, limit, on_iteration=note, multipv=CHOICES)
    found[1] = best
    thoughts = list(found.values())
    if best.mate == 1:  # nobody overlooks a five
        return best
    seen = [max(-MOST_SEEN, min(MOST_SEEN, thought.value)) for thought in thoughts]
    weights = [exp((value - max(seen)) / level.slip) for value in seen]
    return chance.choices(thoughts, weights)[0]
