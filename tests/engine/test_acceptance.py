"""Positions that tournaments put to a new engine: each has answers that every rule demands."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.position.rules import Rule

pytestmark = pytest.mark.timed

SECONDS = 0.5


SIX = "h8h9i8h10g8h11j13h12g14h14i15"  # black can make six in a column, and has a three to stop
CLOSED = "h8f8g8f9i8f7j8l8"  # black has four in a row between two white stones


@pytest.mark.parametrize(
    ("moves", "rules", "answers"),
    [
        ("h8h9i8i9j8j9k8k9", Rule, "g8l8"),  # a five is taken
        (SIX, [Rule.STANDARD], "f8j8"),
        (SIX, [Rule.FREESTYLE], "h13"),
        ("h8h9i7i9h10i6i11i12", [Rule.RENJU], "-g9"),  # it is forbidden
        (CLOSED, [Rule.CARO, Rule.CARO_EXACT], "f5f6f10f11"),
        (CLOSED, [Rule.FREESTYLE], "k8"),
    ],
)
def test_the_answer_is_one_that_the_rule_demands(
    moves: str, rules: Iterable[Rule], answers: str
) -> None:
    for rule in rules:
        with Engine(memory=100_000_000) as engine:
            engine.new_game(15, rule=rule)
            for x, y in parse_moves(moves):
                engine.play(x, y)
            thought = engine.think(Limit(time=SECONDS))
        assert thought.time < 2 * SECONDS
        is_named = thought.move in parse_moves(answers.removeprefix("-"))
        assert is_named is not answers.startswith("-"), (rule, thought.move)
        assert thought.mate == 1 or rules is not Rule


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize("size", [5, 15, 20, 22])
def test_the_first_move_is_near_the_centre(rule: Rule, size: int) -> None:
    with Engine(memory=60_000_000) as engine:
        engine.new_game(size, rule=rule)
        move = engine.think(Limit(depth=3)).move
    assert all(abs(at - (size - 1) / 2) <= 1 for at in move)
