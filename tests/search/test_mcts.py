"""The tree search: it proves only what is true, and keeps the promises of the alpha-beta."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lab import small_boards
from pbrain_engine.engine.engine import MCTS, Engine, EngineError, Limit
from pbrain_engine.engine.montecarlo import MonteCarlo
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.game import Move
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.search.mcts.tree import BLOCK, BUCKET, NODE, TREE
from pbrain_engine.values import WIN_BAND, win_in
from tests.golden import visits
from tests.kernels.memory import check_tree
from tests.oracle.rules import CARO, read_board

QUIET = "h8i9j10g9h10"
OPEN_THREE = "h8a1i8c1j8e1"  # black wins by fours
ALONE = {"threat_share": 0}  # no help by the solver
PLAIN_RESULT = (30, 28, 5, 0, 6, 330, 329, 328, 327, 326, 325)  # of a small search, by any means


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(search=MCTS, hash_size=8 << 20) as engine:
        yield engine


def set_up(engine: Engine, moves: str, size: int = 15, rule: Rule = Rule.FREESTYLE) -> None:
    engine.new_game(size, rule=rule)
    for x, y in parse_moves(moves, size, size):
        engine.play(x, y)


def check_memory(engine: Engine) -> None:
    """Refuse a tree that is not whole, or through which a visit is still under way."""
    searcher = engine._searcher
    assert isinstance(searcher, MonteCarlo)
    memory, lists = (ctypes.string_at(b.address, b.length) for b in searcher.blocks[:2])
    fields: Any = TREE.fields
    numbers = [(name, at) for name, (kind, at, *_) in fields.items() if kind == np.int64]
    tree = SimpleNamespace(**{name: np.frombuffer(memory, int, 1, at)[0] for name, at in numbers})
    tree.nodes = np.frombuffer(memory, NODE, 1 + BUCKET * tree.buckets, fields["nodes"][1])
    check_tree(tree, SimpleNamespace(blocks=np.frombuffer(lists, BLOCK)))


# What it proves -----------------------------------------------------------------------


def test_nothing_that_is_proven_on_small_boards_is_false() -> None:
    assert small_boards.main(["--positions", "60", "--visits", "600"]) == 0


@pytest.mark.long
def test_nothing_that_is_proven_on_many_small_boards_is_false() -> None:
    assert small_boards.main(["--positions", "2000"]) == 0


@pytest.mark.parametrize("rule", Rule)
def test_a_win_by_fours_or_a_loss_to_them_is_seen_without_the_solver(rule: Rule) -> None:
    with Engine(search=MCTS, hash_size=8 << 20, parameters=ALONE) as engine:
        set_up(engine, OPEN_THREE, rule=rule)
        thought = engine.think(Limit(nodes=2000))
        assert thought.value >= WIN_BAND, thought
        assert thought.visits < 2000, "a proven root ends the search"
        set_up(engine, OPEN_THREE + "k8")
        thought = engine.think(Limit(nodes=3000))
        assert thought.mate == -2
        assert thought.move in [Move(6, 7), Move(11, 7)], "a five is blocked all the same"


NEARLY_FULL = """
OXO..
.XXXO
O.OXO
XOOOX
XOXXO
XOOOO
XXOOX
"""
FAR = """
OX...########
#############
#############
#############
###########..
"""


@pytest.mark.parametrize("drawing", [NEARLY_FULL, FAR])
def test_a_draw_is_proven_by_all_moves(engine: Engine, drawing: str) -> None:
    small_boards.put_on(engine, read_board(drawing, CARO), Side.BLACK)
    thought = engine.think(Limit(nodes=50_000))
    assert thought.value == 0 and thought.visits < 50_000, "a proven root ends the search"


def test_a_five_is_completed_and_an_empty_board_begins_in_the_centre(engine: Engine) -> None:
    set_up(engine, "h8a1i8c1j8e1k8g8")
    thought = engine.think(Limit(nodes=50))
    assert (thought.move, thought.value) == (Move(11, 7), win_in(1))
    engine.new_game(15)
    assert engine.think(Limit(nodes=200)).move == Move(7, 7)


# The same again -----------------------------------------------------------------------


def test_searches_find_what_they_always_did() -> None:
    expected = visits.FILE.read_text(encoding="utf-8").splitlines()
    for was, now in zip(expected, visits.found(), strict=True):
        assert was == now, "if that was meant: python -m tests.golden.visits"


def test_the_tree_is_kept_from_move_to_move(engine: Engine) -> None:
    set_up(engine, QUIET)
    fresh = engine.think(Limit(nodes=2000))
    engine.play(*fresh.pv[0])
    engine.play(*fresh.pv[1])
    kept = engine.think(Limit(nodes=300))
    engine.clear_hash()
    forgotten = engine.think(Limit(nodes=300))
    assert kept.depth > forgotten.depth or kept.nodes < forgotten.nodes


# Memory -------------------------------------------------------------------------------


def test_a_small_memory_is_kept_and_still_enough_to_search() -> None:
    with Engine(search=MCTS, hash_size=1 << 20) as engine:
        set_up(engine, QUIET, size=20)
        thought = engine.think(Limit(nodes=40_000))
        assert thought.visits == 40_000
        assert engine.table_bytes <= 1 << 20
        searcher = engine._searcher
        assert isinstance(searcher, MonteCarlo)
        recycled = searcher.blocks[0].address + TREE.fields["recycled"][1]  # type: ignore[index]
        assert ctypes.c_int64.from_address(recycled).value > 1000
        check_memory(engine)


# Time and threads ---------------------------------------------------------------------


@pytest.mark.timed
@pytest.mark.parametrize("seconds", [0.05, 0.3])
def test_a_time_limit_is_kept(engine: Engine, seconds: float) -> None:
    set_up(engine, QUIET)
    began = time.perf_counter()
    engine.think(Limit(time=seconds))
    assert time.perf_counter() - began < seconds + 0.5


@pytest.mark.timed
@pytest.mark.parametrize("threads", [1, 3])
def test_stop_ends_an_endless_search(threads: int) -> None:
    with Engine(search=MCTS, hash_size=1 << 20, threads=threads) as engine:
        set_up(engine, QUIET)
        engine.arm()
        ended: list[float] = []

        def stop() -> None:
            ended.append(time.perf_counter())
            engine.stop()

        threading.Timer(0.5, stop).start()
        thought = engine.think(Limit())
        assert time.perf_counter() - ended[0] < 0.3
        assert engine.game.at(*thought.move) is Side.EMPTY
        check_memory(engine)


def test_several_threads_share_a_tree_and_leave_it_whole() -> None:
    with Engine(search=MCTS, hash_size=1 << 20, threads=4) as engine:
        set_up(engine, QUIET)
        for _ in range(3):
            thought = engine.think(Limit(nodes=4000))
            assert thought.visits >= 4000
            check_memory(engine)
            engine.play(*thought.move)


@pytest.mark.timed
def test_a_helper_lets_the_first_thread_at_a_tree_without_news() -> None:
    board = read_board(NEARLY_FULL, CARO)
    with Engine(search=MCTS, hash_size=1 << 20, threads=2) as engine:
        for _ in range(12):
            small_boards.put_on(engine, board, Side.BLACK)
            thought = engine.think(Limit(nodes=100_000, time=5), exclude=[(3, 0)])
            assert thought.time < 4 and thought.visits >= 100_000, "nothing is left to judge"


# The rest of the contract ---------------------------------------------------------------


def test_the_best_moves_are_different_ones_and_best_first(engine: Engine) -> None:
    set_up(engine, QUIET)
    found: dict[int, tuple[Move, int]] = {}
    engine.think(
        Limit(nodes=2000),
        on_iteration=lambda t: found.update({t.multipv: (t.move, t.value)}),
        multipv=3,
    )
    assert sorted(found) == [1, 2, 3]
    assert len({move for move, _ in found.values()}) == 3
    assert found[1][1] >= found[2][1] >= found[3][1]


def test_excluded_cells_are_not_played(engine: Engine) -> None:
    set_up(engine, QUIET)
    first = engine.think(Limit(nodes=500)).move
    assert engine.think(Limit(nodes=500), exclude=[first]).move != first


def test_the_last_empty_cell_is_played() -> None:
    with Engine(search=MCTS, hash_size=1 << 20) as engine:
        engine.new_game(5)
        cells = [(x, y) for y in range(5) for x in range(5)][:-1]
        for number, cell in enumerate(cells):
            engine.place(*cell, Side((number // 2 + number // 5) % 2))
        if engine.game.winner is None:
            assert engine.think(Limit(nodes=100)).move == Move(4, 4)


def test_an_unknown_search_is_refused() -> None:
    with pytest.raises(EngineError, match="alphabeta and mcts"):
        Engine(search="guess")


# Without the compiler -------------------------------------------------------------------


@pytest.mark.uncompiled
def test_the_tree_search_also_runs_as_plain_python() -> None:
    import numpy as np

    from tests.plain_tree import PlainTree

    with np.errstate(over="ignore"):  # hash keys wrap
        tree = PlainTree(6, int(Rule.FREESTYLE))
        for x, y in ((2, 2), (0, 0), (3, 2), (0, 2), (4, 2)):
            tree.play(x, y)
        assert tree.search(30) == PLAIN_RESULT


@pytest.mark.uncompiled
@pytest.mark.parametrize(("stay", "least", "most"), [(1, 0, 3), (1_000_000, 5, 30)])
def test_visits_take_the_same_way_where_many_have_passed(stay: int, least: int, most: int) -> None:
    import numpy as np

    from tests.plain_tree import PlainTree

    with np.errstate(over="ignore"):
        tree = PlainTree(6, int(Rule.FREESTYLE))
        tree.play(2, 2)
        tree.set("mcts_stay", stay)
        tree.plant()
        tree.walk(16)
        ways = [tree.walk(1)[0] for _ in range(24)]
    assert least <= sum(a != b for a, b in zip(ways, ways[1:], strict=False)) <= most, ways


def test_a_parameter_set_between_two_searches_counts_for_the_next() -> None:
    def search(at_first: int, then: int) -> tuple[int, int, int]:
        with Engine(memory=120_000_000, search=MCTS, parameters={"mcts_explore": at_first}) as one:
            one.think(Limit(nodes=1))
            one.set_parameter("mcts_explore", then)
            for x, y in parse_moves("h8i9g8", 15):
                one.play(x, y)
            thought = one.think(Limit(nodes=400))
            return thought.value, thought.nodes, thought.depth

    assert search(70, 300) == search(300, 300) != search(70, 70)
