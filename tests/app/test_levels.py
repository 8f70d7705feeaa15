"""Weak levels: how often which of the best moves is taken."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from math import exp

import pytest

from pbrain_engine.app.thinking import CHOICES, MOST_SEEN, Level, choose
from pbrain_engine.engine.engine import Engine
from pbrain_engine.engine.thought import Thought
from pbrain_engine.game.cells import parse_moves

GAMES = 300


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(hash_size=4 << 20) as engine:
        yield engine


def test_moves_are_taken_by_what_they_are_worth(engine: Engine) -> None:
    level = Level(None, 100.0, depth=2)
    engine.new_game(15)
    for move in parse_moves("h8i9g9g7"):
        engine.play(*move)
    heard: dict[int, Thought] = {}

    def note(thought: Thought) -> None:
        heard[thought.multipv] = thought

    chance = random.Random(1)
    taken = Counter(choose(engine, level, 10.0, chance, note).move for _ in range(GAMES))
    assert sorted(heard) == list(range(1, CHOICES + 1))
    seen = {
        thought.move: max(-MOST_SEEN, min(MOST_SEEN, thought.value)) for thought in heard.values()
    }
    whole = sum(exp(value / level.slip) for value in seen.values())
    for move, value in seen.items():
        share = exp(value / level.slip) / whole
        assert taken[move] / GAMES == pytest.approx(share, abs=0.1)
    assert sum(taken[move] for move in seen) == GAMES


def test_a_five_is_never_overlooked(engine: Engine) -> None:
    engine.new_game(15)
    for move in parse_moves("h8a1i8c1j8e1k8g1"):
        engine.play(*move)
    chance = random.Random(1)
    fives = {choose(engine, Level(None, 1e6, depth=2), 10.0, chance).mate for _ in range(20)}
    assert fives == {1}
