"""Which of several threads is believed when a search ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from pbrain_engine import Engine, Limit, Move, Thought
from pbrain_engine.board.desk import Archive, Desk, Desks, Job
from pbrain_engine.board.messages import Operation
from pbrain_engine.engine.alphabeta import Search, deepest
from pbrain_engine.threads import STACK_BYTES, SearchThreads, start_deep
from pbrain_engine.values import WIN

OWN = Thought(10, (Move(7, 7),), 12, 20, 1000, 0.1)
OTHER = OWN._replace(value=-5, depth=13, line=(Move(6, 6),))
DROPPED = Move(1, 1)


def believed(own: Thought, other: Thought) -> Thought:
    return deepest(own, [other], {DROPPED})


def test_a_deeper_thread_is_believed():
    assert believed(OWN, OTHER) == OTHER
    assert believed(OWN, OTHER._replace(value=WIN - 9)).value == WIN - 9


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (OWN, OTHER._replace(depth=12)),  # no deeper
        (OWN, OTHER._replace(value=9 - WIN)),  # it knows of a loss alone
        (OWN, OTHER._replace(line=(DROPPED,))),  # dropped by the first
        (OWN._replace(value=WIN - 9), OTHER),
        (OWN._replace(value=8 - WIN), OTHER),
    ],
)
def test_otherwise_the_first_thread_is(own, other):
    assert believed(own, other) == own


def run_a_crew() -> None:
    SearchThreads(lambda: None).run(lambda: None, lambda: None)


def use_a_desk() -> None:
    desk = Desk(Desks(1, Archive()))
    desk.submit(Job(Operation("", {}, lambda desk, job: {})))
    desk.close()


@pytest.mark.parametrize("others", [run_a_crew, use_a_desk])
def test_threads_that_search_all_get_deep_stacks_and_leave_the_usual_one(others, monkeypatch):
    own = stack_size()
    sizes: set[int] = set()

    class Slow(threading.Thread):
        def start(self) -> None:
            time.sleep(0.001)  # in which others may set the size
            sizes.add(stack_size())
            super().start()

    def work(use: Callable[[], None]) -> None:
        for _ in range(5):
            use()

    uses = (run_a_crew, others, run_a_crew, others)
    engines = [threading.Thread(target=work, args=(use,)) for use in uses]
    monkeypatch.setattr(threading, "Thread", Slow)
    for engine in engines:
        engine.start()
    for engine in engines:
        engine.join()
    left = threading.stack_size(own)
    assert (sizes, left) == ({STACK_BYTES}, own)


def stack_size() -> int:
    """Return the size of the stacks of new threads, which to ask sets it to the usual one."""
    size = threading.stack_size()
    threading.stack_size(size)
    return size


def test_a_leader_is_here_where_the_stack_is_deep_and_stops_its_helpers_whatever_happens():
    seen: list[object] = []
    stopped = threading.Event()

    def lead() -> None:
        seen.append(threading.current_thread())
        raise LookupError

    def run() -> None:
        seen.append(threading.current_thread())
        with pytest.raises(LookupError):
            SearchThreads(stopped.set).run(lead, lambda: seen.append(stopped.wait(30)))
        stopped.clear()

    run()
    (thread,) = start_deep([run])
    thread.join()
    here, leader, helped, deep, *others = seen
    assert here is threading.main_thread() and leader is not here and helped is True
    assert deep is thread and set(others) == {thread, True}


def test_a_depth_limit_is_kept_by_all_threads():
    with Engine(hash_size=1 << 24, threads=2) as engine:
        engine.play(7, 7)
        for _ in range(3):
            assert engine.think(Limit(depth=7)).depth == 7


def test_a_system_without_threads_is_short_of_memory(monkeypatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(MemoryError, match="can't start new thread"):
        SearchThreads(lambda: None).run(lambda: None)


def test_every_thread_of_an_engine_searches(monkeypatch):
    searched, search = list[int](), Search._help

    def note(self: Search, worker: int, number: int) -> None:
        searched.append(number)
        search(self, worker, number)

    monkeypatch.setattr(Search, "_help", note)
    with Engine(memory=60_000_000, threads=3) as engine:
        engine.think(Limit(depth=2))
    assert sorted(searched) == [1, 2]
