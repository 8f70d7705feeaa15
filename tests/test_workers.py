"""Worker processes end when the process that started them does, however that happens."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine import workers
from pbrain_engine.arena import pool
from pbrain_engine.arena.settings import EngineSpec, MatchSettings, parse_engine
from pbrain_engine.workers import (
    ClusterError,
    ClusterPool,
    Pool,
    ProcessPool,
    ThreadCache,
    in_order,
)
from tests.programs import start_program

SCRIPT = textwrap.dedent(
    """
    import os
    import signal
    import time
    from multiprocessing import get_context

    from pbrain_engine.workers import ProcessPool, become_worker

    if __name__ == "__main__":
        helpers = ProcessPool(print, 2).executor
        pool = get_context("spawn").Pool(1, become_worker)
        assert pool.apply(signal.getsignal, [signal.SIGINT]) is signal.SIG_IGN
        print(helpers.submit(os.getpid).result(), pool.apply(os.getpid), flush=True)
        BUSY
        time.sleep(600)
    """
)

BUILDER = textwrap.dedent(
    """
    import sys

    from pbrain_engine.cli import main
    from pbrain_engine.workers import ProcessPool

    submit = ProcessPool.submit

    def tell(self, job):
        submit(self, job)
        while not any(future.running() for future in self._attempts):
            pass
        print("searching", flush=True)

    if __name__ == "__main__":
        ProcessPool.submit = tell
        sys.exit(main(["book", *sys.argv[1:]]))
    """
)


@pytest.mark.parametrize("busy", ["", "helpers.submit(time.sleep, 600)"])
def test_helpers_of_a_killed_process_end(tmp_path, busy):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("BUSY", busy))
    starter = start_program(sys.executable, str(script), stderr=None)
    assert len(set(starter.stdout.readline().split())) == 2
    starter.kill()
    # The helpers have inherited the pipe: it ends when the last of them does.
    rest, _ = starter.communicate(timeout=20)
    assert rest == ""


def test_helpers_work_in_order():
    make_pool = partial(ProcessPool, processes=2)
    assert list(in_order(make_pool, abs, range(-20, 0))) == list(range(20, 0, -1))


def test_waiting_ends_when_nothing_can_come_any_more(monkeypatch):
    class Deaf(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            return Future()

    class Lonely(Pool[Any, Any]):
        def capacity(self) -> int:
            if self.running:
                raise ClusterError
            return 1

    monkeypatch.setattr(workers, "CHECK_SECONDS", 0.01)
    with pytest.raises(ClusterError):
        list(in_order(partial(Lonely, make_executor=Deaf), abs, [1, 2]))


def test_a_killed_helper_is_an_error_and_no_endless_wait(monkeypatch):
    monkeypatch.setattr(workers, "ATTEMPTS", 1)
    with pytest.raises(ClusterError, match="was killed"):
        list(in_order(partial(ProcessPool, processes=2), os._exit, range(9)))


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt goes to the group of a terminal")
def test_an_interrupt_waits_for_no_search_of_a_book(tmp_path):
    words = ["build", str(tmp_path / "a.db"), "--nodes", str(10**12), "--processes", "1"]
    builder = start_program(sys.executable, "-c", BUILDER, *words)
    try:
        assert builder.stdout.readline() == "searching\n"
        builder.send_signal(signal.SIGINT)
        _, reported = builder.communicate(timeout=20)
    finally:
        builder.kill()
    assert "the same command continues" in reported


class Failing(Executor):
    """Every task is lost with its worker, but for the last."""

    def __init__(self, losses: int) -> None:
        self.losses = losses

    def submit(self, work: Any, *tasks: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.losses:
            self.losses -= 1
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(work(*tasks))
        return future


def test_a_lost_task_is_begun_again_but_not_for_ever():
    pool = Pool(abs, lambda: Failing(workers.ATTEMPTS))
    pool.submit(4)
    assert pool.wait() == 4 and pool.running == []
    pool = Pool(abs, lambda: Failing(workers.ATTEMPTS + 1))
    pool.submit(4)
    with pytest.raises(ClusterError, match=f"was killed; {workers.GO_ON}"):
        pool.wait()


def test_what_is_wrong_with_a_task_itself_is_raised_at_once():
    pool = Pool(lambda task: 1 // task, lambda: ThreadPoolExecutor(1))
    pool.submit(0)
    with pytest.raises(ZeroDivisionError):
        pool.wait()
    assert pool.next(0.01) is None
    pool.executor.shutdown()


@pytest.mark.parametrize("threads", [{"one": 4, "two": 2}, {"one": 1}, {}])
def test_a_cluster_takes_a_task_for_each_thread_and_one_to_wait_until_it_is_left(threads):
    cluster, left = object.__new__(ClusterPool), list[object]()
    cluster._client = SimpleNamespace(nthreads=lambda: threads, close=lambda: left.append("all"))
    cluster.executor = SimpleNamespace(shutdown=lambda wait: left.append(wait))
    assert cluster.capacity() == 1 + sum(threads.values())
    cluster.close()
    assert left == [False, "all"]


def test_a_worker_of_a_cluster_keeps_its_engines_for_one_match(monkeypatch):
    done: list[object] = []

    def seat(settings: MatchSettings, *, guardian: str | None) -> SimpleNamespace:
        name = settings.engines[0].name
        done.append((name, guardian))
        return SimpleNamespace(play=lambda task: f"{name} {task}", close=lambda: done.append(name))

    monkeypatch.setattr(pool, "_seats", ThreadCache())
    monkeypatch.setattr(pool, "GameSeat", seat)
    monkeypatch.setattr(pool, "Guardian", lambda: "guard")
    foreign = MatchSettings((EngineSpec("a", ("a",)), EngineSpec("b", ("b",))))
    own = MatchSettings((parse_engine("x=numoku"), parse_engine("numoku")), in_process=True)
    found = [pool.play_remotely(one, task) for one in (foreign, own) for task in (1, 2)]
    assert found == ["a 1", "a 2", "x 1", "x 2"]
    assert done == [("a", "guard"), "a", ("x", None)]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such masks")
def test_an_interrupt_waits_until_workers_that_start_are_deaf_to_it():
    seen: list[bool] = []

    class Starting(Failing):
        def submit(self, work: Any, *tasks: Any, **_: Any) -> Future[Any]:
            seen.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            return super().submit(work, *tasks)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    Pool(abs, lambda: Starting(0)).submit(1)
    assert seen == [True] and signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
