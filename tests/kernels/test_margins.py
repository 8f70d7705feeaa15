"""The margins of the search: which way each grows, and their values at the tuned numbers."""

from __future__ import annotations

import math

import pytest

from pbrain_engine.search.alphabeta.memory import (
    count_limit,
    futility_margin,
    history_bonus,
    late_reduction,
    log_of,
    razor_margin,
)
from pbrain_engine.search.parameters import ONE, PARAMETERS
from tests.kernels.memory import shared_block

pytestmark = pytest.mark.uncompiled

PARAMS = shared_block().params
DEPTHS = range(0, 20 * ONE, ONE // 2)


def test_logarithms_are_those_to_the_base_two() -> None:
    for number in range(1, 2000):
        assert 64 * math.log2(number) - 7 < log_of(number) <= 64 * math.log2(number)
    assert [log_of(1 << power) for power in range(12)] == [64 * power for power in range(12)]


def test_deeper_nodes_ask_for_more_and_those_that_improve_for_a_ply_less() -> None:
    for depth in DEPTHS:
        plies = depth / ONE
        assert futility_margin(PARAMS, depth, 0) == PARAMS.futility_slope * plies // 1
        assert futility_margin(PARAMS, depth + ONE, 1) == futility_margin(PARAMS, depth, 0)
        assert razor_margin(PARAMS, depth) == PARAMS.razor_base + PARAMS.razor_slope * plies // 1


def test_more_moves_are_looked_at_deeper_in_pv_nodes_and_where_things_improve() -> None:
    for improving in (0, 1):
        for pv in (False, True):
            limits = [count_limit(PARAMS, depth, improving, pv) for depth in DEPTHS]
            assert limits == sorted(limits) and limits[0] > 0
    for depth in DEPTHS:
        plain = count_limit(PARAMS, depth, 1, False)
        assert count_limit(PARAMS, depth, 0, False) == plain // 2
        assert count_limit(PARAMS, depth, 1, True) > plain * 3 // 2
    assert count_limit(PARAMS, 0, 1, False) == PARAMS.count_base


def test_later_moves_and_deeper_nodes_are_reduced_more() -> None:
    for depth in DEPTHS:
        reductions = [late_reduction(PARAMS, depth, number) for number in range(1, 60)]
        assert reductions == sorted(reductions)
        assert reductions[0] == PARAMS.reduction_base
    for number in (2, 10, 50):
        reductions = [late_reduction(PARAMS, depth, number) for depth in DEPTHS]
        assert reductions == sorted(reductions)
    # The product of the logarithms to the base two, four by two: 8 * 29 - 19.
    assert late_reduction(PARAMS, 16 * ONE, 4) == 8 * PARAMS.reduction_scale + PARAMS.reduction_base


def test_a_cut_counts_more_the_deeper_it_is_up_to_a_limit() -> None:
    bonuses = [history_bonus(PARAMS, depth) for depth in DEPTHS]
    assert bonuses == sorted(bonuses) and bonuses[0] == 52
    assert bonuses[-1] == PARAMS.history_bonus


def test_every_number_lies_in_the_range_that_tuning_may_try() -> None:
    for name, parameter in PARAMETERS.items():
        assert parameter.low <= parameter.default <= parameter.high, name
