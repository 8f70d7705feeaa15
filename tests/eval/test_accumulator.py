"""The network as plain Python: the block written out, the stones followed, value and policy."""

from __future__ import annotations

from array import array
from functools import cache
from typing import Any

import numpy as np
import pytest

from pbrain_engine.eval.evaluator import (
    ask_moves,
    begin,
    judge,
    linear_logit,
)
from pbrain_engine.eval.network.accumulator import NETWORK, bring_up
from pbrain_engine.eval.network.layers import ask_policy, ask_trunk
from pbrain_engine.eval.network.unpack import unpack
from pbrain_engine.patterns.state import play, undo
from pbrain_engine.position.rules import Rule
from pbrain_engine.search.alphabeta import ordering
from pbrain_engine.search.alphabeta.ordering import (
    list_ranked,
    list_scored,
    mark_candidates,
    score_of_best,
)
from pbrain_engine.search.alphabeta.worker import STACK_BASE
from tests.kernels.memory import cells, plain, shared_block, tables_of_rule, worker_after
from tests.networks import random_network

pytestmark = pytest.mark.uncompiled

CALM = "d4e5e3c5f3"
SIZE = 7


@cache
def evaluator() -> Any:
    """Return tables with a network beside them."""
    from types import SimpleNamespace

    raw = random_network("freestyle")
    network = plain(NETWORK)
    block = np.array(array("h", raw))
    with np.errstate(over="ignore"):
        assert unpack(network, block, len(block), 4) == 1
    return SimpleNamespace(tables=tables_of_rule(Rule.FREESTYLE), network=network)


def test_the_value_needs_no_row_of_the_last_stone():
    worker, tables = worker_after(CALM, size=SIZE), evaluator().tables
    state, accumulator = worker.state, worker.accumulator
    begin(accumulator, evaluator(), state)
    rows = accumulator.rows.copy()
    cases = (("c4", 0), ("d3", 0), ("d3", 0), ("c4d3", 1), ("c4", 1), ("", 0), ("d3", 0))
    for moves, depth in cases:
        for cell in cells(moves, SIZE):
            play(state, tables, cell)
        fresh = worker_after(CALM + moves, size=SIZE)
        begin(fresh.accumulator, evaluator(), fresh.state)
        expected = judge(fresh.accumulator, evaluator(), fresh.state)
        assert judge(accumulator, evaluator(), state) == expected, moves
        assert accumulator.depth == depth and (accumulator.rows == rows).all() == (depth == 0)
        for _ in cells(moves, SIZE):
            undo(state, tables)


def test_the_trunk_of_a_value_serves_the_policy_of_the_same_position():
    worker, tables = worker_after(CALM, size=SIZE), evaluator().tables
    state, accumulator = worker.state, worker.accumulator
    begin(accumulator, evaluator(), state)
    for cell, others in zip(cells("c4d3", SIZE), cells("d3c4", SIZE), strict=True):
        play(state, tables, cell)
        judge(accumulator, evaluator(), state)
        accumulator.trunk[:] = 1
        ask_moves(accumulator, evaluator(), state)
        assert (accumulator.trunk == 1).all() and accumulator.depth == 1
        undo(state, tables)
        play(state, tables, others)
        judge(accumulator, evaluator(), state)
        ask_moves(accumulator, evaluator(), state)
        assert not (accumulator.trunk == 1).all()
        undo(state, tables)


@pytest.mark.parametrize("side", (0, 1))
def test_the_policy_of_a_position_is_computed_once_for_each_side(side):
    worker, network = worker_after(CALM, size=SIZE), evaluator().network
    accumulator = worker.accumulator
    begin(accumulator, evaluator(), worker.state)
    bring_up(accumulator, network, worker.state.position, 4, True)
    for asked, is_new in ((side, True), (side, False), (1 - side, True)):
        accumulator.feature_weights[:] = 0
        ask_trunk(accumulator, network, asked, 0)
        ask_policy(accumulator, network, asked)
        assert bool(accumulator.feature_weights.any()) == is_new


def test_the_policy_is_asked_about_the_moves_that_are_best_by_the_linear_score(monkeypatch):
    monkeypatch.setattr(ordering, "note_chances", lambda *_: None)
    scores: dict[int, int] = {}
    found: dict[int, dict[int, int]] = {}
    least = 0
    for most in (400, 8):
        worker, shared = worker_after(CALM, size=SIZE), shared_block(policy_moves=most)
        begin(worker.accumulator, evaluator(), worker.state)
        mark_candidates(worker)
        count, top = list_scored(worker, evaluator(), 0, False)
        moves = worker.stack[STACK_BASE].moves
        scores = {int(move) & 0xFFFF: int(move) >> 16 for move in moves[:count]}
        least = score_of_best(worker, 0, count, top, np.int64(8))
        assert list_ranked(worker, evaluator(), shared.params, 0, False) == count
        assert {int(move) & 0xFFFF for move in moves[:count]} == set(scores)
        found[most] = {cell: int(worker.stack[STACK_BASE].unlikely[cell]) for cell in scores}

    gains = {
        cell: found[400][cell] - int(linear_logit(evaluator(), 1, scores[cell])) for cell in scores
    }
    asked = {cell for cell in scores if scores[cell] >= least}
    assert 8 <= len(asked) < len(scores)
    gain = sum(gains[cell] for cell in asked) // len(asked)
    highest = max(found[400][cell] for cell in asked)
    others = int(shared_block().params.policy_others)
    for cell in scores:
        logit = found[400][cell]
        if cell not in asked:
            logit = min(logit - gains[cell] + gain - others, highest)
        assert found[8][cell] == logit
