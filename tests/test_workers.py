"""Worker processes end when the process that started them does, however that happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

import pytest

from pbrain_engine import workers
from pbrain_engine.workers import ClusterError, Pool, ProcessPool, in_order

SCRIPT = textwrap.dedent(
    """
    import os
    import signal
    import time
    from multiprocessing import get_context

    from pbrain_engine.workers import ProcessPool, become_worker

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever began the tests
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
    import signal
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
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever began the tests
        ProcessPool.submit = tell
        sys.exit(main(["book", *sys.argv[1:]]))
    """
)


@pytest.mark.parametrize("busy", ["", "helpers.submit(time.sleep, 600)"])
def test_helpers_of_a_killed_process_end(tmp_path, busy):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("BUSY", busy))
    starter = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    assert len(set(starter.stdout.readline().split())) == 2
    starter.kill()
    # The helpers have inherited the pipe: it ends when the last of them does.
    rest, _ = starter.communicate(timeout=20)
    assert rest == ""


def test_helpers_work_in_order():
    make_pool = partial(ProcessPool, processes=2)
    assert list(in_order(make_pool, abs, range(-20, 0))) == list(range(20, 0, -1))


def test_a_killed_helper_is_an_error_and_no_endless_wait(monkeypatch):
    monkeypatch.setattr(workers, "ATTEMPTS", 1)
    with pytest.raises(ClusterError, match="was killed"):
        list(in_order(partial(ProcessPool, processes=2), os._exit, range(9)))


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt goes to the group of a terminal")
def test_an_interrupt_waits_for_no_search_of_a_book(tmp_path):
    words = ["build", str(tmp_path / "a.db"), "--nodes", str(10**12), "--processes", "1"]
    builder = subprocess.Popen(
        [sys.executable, "-c", BUILDER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert builder.stdout is not None
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
