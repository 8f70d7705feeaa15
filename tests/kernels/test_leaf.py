"""The leaf search: what it may stand on, what it has to answer, and the fours that it plays."""

from __future__ import annotations

from typing import Any

import pytest

from pbrain_engine.eval.evaluate import evaluate
from pbrain_engine.position.rules import Rule
from pbrain_engine.search.alphabeta import leaf as module
from pbrain_engine.search.alphabeta.leaf import leaf
from pbrain_engine.search.alphabeta.memory import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    cell_of_entry,
    depth_of,
    probe,
    store,
    value_of,
)
from pbrain_engine.values import INFINITE, loss_in, win_in
from tests.kernels.memory import cell, shared_block, tables_of_rule, worker_after

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
CALM = "h8i9i7g9"


def ask(moves: str, alpha: int = -INFINITE, beta: int = INFINITE, ply: int = 1) -> tuple[int, Any]:
    worker, shared = worker_after(moves), shared_block()
    before = worker.state.position.ply
    value = int(leaf(worker, TABLES, shared, alpha, beta, 0, ply))
    assert worker.state.position.ply == before
    return value, (worker, shared)


def test_a_calm_position_is_worth_its_evaluation_which_goes_to_the_table() -> None:
    for alpha, beta, bound in ((-INFINITE, INFINITE, EXACT), (-900, -800, LOWER),
                               (5000, 5001, UPPER)):  # fmt: skip
        value, (worker, shared) = ask(CALM, alpha, beta)
        assert value == evaluate(worker.state, TABLES)
        data = probe(shared, worker.state.position.key)
        assert (value_of(data), bound_of(data), depth_of(data)) == (value, bound, 0)


@pytest.mark.parametrize("ply", [1, 6])
def test_what_is_decided_at_a_glance_counts_from_the_root(ply: int) -> None:
    for moves, value in (("h8a1i8c1j8e1k8g1", win_in(ply + 1)), ("h8a1i8c1j8e1", win_in(ply + 3)),
                         ("h8a1i8c1j8e1k8", loss_in(ply + 2))):  # fmt: skip
        assert ask(moves, ply=ply)[0] == value


def test_fours_win_where_the_evaluation_alone_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "static_result", five_or_nothing)
    value, (worker, _) = ask("h8a1i8c1j8e1")
    assert value == win_in(1 + 3)
    line = [int(move) for move in worker.pv[1, : worker.pv_length[1]]]
    assert line[0] in (cell("g8"), cell("k8")) and len(line) == 2


def five_or_nothing(state: Any, tables: Any, ply: int) -> int:
    side = state.position.side
    return win_in(ply + 1) if state.counts[side, 13] > 0 else 0


def test_a_five_is_answered_and_no_evaluation_stood_on() -> None:
    value, (worker, shared) = ask("h8g8i8a1j8c1k8")
    assert worker.pv[1, 0] == cell("l8")
    after = worker_after("h8g8i8a1j8c1k8l8")
    assert value == -evaluate(after.state, TABLES)
    assert probe(shared, worker.state.position.key) == 0


def test_hopeless_fours_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    inner = module.list_fours

    def listing(*arguments: Any) -> int:
        tried.append(1)
        return int(inner(*arguments))

    monkeypatch.setattr(module, "list_fours", listing)
    worker, shared = worker_after(CALM), shared_block()
    static = evaluate(worker.state, TABLES)
    delta = shared.params.delta
    for alpha, looks in ((static, True), (static + delta - 1, True), (static + delta, False)):
        tried.clear()
        shared.words[:] = 0
        leaf(worker, TABLES, shared, alpha, alpha + 1, 0, 1)
        assert bool(tried) == looks


@pytest.mark.parametrize("value, bound, cuts", [
    (70, LOWER, True), (61, LOWER, True), (60, LOWER, False), (50, LOWER, False),
    (50, UPPER, True), (60, UPPER, True), (61, UPPER, False), (61, EXACT, True), (60, EXACT, True),
])  # fmt: skip
def test_the_table_is_believed_where_its_bound_decides(value: int, bound: int, cuts: bool) -> None:
    worker, shared = worker_after(CALM), shared_block()
    store(shared, worker.state.position.key, 1, value, 0, 0, 0, bound)
    found = leaf(worker, TABLES, shared, 60, 61, 0, 1)
    assert (found == value) == cuts
    # After a four the leaf search is another, which the table does not know.
    again = worker_after(CALM), shared_block()
    store(again[1], again[0].state.position.key, 1, value, 0, 0, 0, bound)
    static = evaluate(again[0].state, TABLES)
    assert leaf(again[0], TABLES, again[1], 60, 61, 1, 1) == static


def test_the_move_that_was_found_goes_to_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "static_result", five_or_nothing)
    _, (worker, shared) = ask("h8a1i8c1j8e1")
    data = probe(shared, worker.state.position.key)
    assert cell_of_entry(data) == worker.pv[1, 0]


def test_a_full_board_is_a_draw_and_a_stopped_search_nothing() -> None:
    worker, shared = worker_after(CALM), shared_block()
    worker.state.position.width, worker.state.position.height = 2, 2
    assert leaf(worker, TABLES, shared, -5, 5, 0, 1) == 0
    worker = worker_after(CALM)
    worker.node_limit = 1
    assert leaf(worker, TABLES, shared, -5, 5, 0, 1) == 0 and worker.stopped == 1
    assert not shared.words.any()


def test_where_rows_can_be_closed_every_answer_to_a_five_is_tried() -> None:
    caro = tables_of_rule(Rule.CARO)
    worker, shared = worker_after("h8a1i8c1j8e1k8", Rule.CARO), shared_block()
    tried: list[int] = []

    def searched(worker, *rest):  # type: ignore[no-untyped-def]
        tried.append(int(worker.state.position.moves[worker.state.position.ply - 1]))
        return -worker.state.position.ply * 10 + len(tried)

    inner = module.leaf
    module.leaf = searched
    try:
        value = inner(worker, caro, shared, -INFINITE, INFINITE, 0, 1)
    finally:
        module.leaf = inner
    assert len(tried) != 1 and value <= 0
