"""The root: its list of moves, and what a stopped or a proven search leaves there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pbrain_engine.patterns.state import play
from pbrain_engine.position.board import bit_of
from pbrain_engine.position.rules import Rule
from pbrain_engine.search.alphabeta import root
from pbrain_engine.search.alphabeta.root import (
    PROVEN_DEPTH,
    drop_root,
    iterate,
    list_root,
    note_win,
    prepare_root,
    search_root,
)
from pbrain_engine.search.alphabeta.table import (
    LOWER,
    UPPER,
    bound_of,
    cell_of_entry,
    depth_of,
    probe,
    value_of,
)
from pbrain_engine.search.parameters import ONE
from pbrain_engine.values import INFINITE, WIN, win_in
from tests.kernels.memory import cell, cells, shared_block, tables_of_rule, worker_after

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
RENJU = tables_of_rule(Rule.RENJU)
CALM = "h8i9i7g9"


def root_moves(worker: Any) -> list[int]:
    return [int(move) for move in worker.root_moves[: worker.root_count]]


def test_a_stopped_iteration_leaves_the_table_alone(monkeypatch):
    def stopped(worker: Any, *rest: Any) -> int:
        worker.stopped = 1
        return 0

    worker, shared = worker_after(CALM), shared_block()
    worker.root_count = 1
    monkeypatch.setattr(root, "search_root", stopped)
    assert iterate(worker, TABLES, shared, 7, 0) == 0
    assert not shared.words.any()


class Moves:
    """Root moves with scripted searches: ``truth`` by cell and depth of the search behind it."""

    def __init__(self, patch: pytest.MonkeyPatch, truth: dict[int, list[int]]) -> None:
        self.worker, self.shared = worker_after(CALM), shared_block()
        self.truth = truth
        self.calls: list[tuple[int, int, int, int]] = []
        self.worker.root_count = len(truth)
        for number, move in enumerate(truth):
            self.worker.root_moves[number] = move
            self.worker.root_values[move] = -INFINITE
        patch.setattr(root, "search", self._search)

    def _search(self, worker, tables, shared, alpha, beta, depth, ply, cut):
        move = int(worker.state.position.moves[worker.state.position.ply - 1])
        self.calls.append((move, int(-beta), int(-alpha), int(depth)))
        worker.pv[1, 0], worker.pv_length[1] = 500 + move % 100, 1
        values = self.truth[move]
        value = values[0] if depth < 7 * ONE else values[-1]
        return -min(max(value, -beta - 3), -alpha + 3)

    def run(self, alpha: int = -100, beta: int = 100, first: int = 0) -> int:
        return int(search_root(self.worker, TABLES, self.shared, alpha, beta, 8 * ONE, first))


def test_a_stopped_search_leaves_the_best_move_so_far_in_front(monkeypatch):
    a, b, c = cells("j8j9j10")
    moves = Moves(monkeypatch, {a: [5], b: [30], c: [99]})
    inner = moves._search

    def stops(worker, *rest):
        move = int(worker.state.position.moves[worker.state.position.ply - 1])
        worker.stopped = int(move == c)
        return inner(worker, *rest)

    monkeypatch.setattr(root, "search", stops)
    moves.run()
    assert root_moves(moves.worker)[0] == b and moves.worker.root_values[b] == 30
    assert moves.worker.state.position.ply == 4


def test_the_next_best_line_leaves_those_before_it_alone(monkeypatch):
    a, b, c = cells("j8j9j10")
    moves = Moves(monkeypatch, {a: [50], b: [10], c: [20]})
    moves.run(first=1)
    assert root_moves(moves.worker) == [a, c, b]
    assert a not in {move for move, *_ in moves.calls}


def test_dropping_a_root_move_keeps_the_others_in_order():
    worker = worker_after(CALM)
    a, b, c, d = cells("j8j9j10j11")
    worker.root_count = 4
    worker.root_moves[:4] = [a, d, b, c]
    assert drop_root(worker, d) == 3 and root_moves(worker) == [a, b, c]
    assert drop_root(worker, cell("o15")) == 3
    assert [drop_root(worker, place) for place in (c, a, b)] == [2, 1, 1]
    assert root_moves(worker) == [b], "the last one stays"


def test_the_root_considers_a_five_or_else_the_answers_or_else_all_candidates():
    for moves, expected in (("h8a1i8c1j8e1k8g1", "g8l8"), ("h8g8i8a1j8c1k8", "l8")):
        worker = worker_after(moves)
        list_root(worker, TABLES, shared_block(), 0)
        assert set(root_moves(worker)) == set(cells(expected))
    # Where every answer fails (both ends of the four win) the game is played on.
    for moves, least in ((CALM, 60), ("h8a1i8c1j8e1k8", 30)):
        assert list_root(worker_after(moves), TABLES, shared_block(), 0) > least


def test_barred_and_forbidden_cells_are_no_root_moves_unless_nothing_else_is_left():
    worker = worker_after(CALM)
    place = cell("j8")
    worker.barred[place >> 6] |= bit_of(place)
    list_root(worker, TABLES, shared_block(), 0)
    assert place not in root_moves(worker) and cell("j9") in root_moves(worker)
    worker.barred[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
    assert list_root(worker, TABLES, shared_block(), 0) > 30
    renju = worker_after("g8a1i8o1h7a15h9o15", Rule.RENJU)  # h8 would be a double three
    list_root(renju, RENJU, shared_block(), 0)
    assert cell("h8") not in root_moves(renju) and cell("g9") in root_moves(renju)


@pytest.mark.parametrize("first", [0, 1])
def test_a_proven_win_is_noted_for_the_winner_at_least_and_the_loser_at_most(first):
    worker, shared = worker_after(CALM), shared_block()
    line = cells("j8j9k8k9l8")[: 4 + first]
    value = WIN - (first + 2 * 2 - 1)
    state = worker.state
    note_win(worker, TABLES, shared, np.array(line), len(line), first, value)
    assert state.position.ply == 4
    for number, place in enumerate(line):
        data = probe(shared, state.position.key)
        if number < first:
            assert data == 0
        else:
            wins = (number - first) % 2 == 0
            plies = (WIN - value) - number
            assert bound_of(data) == (LOWER if wins else UPPER)
            assert value_of(data) == (WIN - plies if wins else plies - WIN)
            assert cell_of_entry(data) == place and depth_of(data) >= PROVEN_DEPTH
        play(state, TABLES, place)


def test_a_five_at_the_root_is_a_win_in_one():
    worker, shared = worker_after("h8a1i8c1j8e1k8g1"), shared_block()
    prepare_root(worker, TABLES, shared, 1 << 60, 0)
    assert iterate(worker, TABLES, shared, 1, 0) == 1
    assert worker.root_values[root_moves(worker)[0]] == win_in(1)
