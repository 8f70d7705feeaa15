"""History and the order of moves: what has cut comes first, and what has not comes later."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pbrain_engine.eval.evaluate import move_score
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.patterns.shapes import MAKES_FOUR, MAKES_THREE, QUIET
from pbrain_engine.patterns.state import class_at
from pbrain_engine.position.board import bit_of
from pbrain_engine.position.rules import EMPTY, Rule
from pbrain_engine.search.alphabeta.alphabeta import credit_cut
from pbrain_engine.search.alphabeta.leaf import is_close, list_fours, quick_move, urgency
from pbrain_engine.search.alphabeta.memory import (
    STACK_BASE,
    add_history,
    fade_history,
    forget,
    history_bonus,
    is_attack,
    must_stop,
    set_pv,
)
from pbrain_engine.search.alphabeta.ordering import (
    centre_of,
    list_alone,
    list_marked,
    list_moves,
    list_scored,
    mark_candidates,
    pick_move,
    put_first,
    raise_move,
)
from pbrain_engine.search.parameters import ONE
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
CALM = "h8i9i7g9"
FRAME = STACK_BASE  # of the root


def test_history_rises_with_a_bonus_falls_with_a_malus_and_stays_in_its_bounds() -> None:
    params = shared_block().params
    worker = worker_after()
    for bonus, sign in ((700, 1), (-700, -1)):
        forget(worker)
        seen = []
        for _ in range(80):
            add_history(worker, params, 1, QUIET, 300, bonus)
            seen.append(sign * int(worker.history[1, 0, 300]))
        assert seen == sorted(seen) and seen[0] == 700
        assert params.history_limit * 9 // 10 < seen[-1] <= params.history_limit
        assert (worker.history != 0).sum() == 1


def test_moves_that_threaten_have_a_history_of_their_own() -> None:
    worker, params = worker_after(), shared_block().params
    assert [is_attack(kind) for kind in (QUIET, MAKES_THREE - 1, MAKES_THREE, MAKES_FOUR)] == [
        0, 0, 1, 1,
    ]  # fmt: skip
    add_history(worker, params, 0, MAKES_THREE, 300, 50)
    assert worker.history[0, 1, 300] == 50 and worker.history[0, 0, 300] == 0


def test_between_moves_history_is_halved_and_in_a_new_game_forgotten() -> None:
    worker = worker_after()
    worker.history[0, 1, 300], worker.counters[1, 300], worker.barred[5] = 40, 301, 3
    fade_history(worker)
    assert worker.history[0, 1, 300] == 20 and worker.counters[1, 300] == 301
    forget(worker)
    assert not worker.history.any() and not worker.counters.any() and not worker.barred.any()


def test_the_move_that_cut_is_rewarded_and_those_before_it_are_punished() -> None:
    worker, shared = worker_after(CALM), shared_block()
    frame = worker.stack[3 + STACK_BASE]
    tried = cells("a1b2c3d4")
    for number, place in enumerate(tried):
        frame.moves[number] = 77 * 65536 + place
    credit_cut(worker, shared, 3, 2, 4 * ONE)
    bonus = history_bonus(shared.params, 4 * ONE)
    assert [worker.history[0, 0, place] for place in tried] == [-bonus, -bonus, bonus, 0]
    assert worker.counters[0, cell("g9")] == cell("c3")  # black's answer to white's last stone
    assert worker.history[1].any() == worker.counters[1].any() == False  # noqa: E712


def test_an_order_is_score_and_history_and_the_counter_move() -> None:
    worker, shared = worker_after(CALM), shared_block()
    place = cell("j8")
    plain = scores_of(worker, shared)
    assert plain[place] == move_score(worker.state, TABLES, 0, place)
    worker.counters[0, cell("g9")] = place  # white's last stone
    assert scores_of(worker, shared) == plain | {place: plain[place] + shared.params.counter_score}
    worker.counters[0, cell("g9")] = 0
    attack = is_attack(class_at(worker.state, 0, place))
    for points in (5, -5):
        worker.history[0, attack, place] = points * shared.params.history_order
        assert scores_of(worker, shared) == plain | {place: plain[place] + points}
        assert scores_of(worker, shared, learned=False) == plain


def scores_of(worker: Any, shared: Any, *, learned: bool = True) -> dict[int, int]:
    """Return the candidates with their scores."""
    mark_candidates(worker)
    count, top = list_scored(worker, TABLES, shared, 0, False, learned)
    moves = [int(move) for move in worker.stack[FRAME].moves[:count]]
    assert top == max(moves) >> 16
    return {move & 0xFFFF: move >> 16 for move in moves}


def test_what_has_cut_is_tried_before_its_equals() -> None:
    worker, shared = worker_after(CALM), shared_block()
    mark_candidates(worker)
    count = list_marked(worker, TABLES, shared, 0, False)
    before = [pick_move(worker, 0, i, count) for i in range(count)]
    late = before[count // 2]
    for attack in (0, 1):
        worker.history[0, attack, late] = shared.params.history_limit
    mark_candidates(worker)
    list_marked(worker, TABLES, shared, 0, False)
    after = [pick_move(worker, 0, i, count) for i in range(count)]
    assert after.index(late) < before.index(late)
    assert sorted(after) == sorted(before)


def test_moves_are_picked_best_first_and_equal_ones_by_their_cell() -> None:
    worker = worker_after()
    frame = worker.stack[1 + STACK_BASE]
    packed = [(5, 40), (9, 33), (-3, 50), (9, 35), (0, 1)]
    for number, (score, place) in enumerate(packed):
        frame.moves[number] = score * 65536 + place
    assert [pick_move(worker, 1, i, 5) for i in range(5)] == [35, 33, 40, 1, 50]
    assert sorted(listed_moves(frame.moves, 5)) == [1, 33, 35, 40, 50]


def test_a_raised_move_is_the_first_and_no_other_is_lost() -> None:
    worker = worker_after()
    frame = worker.stack[1 + STACK_BASE]
    for number, place in enumerate((40, 41, 42)):
        frame.moves[number] = (100 - number) * 65536 + place
    raise_move(worker, 1, 3, 42)
    raise_move(worker, 1, 3, 99)  # not on the list
    assert [pick_move(worker, 1, i, 3) for i in range(3)] == [42, 40, 41]


def test_a_move_that_was_tried_alone_stays_first_among_the_others() -> None:
    worker = worker_after()
    frame = worker.stack[1 + STACK_BASE]
    frame.ranked = 1
    assert list_alone(worker, 1, 42) == 1 and frame.ranked == 0
    assert pick_move(worker, 1, 0, 1) == 42
    for first, wanted in ((42, [42, 40, 41]), (99, [99, 40, 41, 42]), (40, [40, 41, 42])):
        for number, place in enumerate((40, 41, 42)):
            frame.moves[number] = (100 - number) * 65536 + place
        count = put_first(worker, 1, 3, first)
        assert [pick_move(worker, 1, i, count) for i in range(count)] == wanted
    assert put_first(worker, 1, 0, 7) == 1 and pick_move(worker, 1, 0, 1) == 7


# Which moves there are --------------------------------------------------------------------


def test_candidates_are_the_empty_cells_near_a_stone() -> None:
    worker = worker_after("h8")
    mark_candidates(worker)
    found = marked(worker)
    for name, is_near in (("k11", True), ("l12", True), ("l8", True), ("l11", False),
                          ("m8", False), ("h8", False)):  # fmt: skip
        assert (cell(name) in found) == is_near, name
    assert len(found) == 48 + 8


def test_on_an_empty_board_the_candidate_is_the_centre_and_with_a_wall_there_any_cell() -> None:
    for size, name in ((15, "h8"), (20, "k11"), (5, "c3")):
        worker = worker_after(size=size)
        mark_candidates(worker)
        assert marked(worker) == {cell(name, size)} == {centre_of(worker.state.position)}


def test_far_from_the_leaves_every_candidate_is_searched_and_near_them_what_has_a_shape() -> None:
    worker, shared = worker_after("h8"), shared_block()
    deep = list_moves(worker, TABLES, shared, 1, shared.params.shaped_depth)
    near = list_moves(worker, TABLES, shared, 1, shared.params.shaped_depth - 1)
    assert 0 < near < deep == 56


@pytest.mark.parametrize(
    ("moves", "answers"),
    [
        ("h8a1i8c1j8e1k8", ""),  # four in a row: both ends win
        ("h8g8i8a1j8c1k8", "l8"),
        ("h8a15i8o15j8", "g8k8"),
        ("h8a1i8a2b15a3j8", "g8k8a4a5"),  # own fours answer an open three, too
    ],
)
def test_against_a_threat_only_its_answers_are_listed(moves: str, answers: str) -> None:
    worker = worker_after(moves)
    count = list_moves(worker, TABLES, shared_block(), 1, 20 * ONE)
    assert set(listed_moves(worker.stack[1 + STACK_BASE].moves, count)) == set(cells(answers))


def test_the_leaf_search_tries_fours_near_the_own_last_stone() -> None:
    three = "h8c1i8e1j8g1"
    near = worker_after("a15i1" + three)
    assert list_fours(near, TABLES, 0, True) == 4
    assert set(listed_moves(near.stack[FRAME].moves, 4)) == set(cells("f8g8k8l8"))
    assert list_fours(near, TABLES, 0, False) == 2  # later on, no four that is nothing else
    assert list_fours(worker_after(three + "a15i1"), TABLES, 0, True) == 0
    assert is_close(cell("a3"), cell("a7")) and is_close(cell("a3"), cell("e7"))
    assert is_close(cell("a3"), cell("d6")) and is_close(cell("a3"), cell("b6"))
    assert not is_close(cell("a3"), cell("b7")) and not is_close(cell("a3"), cell("f3"))


@pytest.mark.parametrize(
    ("moves", "answer"),
    [
        ("h8a1i8c1j8e1k8a15g1o15", "g8l8"),  # one's own five before anything else
        ("h8g8i8a1j8c1k8", "l8"),  # the enemy's five
        ("h8a1i8b1j8c1o15d1", "e1"),  # also before one's own winning four
        ("h8a1i8c1j8e1", "g8k8"),  # one's own winning four
        ("h8a15i8o15j8", "f8g8k8l8"),  # the enemy's
    ],
)
def test_without_a_search_the_strongest_threat_decides(moves: str, answer: str) -> None:
    state = worker_after(moves).state
    assert quick_move(state, TABLES) in cells(answer)


def test_of_moves_that_are_as_urgent_the_best_scored_and_then_the_most_central_is_taken() -> None:
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


# A worker's own affairs -------------------------------------------------------------------


def test_a_search_ends_at_its_node_limit_and_looks_at_the_stop_flag_now_and_then() -> None:
    worker, shared = worker_after(), shared_block()
    worker.node_limit = 1000
    for nodes, stop, ends in ((999, 0, False), (1000, 0, True), (255, 1, False), (256, 1, True)):
        worker.nodes, shared.stop, worker.stopped = nodes, stop, 0
        assert must_stop(worker, shared) == ends
        assert worker.stopped == int(ends)


def test_a_line_is_the_move_and_the_line_behind_it() -> None:
    worker = worker_after()
    worker.pv[5, :3] = (11, 12, 13)
    worker.pv_length[5] = 3
    set_pv(worker, 4, 10)
    assert list(worker.pv[4, :4]) == [10, 11, 12, 13] and worker.pv_length[4] == 4
