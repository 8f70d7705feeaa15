"""History, which moves there are, and a sensible move without a search."""

from __future__ import annotations

import random
from math import exp, log
from typing import Any

import pytest

from pbrain_engine.eval.evaluator import move_score, quick_move, urgency
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.position.board import bit_of
from pbrain_engine.position.geometry import NO_CELL
from pbrain_engine.position.rules import EMPTY, Rule
from pbrain_engine.search.alphabeta.leaf import is_close, list_fours
from pbrain_engine.search.alphabeta.ordering import (
    counter_of,
    mark_candidates,
    note_chances,
    pick_move,
    put_first,
)
from pbrain_engine.search.alphabeta.worker import STACK_BASE, fade_history, forget, must_stop
from pbrain_engine.search.threats.memory import pack_entry
from tests.kernels.memory import (
    cell,
    cells,
    listed_moves,
    marked,
    shared_block,
    tables_of_rule,
    worker_after,
)

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
FRAME = STACK_BASE  # of the root


def test_between_moves_history_is_halved_and_in_a_new_game_forgotten():
    worker = worker_after()
    worker.history[0, 1, 300], worker.counters[1, 300], worker.barred[5] = 40, 301, 3
    fade_history(worker)
    assert worker.history[0, 1, 300] == 20 and worker.counters[1, 300] == 301
    forget(worker)
    assert not worker.history.any() and not worker.counters.any() and not worker.barred.any()


def test_a_counter_move_is_one_to_a_move():
    for moves, counter in (("", NO_CELL), ("h8", 301)):
        worker = worker_after(moves)
        worker.counters[0, NO_CELL], worker.counters[1, cell("h8")] = 300, 301
        assert counter_of(worker, int(worker.state.position.side)) == counter


def test_improbabilities_are_logarithms_of_chances():
    chance = random.Random(1)
    for logits in ([7], [0] + 59 * [-100], [chance.randint(-1200, 400) for _ in range(60)]):
        frame = worker_after().stack[FRAME]
        for number, logit in enumerate(logits):
            frame.moves[number] = pack_entry(number, 0)
            frame.unlikely[number] = logit
        note_chances(frame, len(logits), max(logits))
        total = sum(exp(logit / 256) for logit in logits)
        for number, logit in enumerate(logits):
            assert abs(int(frame.unlikely[number]) - (256 * log(total) - logit)) < 20


def test_a_move_that_was_tried_alone_stays_first_among_the_others():
    worker = worker_after()
    frame = worker.stack[1 + STACK_BASE]
    for first, wanted in ((42, [42, 40, 41]), (99, [99, 40, 41, 42]), (40, [40, 41, 42])):
        for number, place in enumerate((40, 41, 42)):
            frame.moves[number] = (100 - number) * 65536 + place
        count = put_first(worker, 1, 3, first)
        assert [pick_move(worker, 1, i, count) for i in range(count)] == wanted
    assert put_first(worker, 1, 0, 7) == 1 and pick_move(worker, 1, 0, 1) == 7


def test_candidates_are_the_empty_cells_near_a_stone():
    worker = worker_after("h8")
    mark_candidates(worker)
    found = marked(worker)
    for name, is_near in (("k11", True), ("l12", True), ("l8", True), ("l11", False),
                          ("m8", False), ("h8", False)):  # fmt: skip
        assert (cell(name) in found) == is_near, name
    assert len(found) == 48 + 8


def test_the_leaf_search_tries_fours_near_the_own_last_stone():
    three = "h8c1i8e1j8g1"
    near = worker_after("a15i1" + three)
    assert list_fours(near, TABLES, 0, True) == 4
    assert set(listed_moves(near.stack[FRAME].moves, 4)) == set(cells("f8g8k8l8"))
    assert list_fours(near, TABLES, 0, False) == 2  # later on, no four that is nothing else
    assert list_fours(worker_after(three + "a15i1"), TABLES, 0, True) == 0
    assert is_close(cell("a3"), cell("a7")) and is_close(cell("a3"), cell("e7"))
    assert is_close(cell("a3"), cell("d6")) and is_close(cell("a3"), cell("b6"))
    assert not is_close(cell("a3"), cell("b7")) and not is_close(cell("a3"), cell("f3"))


def test_of_moves_that_are_as_urgent_the_best_scored_and_then_the_most_central_is_taken():
    chance = random.Random(8)
    for stones in (0, 1, 2, 3, 6, 9, 12):
        names = [f"{column}{row}" for column in "abcdefghi" for row in range(1, 10)]
        state = worker_after("".join(chance.sample(names, stones)), size=9).state
        side, near = int(state.position.side), state.near[state.position.ply]

        def worth(name: str, state: Any = state, side: int = side) -> tuple[int, int]:
            place = cell(name, 9)
            x, y = parse_moves(name, 9)[0]
            score = 64 * int(move_score(state, TABLES, side, place)) if state.position.ply else 0
            return urgency(state, side, place) + score - abs(x - 4) - abs(y - 4), -place

        free = [name for name in names if state.position.holds[cell(name, 9)] == EMPTY]
        close = [name for name in free if near[cell(name, 9) >> 6] & bit_of(cell(name, 9))]
        assert quick_move(state, TABLES) == cell(max(close or free, key=worth), 9)


@pytest.mark.parametrize(
    ("stones", "best"),
    [
        ("c3a1d3b1e3c1f3d1", "b3g3"),  # both have fives
        ("c3a1d3b1e3c1a9d1", "e1"),  # the enemy has a five, the own four would be open
        ("c4d7d4e7e4f7", "b4f4"),  # both would have an open four
    ],
)
def test_a_quick_move_wins_before_it_defends_and_takes_a_five_before_a_four(stones, best):
    assert quick_move(worker_after(stones, size=9).state, TABLES) in cells(best, 9)


def test_a_search_ends_at_its_node_limit_and_looks_at_the_stop_flag_now_and_then():
    worker, shared = worker_after(), shared_block()
    worker.node_limit = 1000
    for nodes, stop, ends in ((999, 0, False), (1000, 0, True), (255, 1, False), (256, 1, True)):
        worker.nodes, shared.stop, worker.stopped = nodes, stop, 0
        assert must_stop(worker, shared) == ends
        assert worker.stopped == int(ends)
