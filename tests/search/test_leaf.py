"""The leaf search: where it ends, and where rows can be closed."""

from __future__ import annotations

import pytest

from pbrain_engine.position.rules import Rule
from pbrain_engine.search.alphabeta import leaf as module
from pbrain_engine.search.alphabeta.leaf import leaf
from pbrain_engine.values import INFINITE
from tests.kernels.memory import shared_block, tables_of_rule, worker_after

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
CALM = "h8i9i7g9"


def test_a_full_board_is_a_draw_and_a_stopped_search_nothing():
    worker, shared = worker_after(CALM), shared_block()
    worker.state.position.width, worker.state.position.height = 2, 2
    assert leaf(worker, TABLES, shared, -5, 5, 0, 1) == 0
    worker = worker_after(CALM)
    worker.node_limit = 1
    assert leaf(worker, TABLES, shared, -5, 5, 0, 1) == 0 and worker.stopped == 1
    assert not shared.words.any()


def test_where_rows_can_be_closed_every_answer_to_a_five_is_tried(monkeypatch):
    caro = tables_of_rule(Rule.CARO)
    worker, shared = worker_after("h8a1i8c1j8e1k8", Rule.CARO), shared_block()
    tried: list[int] = []

    def searched(worker, *rest):
        tried.append(int(worker.state.position.moves[worker.state.position.ply - 1]))
        return -worker.state.position.ply * 10 + len(tried)

    monkeypatch.setattr(module, "leaf", searched)
    value = leaf(worker, caro, shared, -INFINITE, INFINITE, 0, 1)
    assert len(tried) != 1 and value <= 0
