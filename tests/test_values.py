"""What a value is worth: one scale for each family of weights, read from the file."""

from __future__ import annotations

from math import log
from pathlib import Path

import pytest

from pbrain_engine import Engine, Limit, Move, Rule, Thought
from pbrain_engine.app import view
from pbrain_engine.eval.weights import (
    DEFAULT_SCALE,
    FAMILIES,
    annotate_weights,
    load_weights,
    weights_path,
)
from pbrain_engine.values import WIN, chance, scale_at

THOUGHT = Thought(100, (Move(7, 7),), 8, 12, 5000, 0.5)


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    path = tmp_path / "own.numoku"
    path.write_bytes(Path(weights_path("hand")).read_bytes())
    return path


def test_one_unit_of_the_scale_is_one_logistic_unit():
    assert chance(0, 258) == 0.5
    odds = chance(300, 300) / (1 - chance(300, 300))
    assert log(odds) == pytest.approx(1)
    assert chance(-300, 300) == pytest.approx(1 - chance(300, 300))


@pytest.mark.parametrize(
    ("stones", "cells", "factor"),
    [(0, 225, 1.6), (20, 225, 1.152), (20, 400, 1.152), (40, 225, 0.927), (75, 225, 0.6),
     (75, 400, 0.768), (100, 225, 0.267), (113, 225, 0.1), (225, 225, 0.1), (400, 400, 0.1)],
)  # fmt: skip
def test_a_lead_is_worth_less_the_more_stones_there_are(stones, cells, factor):
    assert 258 / scale_at(258, stones, cells) == pytest.approx(factor, abs=0.001)


def test_a_game_and_its_thoughts_have_the_scale_of_their_stones():
    with Engine(memory=50_000_000) as engine:
        usual = engine.weights.scale(Rule.FREESTYLE)
        for stones in range(2):
            assert engine.game.scale == scale_at(usual, stones, 225)
            assert engine.think(Limit(depth=1)).scale == engine.game.scale
            assert engine.evaluate().chance == chance(engine.value(), engine.game.scale)
            engine.play(7, 7 + stones)


@pytest.mark.parametrize("scale", [20, 258, 5000])
def test_chances_are_between_none_and_certain(scale):
    for value in (-29_000, -6000, 6000, 29_000):
        assert 0 <= chance(value, scale) <= 1
    assert (chance(WIN - 9, scale), chance(8 - WIN, scale)) == (1, 0)


def test_the_learned_weights_say_the_scale_of_every_family():
    weights = load_weights("learned")
    for family in FAMILIES:
        assert f"of search values {weights.about[f'scale {family}']}," in weights.about[family]
    assert weights.scale(Rule.CARO_EXACT) == weights.scale(Rule.CARO) != DEFAULT_SCALE


def test_a_file_without_scale_has_the_usual_one(weights):
    assert load_weights(str(weights)).scale(Rule.RENJU) == DEFAULT_SCALE
    annotate_weights(str(weights), "scale renju", "400")
    assert load_weights(str(weights)).scale(Rule.RENJU) == 400
    assert load_weights(str(weights)).scale(Rule.STANDARD) == DEFAULT_SCALE


def test_the_terminal_shows_values_with_their_chances():
    assert view.format_worth(THOUGHT) == "+100 (60 %)"
    assert view.format_worth(THOUGHT._replace(bound="lower")) == "at least +100 (60 %)"
    assert view.format_worth(THOUGHT._replace(value=WIN - 9)) == "+M9"
    assert " 60 % " in view.format_thought(THOUGHT)
