"""Scales, targets and choices, computed by hand."""

import numpy as np
import pytest

from pbrain_engine.learn.network.dataset import Choices, best_scale, blend, chance, log_loss
from pbrain_engine.notation.games import is_held_out


def test_about_one_game_in_sixteen_is_held_out_and_always_the_same():
    assert sum(filter(is_held_out, range(20_000))) == 12_522_648


@pytest.mark.parametrize("scale", [55.0, 258.0, 900.0])
def test_the_best_scale_has_the_least_loss(scale):
    random = np.random.default_rng(3)
    value = random.normal(20, 300, 4000)
    target = (random.random(4000) < chance(value, scale)).astype(float)
    found = best_scale(value, target)
    assert found == pytest.approx(scale, rel=0.15)
    least = log_loss(value / found, target).mean()
    assert all(log_loss(value / found / near, target).mean() > least for near in (0.99, 1.01))


def test_scales_end_at_40_and_1000():
    value = np.array([-100.0, 100.0, 300.0])
    assert best_scale(value, (value > 0).astype(float)) == pytest.approx(40)
    assert best_scale(value, (value < 0).astype(float)) == pytest.approx(1000)
    assert best_scale(np.zeros(3), np.array([0.0, 1.0, 1.0])) == pytest.approx(1000)


def test_a_target_is_the_chance_mixed_with_what_came_after():
    side = np.array([0, 1, 0, 1, 0])
    results = np.array([1.0, 0.0, 1.0, np.nan, np.nan])  # black wins a game; one has no result
    game = np.array([0, 0, 0, 1, 1])
    seen = np.array([0.6, 0.3, 0.8, 0.4, 0.5])
    black = 0.8 * 0.25 + 1.0 * 0.75
    found = [black]
    for chance_of_black in (0.7, 0.6):
        found.insert(0, chance_of_black * 0.25 + found[0] * 0.75)
    other = 0.6 * 0.25 + 0.5 * 0.75
    expected = [found[0], 1 - found[1], found[2], 1 - other, 0.5]
    assert blend(side, results, game, seen, 0.75) == pytest.approx(expected)


def test_choices_lose_what_a_softmax_says():
    logits = np.array([0.0, 1.0, 2.0, 2.0, -1.0])
    choices = Choices(np.array([4, 7]), np.array([0, 3, 5]), np.array([1, 3]), logits)
    powers = np.exp(logits)
    expected = [-np.log(powers[1] / powers[:3].sum()), -np.log(powers[3] / powers[3:].sum())]
    assert choices.entropies() == pytest.approx(expected)
    assert choices.firsts().tolist() == [False, True]
    assert choices._replace(chosen=np.array([2, 4])).firsts().tolist() == [True, False]
    equal = Choices(np.array([0]), np.array([0, 2]), np.array([1]), np.array([5.0, 5.0]))
    assert not equal.firsts().any()
