"""Strength levels for people: how much is searched, and how often a lesser move is taken."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp
from typing import NamedTuple

from ..engine.engine import Engine, Limit, Thought
from . import thinking


class Level(NamedTuple):
    """A strength: positions searched, and the values a player of it does not tell apart."""

    nodes: int | None
    slip: float  # in units of values.py; 0: always the best move
    elo: int | None = None  # measured, from level 1 up; None: not measured


LEVELS = {
    1: Level(200, 300.0),
    2: Level(500, 200.0),
    3: Level(1_000, 130.0),
    4: Level(3_000, 80.0),
    5: Level(10_000, 45.0),
    6: Level(30_000, 20.0),
    7: Level(100_000, 0.0),
    8: Level(400_000, 0.0),
    9: Level(2_000_000, 0.0),
    10: Level(None, 0.0),
}
CHOICES = 6  # moves that a slip chooses from


def choose(
    engine: Engine,
    level: Level,
    seconds: float,
    chance: random.Random,
    listener: Callable[[Thought], None] | None = None,
) -> Thought:
    """Return what a player of this level would play, within so many seconds."""
    limit = Limit(time=seconds, nodes=level.nodes)
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
    weights = [exp(min(0.0, thought.value - best.value) / level.slip) for thought in thoughts]
    return chance.choices(thoughts, weights)[0]
