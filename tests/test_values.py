"""What a value is worth: one scale for each family of weights, read from the file."""

from __future__ import annotations

import shutil
from math import log

import pytest

from pbrain_engine import Limit, Rule
from pbrain_engine.eval.weights import (
    DEFAULT_SCALE,
    FAMILIES,
    annotate_weights,
    load_weights,
    weights_file,
)
from pbrain_engine.values import WIN, chance, scale_at


def test_one_unit_of_the_scale_is_one_logistic_unit():
    assert chance(0, 258) == 0.5
    odds = chance(300, 300) / (1 - chance(300, 300))
    assert log(odds) == pytest.approx(1)
    assert chance(-300, 300) == pytest.approx(1 - chance(300, 300))


def test_a_game_and_its_thoughts_have_the_scale_of_their_stones(engine):
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


def test_a_file_without_scale_has_the_usual_one(tmp_path):
    path = shutil.copy(weights_file("hand"), tmp_path)
    assert load_weights(path).scale(Rule.RENJU) == DEFAULT_SCALE
    annotate_weights(path, "scale renju", "400")
    assert load_weights(path).scale(Rule.RENJU) == 400
    assert load_weights(path).scale(Rule.STANDARD) == DEFAULT_SCALE
