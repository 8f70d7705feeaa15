"""The plan of a move's time, and the pace of its search."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine import Limit, Move, Thought
from pbrain_engine.engine import pacing
from pbrain_engine.engine.pacing import (
    COMING_PER_STONE,
    FIRST_COMING,
    ON_TIME,
    OVERHEAD,
    UNLIMITED,
    Limits,
    Pace,
    TimePlan,
    plan,
)
from pbrain_engine.values import win_in

CELLS = 225
milliseconds = st.none() | st.integers(-(2**40), 2**63)


@given(milliseconds, milliseconds, st.integers(0, 10**6), st.integers(0, 224))
def test_no_limit_is_ever_exceeded(turn, left, increment, ply):
    made = plan(Limits(turn, left, increment), ply, CELLS)
    assert 0 <= made.optimum <= made.hard
    assert made.optimum > 0 or min(x for x in (turn, left) if x is not None) <= 0
    for limit in (turn, left):
        if limit is not None:
            assert made.hard <= max(limit, 0) / 1000 or limit >= 10**8


@pytest.mark.parametrize(
    ("limits", "least", "most"),
    [
        (Limits(turn=0), -1, 0), (Limits(turn=5000, left=0), -1, 0),
        (Limits(turn=5000, left=-691), -1, 0), (Limits(), 4.9, 4.999),
        (Limits(turn=2000), 1.96, 1.999), (Limits(turn=100), 0.06, 0.08),
        (Limits(turn=20), 0.002, 0.02),  # a tiny turn is not given away
        (Limits(turn=5, left=1, increment=9), 0, 0.001),  # it is not there yet
        *((Limits(giant, giant), UNLIMITED, UNLIMITED)
          for giant in (2**31 - 1, 100_000_000, 2**63 - 1)),
        (Limits(1000, 2**31 - 1), 0.9, 0.999),
    ],
)  # fmt: skip
def test_a_move_has_what_its_limits_leave(limits, least, most):
    made = plan(limits, 20, CELLS)
    assert least <= made.hard <= most and made.optimum == made.hard


def test_late_answers_raise_the_reserve_for_a_while():
    late = ON_TIME.after(0.02)
    assert plan(Limits(turn=1000), 20, CELLS, late=late).hard < 1 - OVERHEAD - 0.019
    late = late.after(0.001)  # one that is in time does not make it forget
    assert 0.019 < late.worst < 0.02 and 0 < late.mean < 0.005
    for _ in range(100):
        late = late.after(0.001)
    assert 0 < late.worst < 0.002 and late.mean == pytest.approx(0.001)
    assert max(late.after(5.0)) <= 0.1  # suspended in the middle of a search
    for seconds in (-1.0, float("-inf")):  # decided long before, or not limited at all
        assert late.after(seconds) == late


@pytest.mark.parametrize("match", [6.0, 60.0])
@pytest.mark.parametrize(
    ("share", "plies", "lateness"),
    [
        ("optimum", CELLS, (0.0,)), ("optimum", CELLS, (0.0, 0.0, 0.005, 0.03)),
        ("hard", 110, (0.0,)), ("hard", 60, (0.07,)),
    ],
    ids=["idle", "busy", "hard", "hard and busy"],
)  # fmt: skip
def test_every_move_of_a_long_match_has_time(match, share, plies, lateness):
    """A move takes what is planned, pipes take 10 ms; at the end a stall would not lose."""
    left, late = match, ON_TIME
    for number, ply in enumerate(range(0, plies, 2)):
        made = plan(Limits(None, round(left * 1000)), ply, CELLS, late=late)
        assert made.hard > 0.018
        seconds = lateness[number % len(lateness)]
        left -= getattr(made, share) + 0.01 + seconds
        late = late.after(seconds)
    assert left > (0.1 if share == "optimum" else 0.5)


@pytest.mark.parametrize(
    ("match", "lateness"), [(20.0, 0.03), (20.0, 0.07), (20.0, 0.09), (60.0, 0.09)]
)
def test_a_machine_that_is_always_busy_loses_no_match(match, lateness):
    """Where every answer is late the time for that is kept back; at the end nothing is searched."""
    left, late = match, ON_TIME
    searched = 0
    for ply in range(0, CELLS, 2):
        made = plan(Limits(None, round(left * 1000)), ply, CELLS, late=late)
        searched += made.hard > 0
        left -= made.optimum + 0.01 + (lateness if made.hard > 0 else lateness / 3)
        assert left > 0
        late = late.after(lateness)
    assert searched > 50


@pytest.mark.parametrize("match", [6.0, 60.0])
@pytest.mark.parametrize("stalled", [0, 100])
def test_after_one_stall_every_move_still_has_time(match, stalled):
    left = match
    for ply in range(0, CELLS, 2):
        made = plan(Limits(None, round(left * 1000)), ply, CELLS)
        assert made.hard > 0.018
        left -= made.optimum + 0.01 + 0.35 * (ply == stalled)


def test_the_reserve_costs_matches_of_minutes_little():
    """Of what a move at the start of the middle game could have without any."""
    for match, share in ((60, 0.95), (180, 0.98), (1000, 0.99)):
        made = plan(Limits(None, match * 1000), 20, CELLS)
        assert share < made.optimum / (match / (FIRST_COMING + COMING_PER_STONE * 20)) < 1


def test_most_of_the_clock_is_used_before_games_are_decided():
    """Five of six games end, or are seen through, within 24 own moves; none may wait for more."""
    left, used = 180.0, []
    for ply in range(6, 6 + 2 * 24, 2):
        used.append(plan(Limits(None, round(left * 1000)), ply, CELLS).optimum)
        left -= used[-1]
    assert sum(used) > 0.85 * 180
    assert used[0] < 0.15 * 180
    assert used == sorted(used, reverse=True)


@pytest.mark.parametrize(
    ("left", "increment", "ply", "hard", "optimum"),
    [
        # 102 moves may follow: 10 of them keep 44 ms, 16 ms each of the others up to the 80th
        (10, 0, 20, 8.04 * 0.2, 8.04 / 10.5), (10, 0.02, 20, 9.36 * 0.2 + 0.02, 9.36 / 10.5 + 0.02),
        (10, 0, 4, 8.808 * 0.2, 8.808 / 8.5), (10, 0, 205, 9.204 * 0.2, 9.204 / 10),
        (10, 1, 20, 2.92, 20.1 / 10.5), (10, 1, 2, 2.92, 17.85 / 8.25 / 2),
        (10, 1, 3, 2.92, 17.975 / 8.375 / 2), (10, 1, 4, 2.92, 18.1 / 8.5), (1, 5, 20, 0.6, 0.6),
        (10, 1, 221, 5.8, 5.8), (10, 0, 217, 2.367, 2.367), (10, 0, 224, 9.6, 9.6),
    ],
)  # fmt: skip
def test_a_move_gets_its_share_of_the_match(left, increment, ply, hard, optimum):
    made = plan(Limits(None, round(left * 1000), round(increment * 1000)), ply, CELLS)
    most = hard - OVERHEAD
    assert made == pytest.approx((most, min(optimum, most)))


MOVES = {"a": Move(1, 1), "b": Move(2, 2)}


def stops(pace: Pace, elapsed: float, move: str, value: int, depth: int) -> bool:
    thought = Thought(value, (MOVES[move],), depth, depth)
    return pace.should_stop(thought, elapsed)


@pytest.mark.parametrize(
    ("moves", "drop", "factor"),
    [
        ("a", 0, 0.65), ("aaa", 0, 0.65), ("aaa", -500, 0.65),
        ("ab", 0, 0.65 + 0.55), ("abb", 0, 0.65 + 0.55 * 0.6), ("aba", 0, 0.65 + 0.55 * 1.6),
        ("aa", 60, 0.65 + 0.3), ("aa", 120, 0.65 + 0.6), ("aa", 999, 0.65 + 0.6),
        ("ababab", 999, 2.5),
    ],
)  # fmt: skip
def test_a_search_goes_on_where_its_move_changes_or_its_value_falls(moves, drop, factor):
    for elapsed in (2 * factor - 0.001, 2 * factor + 0.001):
        pace = Pace(TimePlan(10.0, 2.0), 0.0)
        for depth, move in enumerate(moves[:-1], 1):
            assert not stops(pace, 0.1, move, 10, depth)
        assert stops(pace, elapsed, moves[-1], 10 - drop, 9) is (elapsed > 2 * factor)


class LateTimer:
    """A timer on a clock of its own, which rings ``late`` seconds after its moment."""

    now = 0.0
    late = 0.0
    pending: LateTimer | None = None
    daemon = False

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.rings_at, self.act = LateTimer.now + seconds, act

    def start(self) -> None:
        LateTimer.pending = self

    def cancel(self) -> None:
        LateTimer.pending = None


def stopped_after(monkeypatch: pytest.MonkeyPatch, hard: float, late: float, lag: float) -> float:
    """Return when a search of so many seconds is stopped by timers that ring late."""
    monkeypatch.setattr(pacing, "LAG", pacing.Lag())
    if lag:
        pacing.LAG.note(lag + pacing.IDLE_LAG)
    monkeypatch.setattr(pacing.threading, "Timer", LateTimer)
    monkeypatch.setattr(pacing, "perf_counter", lambda: LateTimer.now)
    LateTimer.now = 0.0
    stops: list[float] = []
    Pace(TimePlan(hard, hard), 0.0).set_stop(lambda: stops.append(LateTimer.now))
    while not stops:
        ringing = LateTimer.pending
        assert ringing is not None and ringing.daemon  # else the program would wait for it
        LateTimer.pending = None
        LateTimer.now = ringing.rings_at + late
        ringing.act()
    return stops[0]


@pytest.mark.parametrize("hard", [0.02, 0.1, 0.3, 5.0])
def test_a_timer_that_rings_late_is_wound_to_ring_earlier(monkeypatch, hard):
    late = min(0.04, hard / 2)
    assert stopped_after(monkeypatch, hard, late, late) == pytest.approx(hard, abs=1e-6)
    assert pacing.LAG.seconds == pytest.approx(max(late - pacing.IDLE_LAG, late * 0.9))


@pytest.mark.parametrize("late", [0.0, 0.001, pacing.IDLE_LAG])
def test_on_an_idle_machine_a_search_has_all_of_its_time(monkeypatch, late):
    assert stopped_after(monkeypatch, 0.1, late, 0.0) == pytest.approx(0.1 + late)
    assert pacing.LAG.lead(0.1) == pytest.approx(0)


def test_a_search_has_half_of_its_limit_however_late_timers_ring(monkeypatch):
    assert stopped_after(monkeypatch, 0.02, 0.0, 10.0) == pytest.approx(0.01)


def test_a_whole_turn_is_never_saved():
    pace = Pace.of(Limit(time=1.0), 0.0)
    assert not stops(pace, 0.99, "a", 10, 30)
    assert stops(pace, 1.0, "a", 10, 31)


def test_a_proven_win_ends_the_search_once_it_is_deep_enough():
    pace = Pace(TimePlan(1.0, 1.0), 0.0)
    assert not stops(pace, 0.1, "a", win_in(9), 5)
    assert stops(pace, 0.1, "a", win_in(9), 9)
