"""Statistics against published values, and against matches whose truth is known."""

from __future__ import annotations

import math
from itertools import product
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.arena import elo
from pbrain_engine.arena.elo import (
    LOGISTIC,
    PRIOR_DRAWS,
    Z95,
    MeanScore,
    judge,
    rate,
    score_of,
)
from pbrain_engine.arena.settings import MOST_ELO, Sprt

# Results of long chess matches with the log-likelihood ratios that their test
# frameworks published; wins, losses, draws, or pairs with 0 to 4 half points.
RATIOS = [
    ("normalised", 0, 2, (36433, 36027, 68692), 0.92),
    ("logistic", 0.5, 2.5, (21404, 21184, 40708), -1.57),
    ("normalised", 0, 2, (365, 16618, 36229, 16974, 390), 2.25),
    ("logistic", 0.5, 2.5, (223, 9863, 21279, 10037, 246), -3.07),
]

# Results with published Elo, its error, normalised Elo, its error, and LOS in per cent.
ESTIMATES = [
    ((96, 111, 136), 40.70, 30.43, 49.77, 36.77, 99.60),
    ((356, 0, 34), None, None, -508.44, 34.48, None),
    ((332, 433, 498, 333, 334), -8.64, 10.33, -9.17, 10.96, 5.05),
    ((7895, 8757, 5685, 568, 9999), -21.04, 2.95, -19.01, 2.65, None),
]


@pytest.mark.parametrize("model, elo0, elo1, counts, published", RATIOS)
def test_a_ratio_is_the_published_one(model, elo0, elo1, counts, published):
    if len(counts) == 3:
        wins, losses, draws = counts
        counts = losses, draws, wins
    ratio = judge(Sprt(elo0, elo1, model=model), counts).llr
    assert ratio == pytest.approx(published, abs=0.006)


@pytest.mark.parametrize("counts, value, error, normalised, normalised_error, los", ESTIMATES)
def test_estimates_are_the_published_ones(counts, value, error, normalised, normalised_error, los):
    score = MeanScore.of(counts)
    estimate, other = score.elo, score.normalised_elo
    assert other.value == pytest.approx(normalised, abs=0.01)
    assert (other.high - other.low) / 2 == pytest.approx(normalised_error, abs=0.01)
    if value is not None:
        assert estimate.value == pytest.approx(value, abs=0.01)
        assert (estimate.high - estimate.low) / 2 == pytest.approx(error, abs=0.01)
    if los is not None:
        assert 100 * score.superiority == pytest.approx(los, abs=0.01)


@pytest.mark.parametrize("model", MOST_ELO)
def test_the_largest_hypotheses_are_tested_on_any_few_results(model):
    test = Sprt(-MOST_ELO[model], MOST_ELO[model], model=model)
    for counts in product((0, 3), repeat=5):
        if any(counts):
            ratio = judge(test, counts).llr
            assert judge(test, counts[::-1]).llr == pytest.approx(-ratio, abs=1e-6)
            assert (abs(ratio) > 1e-6) == (counts != counts[::-1])


def test_shut_out_has_a_bound_on_one_side():
    estimate = MeanScore.of((0, 0, 0, 0, 10)).elo
    assert estimate.value == estimate.high == elo.ELO_CAP
    assert 150 < estimate.low < 400
    assert MeanScore.of((0, 0, 0, 0, 10)).superiority > 0.999
    mirrored = MeanScore.of((10, 0, 0, 0, 0)).elo
    assert mirrored.high == pytest.approx(-estimate.low)


def test_each_rate_of_error_sets_the_bound_that_it_belongs_to():
    verdict = judge(Sprt(0, 10, alpha=0.01, beta=0.2), (0, 0, 0, 0, 0))
    assert (verdict.lower, verdict.upper) == pytest.approx((math.log(20 / 99), math.log(80)))


def test_lone_games_count_beside_pairs():
    together = MeanScore.of((0, 2, 3, 2, 1), (1, 0, 2)).elo
    points, games = (2 * 1 + 3 * 2 + 2 * 3 + 4) / 2 + 2, 2 * 8 + 3
    assert elo.score_of(together.value) == pytest.approx(points / games)
    assert MeanScore.of((0,) * 5, (3, 4, 5)) == MeanScore.of((3, 4, 5))


def test_ladder_of_two_is_their_elo(monkeypatch):
    invert = Mock(wraps=elo._invert)
    monkeypatch.setattr(elo, "_invert", invert)
    ratings = rate([("a", "b", 7500.0, 10000)])
    assert invert.call_count < 10
    assert ratings[0].elo - ratings[1].elo == pytest.approx(190.85, abs=0.1)
    variance = Z95 * LOGISTIC / math.sqrt(10000 * 0.75 * 0.25)
    assert ratings[0].error == pytest.approx(variance / 2, rel=0.01)


def test_anchor_keeps_its_rating_and_moves_the_others():
    meetings = [("a", "b", 64.0, 100), ("b", "c", 64.0, 100), ("a", "c", 76.0, 100)]
    free = {r.engine: r.elo for r in rate(meetings)}
    anchored = {r.engine: r for r in rate(meetings, {"b": 1500.0})}
    assert anchored["b"].elo == 1500.0
    assert anchored["b"].error == 0.0
    assert anchored["a"].elo - 1500 == pytest.approx(free["a"] - free["b"], abs=0.01)
    assert sum(free.values()) == pytest.approx(0, abs=1e-3)
    assert anchored["c"].error > 0


@given(
    st.lists(st.tuples(*map(st.sampled_from, ("abcd", "efgh")), st.integers(0, 40)), min_size=1),
    st.sampled_from([{}, {"a": 1500.0}, {"a": 1500.0, "e": -1500.0}]),
)
def test_each_engine_has_the_points_that_its_rating_expects(results, anchors):
    meetings = [(a, b, half / 2, 20) for a, b, half in results]
    ratings = {rating.engine: rating.elo for rating in rate(meetings, anchors)}
    surplus = dict.fromkeys(ratings, 0.0)
    for a, b, points, games in meetings:
        more = points + PRIOR_DRAWS / 2
        more -= (games + PRIOR_DRAWS) * score_of(ratings[a] - ratings[b])
        surplus[a] += more
        surplus[b] -= more
    assert all(abs(more) < 1e-4 for name, more in surplus.items() if name not in anchors)


def test_engines_that_have_not_met_in_any_way_differ_by_anything():
    apart = [("a", "b", 1.0, 1), ("c", "d", 0.0, 1)]
    assert [rating.error for rating in rate(apart)] == [elo.ELO_CAP] * 4
    anchored = {rating.engine: rating.error for rating in rate(apart, {"a": 1500.0})}
    assert anchored["b"] < anchored["c"] == anchored["d"] == elo.ELO_CAP
