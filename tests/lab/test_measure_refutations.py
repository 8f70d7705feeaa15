"""When the measurement of refutations says that a losing move was seen through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lab.measure_refutations import NODES, Seen, see
from pbrain_engine.engine.engine import Engine, Limit, Move, Thought

POSITION = {"size": 15, "rule": "renju", "moves": "h8i9h9", "lost_by": "h10", "holds": "h7"}
BAD, GOOD = Move(7, 9), Move(7, 6)
LOST_VALUE = -900


@pytest.mark.parametrize(
    "iterations, nodes, is_seen",
    [
        ([(BAD, 0, 10), (GOOD, 0, 50), (GOOD, 0, 90)], 50, True),
        ([(GOOD, 0, 10), (BAD, 0, 50), (BAD, LOST_VALUE, 90)], 90, True),
        ([(GOOD, 0, 10), (GOOD, 0, 50)], 10, True),
        ([(BAD, LOST_VALUE, 10), (BAD, 0, 50), (GOOD, LOST_VALUE, 70)], 70, True),
        ([(GOOD, 0, 10), (BAD, 0, 50)], NODES, False),
        ([(BAD, 0, 10), (GOOD, 0, 300), (GOOD, 0, 200_001), (BAD, 0, 300_000)], 300, True),
        ([(BAD, 0, 10), (GOOD, 0, 150_000), (BAD, 0, 300_000)], NODES, False),
    ],
)
def test_the_first_iteration_after_the_last_that_was_fooled_counts(
    engine, iterations, nodes, is_seen, monkeypatch
):
    def think(engine: Engine, limit: Limit, on_iteration: Callable[[Thought], Any]) -> Thought:
        assert engine.game.moves == [Move(7, 7), Move(8, 8), Move(7, 8)] and limit.time is None
        for move, value, spent in iterations:
            said = Thought(value, (move,), depth=5, nodes=spent)
            if on_iteration(said):
                break
        return said

    monkeypatch.setattr(Engine, "think", think)
    assert see(engine, POSITION) == Seen("holds", "h10", nodes, is_seen)
