"""Weak levels: how often which of the best moves is taken."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from math import exp

import pytest

from pbrain_engine.app.thinking import (
    CHOICES,
    LEAST_SECONDS,
    LEVELS,
    MOST_SEEN,
    Level,
    choose,
    clock_seconds,
)
from pbrain_engine.engine.engine import Engine
from pbrain_engine.game.result import Thought
from pbrain_engine.methods import METHODS
from tests.played import set_up

GAMES = 150


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(hash_size=4 << 20) as engine:
        yield engine


def test_moves_are_taken_by_what_they_are_worth(engine: Engine) -> None:
    level = Level(None, 100.0, depth=2)
    set_up(engine, "h8i9g9g7")
    heard: dict[int, Thought] = {}

    def note(thought: Thought) -> None:
        heard[thought.multipv] = thought

    chance = random.Random(1)
    taken = Counter(choose(engine, level, 10.0, chance, note).move for _ in range(GAMES))
    assert sorted(heard) == list(range(1, CHOICES + 1))
    worth = {
        thought.move: exp(max(-MOST_SEEN, min(MOST_SEEN, thought.value)) / level.slip)
        for thought in heard.values()
    }
    assert taken.keys() <= worth.keys()
    for move, share in worth.items():
        assert taken[move] / GAMES == pytest.approx(share / sum(worth.values()), abs=0.12)


def test_a_five_is_never_overlooked(engine: Engine) -> None:
    set_up(engine, "h8a1i8c1j8e1k8g1")
    chance = random.Random(1)
    fives = {choose(engine, Level(None, 1e6, depth=2), 10.0, chance).mate for _ in range(20)}
    assert fives == {1}


def test_every_level_and_opponent_says_what_it_is_like() -> None:
    words = [level.word for level in LEVELS.values()]
    assert len(set(words)) == len(words) == 10 and all(level.about for level in LEVELS.values())
    assert all(METHODS.values())


def test_a_clock_is_shared_out_among_the_moves_to_come() -> None:
    early = clock_seconds(300, 0, 0, 10, 225)
    assert 2 < early < 60 and clock_seconds(300, 5, 0, 10, 225) > early
    assert clock_seconds(10, 0, 0, 10, 225) < 3
    assert clock_seconds(0.01, 0, 0, 10, 225) == LEAST_SECONDS
    # Of byoyomi most of a period is used, and never more than there is.
    assert clock_seconds(0, 0, 10, 60, 225) == 8.5
    assert clock_seconds(600, 0, 30, 60, 225) >= 25.5
    assert clock_seconds(1, 0, 10, 60, 225) <= 9.5
