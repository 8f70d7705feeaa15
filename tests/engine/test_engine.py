"""The Python API: limits, stopping, several engines, and what it refuses."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbrain_engine import Engine, Game, IllegalMove, Limit, Rule, Side, Solver, Thought
from pbrain_engine.engine.engine import EngineError
from pbrain_engine.engine.pacing import Pace, TimePlan
from pbrain_engine.engine.searcher import MOST_FOR_SOLVER
from pbrain_engine.errors import WeightsError
from pbrain_engine.native.load.library import KernelError
from pbrain_engine.native.load.memory import footprint
from pbrain_engine.search.alphabeta.table import MAX_WORDS
from tests.played import set_up
from tests.programs import run_program

OPENING = "h8i9i7g9"  # not decided for many plies
PROMPT = 0.25  # seconds: "within milliseconds" on a busy test machine


@pytest.mark.timed
@pytest.mark.parametrize(
    ("seconds", "most"), [(0.3, 0.3 + PROMPT), (0.05, 0.05 + PROMPT), (0.0, 0.05), (-3.0, 0.05)]
)
def test_a_time_limit_is_kept_also_where_there_is_no_time(engine, seconds, most):
    set_up(engine, OPENING)
    began = time.perf_counter()
    thought = engine.think(Limit(time=seconds))
    assert seconds * 0.5 <= time.perf_counter() - began <= most
    assert engine.game.at(*thought.move) is Side.EMPTY
    assert thought.depth >= 3 if seconds > 0 else thought.nodes == 0


@pytest.mark.parametrize("most", [2**31, 3 * 2**100 - 1])
def test_a_limit_may_be_larger_than_any_search(engine, most):
    set_up(engine, OPENING)
    engine.set_hash_size(None)  # so that the time says how much is of use
    engine.set_memory(60_000_000)
    for seconds in (float(most), float("inf")):
        limit = Limit(time=seconds, nodes=most)
        assert engine.think(limit, on_iteration=lambda t: t.depth == 3).depth == 3


def test_an_error_in_the_callback_comes_out_of_think(engine):
    def fail(thought: Thought) -> None:
        raise ZeroDivisionError

    set_up(engine, OPENING)
    with pytest.raises(ZeroDivisionError):
        engine.think(Limit(depth=5), on_iteration=fail)
    assert engine.think(Limit(depth=2)).depth == 2


@pytest.mark.timed
@pytest.mark.parametrize("threads", [1, 2])
def test_stop_ends_an_endless_search(engine, threads):
    set_up(engine, OPENING)
    engine.set_threads(threads)
    threading.Timer(0.2, engine.stop).start()
    began = time.perf_counter()
    thought = engine.think(Limit())
    assert 0.15 < time.perf_counter() - began < 0.2 + PROMPT
    assert engine.game.at(*thought.move) is Side.EMPTY


@pytest.mark.timed
def test_a_stop_before_an_announced_search_counts(engine):
    set_up(engine, OPENING)
    engine.arm()
    engine.stop()
    began = time.perf_counter()
    assert engine.think(Limit()).move in engine.game.legal_moves()
    assert time.perf_counter() - began < PROMPT


def test_an_old_stop_does_not_end_the_next_search(engine):
    set_up(engine, OPENING)
    engine.stop()
    assert engine.think(Limit(depth=5)).depth == 5


@pytest.mark.timed
def test_the_deadline_may_be_moved_meanwhile(engine):
    set_up(engine, OPENING)
    began = time.perf_counter()
    pace = Pace(TimePlan(30.0, 30.0), began)
    threading.Timer(0.1, lambda: pace.change(TimePlan(0.2, 0.2))).start()
    engine.think(Limit(), pace=pace)
    assert time.perf_counter() - began < 0.2 + PROMPT


def test_two_searches_at_once_are_refused(engine):
    set_up(engine, OPENING)
    running = threading.Event()
    errors: list[Exception] = []

    def second() -> None:
        running.wait()
        try:
            engine.think(Limit(depth=1))
        except EngineError as error:
            errors.append(error)
        engine.stop()

    thread = threading.Thread(target=second)
    thread.start()
    engine.think(Limit(time=5.0), on_iteration=lambda t: running.set())
    thread.join()
    assert len(errors) == 1 and "already" in str(errors[0])


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent differently there")
def test_an_interrupt_waits_for_the_search_to_end():
    code = (
        "import os, signal, threading\n"
        "from pbrain_engine import Engine, Limit\n"
        "for number in range(8):\n"
        "    with Engine(hash_size=1 << 24, threads=2) as engine:\n"
        "        engine.play(7, 7)\n"
        "        kill = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "        try:\n"
        "            threading.Timer(0.002 * number, kill).start()\n"
        "            engine.think(Limit(time=10))\n"
        "        except KeyboardInterrupt:\n"
        "            print('interrupted')\n"
    )
    result = run_program(sys.executable, "-c", code, timeout=60)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("interrupted") == 8


@pytest.mark.parametrize("threads", [2, 3])
def test_several_threads_find_the_win(engine, threads):
    set_up(engine, "h8a1i8a3j8a5")
    engine.set_threads(threads)
    assert engine.threads == threads
    assert engine.think(Limit(depth=6)).mate == 3


def test_several_engines_think_at_the_same_time():
    def nodes(_: int) -> int:
        with Engine(hash_size=2 << 20) as engine:
            set_up(engine, OPENING, Rule.STANDARD)
            return engine.think(Limit(depth=8)).nodes

    with ThreadPoolExecutor(3) as threads:
        assert len(set(threads.map(nodes, range(3)))) == 1


def test_the_game_before_is_apart_from_the_engine():
    with Engine(hash_size=1 << 20) as engine:
        set_up(engine, OPENING)
        before, moves = engine.game, engine.game.moves
        engine.new_game(15, rule=Rule.RENJU)
        engine.play(0, 0)
        other = engine.game
        engine.set_rule(Rule.STANDARD)
        assert before.moves == moves and before.rule is Rule.FREESTYLE
        before.play(0, 0)
        while before.ply:
            before.undo()
        other.undo()
        assert before.check() == other.check() == engine.game.check() == 0
        assert engine.game.moves == [(0, 0)]
        assert engine.think(Limit(nodes=100)).move != (0, 0)


def table_after(engine: Engine, **limit: float) -> int:
    """Return the bytes of the table after a search of few plies."""
    engine.think(Limit(depth=3, **limit))
    return engine.table_bytes


def test_the_table_follows_the_memory(engine):
    set_up(engine, OPENING)
    engine.set_hash_size(None)
    sizes = []
    others = footprint()  # what the tests before have left in this process
    for memory in (others + 900_000_000, others + 400_000_000, 1):
        engine.set_memory(memory)
        sizes.append(table_after(engine))
    assert 900_000_000 > sizes[0] > sizes[1] > sizes[2] == 1 << 20


def test_the_table_is_as_large_as_the_time_is_long():
    with Engine(memory=footprint() + 2_000_000_000) as engine:
        sizes = [table_after(engine, time=seconds) for seconds in (0.05, 0.02, 0.04, 2.0, 1.5)]
        assert sizes[0] == sizes[1] == sizes[2] <= 8 << 20  # kept, with what it holds
        assert 40 << 20 <= sizes[3] == sizes[4] <= 64 << 20
        assert table_after(engine, time=60.0, optimum=0.5) == sizes[4]
        assert 500 << 20 < table_after(engine) < 2_000_000_000
        engine.set_hash_size(1 << 22)
        assert table_after(engine, time=2.0) <= 1 << 22


def test_the_table_that_is_asked_for_stays_within_the_memory():
    with Engine(memory=footprint() + 500_000_000, hash_size=1 << 29) as engine:
        first = table_after(engine)
        assert 100_000_000 < first < 500_000_000
        engine.set_memory(footprint() + 2_000_000_000)
        assert first < table_after(engine) <= 1 << 29
    with Engine(hash_size=400_000_000) as engine:  # nothing was said about memory
        assert 370_000_000 < table_after(engine) <= 400_000_000
        engine.set_hash_size(None)
        assert table_after(engine) < 350_000_000


def test_no_table_is_larger_than_the_kernel_can_describe():
    with Engine(hash_size=1 << 40) as engine:
        assert table_after(engine, time=1.0) == 8 * MAX_WORDS - MOST_FOR_SOLVER


cells = st.tuples(st.integers(-1, 9), st.integers(-1, 9))
actions = st.one_of(
    st.tuples(st.just("play"), cells),
    st.tuples(st.just("undo"), cells),
    st.tuples(st.just("think"), cells),
    st.tuples(st.just("wall"), cells),
)


@settings(max_examples=40)
@given(st.lists(actions, max_size=40), st.sampled_from(Rule))
def test_any_sequence_of_calls_leaves_a_sound_game(sequence, rule):
    with Engine(hash_size=1 << 20) as engine:
        engine.new_game(9, rule=rule)
        model: list[tuple[int, int]] = []
        for action, cell in sequence:
            inside = all(0 <= at < 9 for at in cell)
            if action == "think":
                if not engine.game.is_full:
                    move = engine.think(Limit(nodes=300)).move
                    assert move not in model
            elif action == "undo":
                if model:
                    engine.undo()
                    model.pop()
                else:
                    with pytest.raises(IllegalMove):
                        engine.undo()
            elif inside and cell not in model:
                if action == "play":
                    engine.play(*cell)
                else:
                    engine.place(*cell, Side.WALL)
                model.append(cell)
            else:
                with pytest.raises(IllegalMove):
                    engine.play(*cell)
            assert engine.game.moves == model
        assert engine.game.check() == 0


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda e: e.play(7.5, 2), TypeError, "x is a whole number, not 7.5"),
        (lambda e: e.game.at(7.5, 2), TypeError, "x is a whole number, not 7.5"),
        (lambda e: Game(15, rule="renju").is_forbidden(7, "h"), TypeError, "y is a whole number"),
        (lambda e: e.think_lines(Limit(depth=1), None), TypeError, "multipv is a whole number"),
        (lambda e: e.set_threads(None), TypeError, "threads is a whole number, not None"),
        (lambda e: e.set_memory(None), TypeError, "memory is a whole number, not None"),
        (lambda e: e.place(7, 7, 99), ValueError, "99 is not a valid Side"),
        (lambda e: e.undo(), IllegalMove, "no stone to take back"),
        (lambda e: e.new_game(15, 15.0), TypeError, "the height is a whole number"),
        (lambda e: e.set_to_move(Side.EMPTY), ValueError, "black and white do"),
        (lambda e: e.game.save("a.psq", white=1.5), TypeError, "white is a name, not 1.5"),
        (lambda e: e.think(1.0), TypeError, "Limit"),
        (lambda e: e.think(Limit(depth=1), multipv=0), ValueError, "multipv is at least 1"),
        (lambda e: e.think(Limit(depth=1), exclude=[(99, 99)]), ValueError, "99,99 is off"),
        (lambda e: e.think(Limit(depth=1), exclude=[7]), TypeError, "not a cell"),
        (lambda e: e.set_threads(0), ValueError, "threads is at least 1"),
        (lambda e: e.set_memory("x"), TypeError, "memory is a whole number"),
        (lambda e: Engine(memory="x"), TypeError, "memory is a whole number"),
        (lambda e: Engine(memory=0), ValueError, "memory is at least 1"),
        (lambda e: Engine(threads=0), ValueError, "threads is at least 1"),
        (lambda e: Engine(hash_size=1.5), TypeError, "hash_size is a whole number"),
        (lambda e: Engine(parameters={"no_such": 1}), KeyError, "no_such"),
        (lambda e: Engine(parameters={"razor_base": 1.5}), TypeError, "razor_base is a whole"),
        (lambda e: Engine(parameters=1.5), TypeError, "float"),
        (lambda e: Engine(level=""), KernelError, "no kernel of level ''"),
        (lambda e: Engine(weights="no_such"), WeightsError, "no_such"),
        *((lambda e, wrong=wrong: Engine(weights=wrong), TypeError, f"a file, not {wrong}")
          for wrong in (99, None)),
        (lambda e: Limit(time=float("nan")), ValueError, "time"),
        (lambda e: Limit(optimum=float("nan")), ValueError, "optimum"),
        *((lambda e, wrong=wrong: Limit(**wrong), ValueError, "is at least 1, not")
          for wrong in ({"depth": 0}, {"depth": -1}, {"nodes": 0}, {"nodes": -1})),
        (lambda e: Limit(depth="3"), TypeError, "depth is a whole number"),
        (lambda e: Limit(time="3"), TypeError, "time is a number of seconds"),
        (lambda e: Solver(memory=-1), ValueError, "memory is at least 1"),
        (lambda e: Solver().threats(e.game, nodes=1.5), TypeError, "an integer"),
        (lambda e: Solver().fours(e), TypeError, "is asked about a Game, not"),
        *((lambda e, call=call: e.think(Limit(depth=4), on_iteration=lambda t: call(e)),
           EngineError, "thinking")
          for call in (Engine.new_game, Engine.clear_hash, Engine.close,
                       lambda e: e.set_rule("renju"), lambda e: e.search_nodes(9))),
    ],
)  # fmt: skip
def test_a_bad_argument_is_refused_in_words(engine, call, kind, words):
    with pytest.raises(kind, match=words):
        call(engine)
    assert engine.game.ply == engine.game.check() == 0 and engine.game.to_move is Side.BLACK
    assert engine.think(Limit(depth=1)).depth == 1
