"""Pools of tasks for threads and processes of this machine, or for a Dask cluster.

Workers ignore interrupts and leave them to the parent process. They watch the parent, because they
would otherwise wait forever if it is killed: a worker itself holds the other end of its pipe.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from multiprocessing import get_context, parent_process
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from .errors import NumokuError

CHECK_SECONDS = 5.0  # without a result until a check whether workers are left
AHEAD = 3  # tasks per worker in progress, so that a long one does not hold up the others
CONNECT_TIMEOUT = 15
# Errors that mean a task was lost with its worker or scheduler and can be repeated.
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "BrokenProcessPool")
ATTEMPTS = 20  # per task; Dask itself gives up after a few dead workers

GO_ON = "the same command continues"

Task = TypeVar("Task")
Found = TypeVar("Found")
Tool = TypeVar("Tool")


class ClusterError(NumokuError):
    """A cluster cannot be reached, or has lost its work."""


def become_worker() -> None:
    """Make this new process a worker, which ends with its parent."""
    parent = parent_process()
    assert parent is not None, "not a child process"

    def watch() -> None:
        parent.join()
        os._exit(1)  # even in the middle of a task

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Block interrupts while processes are started; they inherit the blocked signal.

    Otherwise an interrupt during their imports would end each of them with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pool(Generic[Task, Found]):
    """Tasks in progress on an executor; tasks of a worker that died are repeated."""

    lost = "worker after worker was killed"

    def __init__(
        self,
        work: Callable[[Task], Found],
        make_executor: Callable[[], Executor] | None = None,
        workers: int = 1,
    ) -> None:
        """Create the executor, by default of threads; ``make_executor`` is called if it breaks."""
        self._work = work
        self._make_executor = make_executor or partial(ThreadPoolExecutor, workers)
        self._workers = workers
        self.executor = self._make_executor()
        self._attempts: dict[Future[Found], tuple[Task, int]] = {}
        self._ended: SimpleQueue[Future[Found]] = SimpleQueue()

    def capacity(self) -> int:
        """Return how many tasks keep the workers busy; ClusterError if the workers are lost."""
        return self._workers

    @property
    def running(self) -> list[Task]:
        """Tasks whose results have not been returned yet."""
        return [task for task, _ in self._attempts.values()]

    def submit(self, task: Task, attempt: int = 0) -> None:
        """Queue a task."""
        with _no_interrupt():
            try:
                future = self.executor.submit(self._work, task)
            except BrokenProcessPool:
                self.executor = self._make_executor()
                future = self.executor.submit(self._work, task)
        self._attempts[future] = task, attempt
        future.add_done_callback(self._ended.put)

    def next(self, timeout: float) -> Found | None:
        """Return the result of a task, None if none ends in time; ClusterError after many tries."""
        try:
            future = self._ended.get(timeout=timeout)
        except Empty:
            return None
        task, attempt = self._attempts.pop(future)
        try:
            return future.result()
        except BaseException as error:
            if type(error).__name__ not in LOST:
                raise
            if attempt >= ATTEMPTS:
                raise ClusterError(f"{self.lost}; {GO_ON}") from None
        self.submit(task, attempt + 1)
        return None

    def wait(self) -> Found:
        """Wait for a task and return its result; ClusterError if the workers are lost."""
        while (found := self.next(CHECK_SECONDS)) is None:
            self.capacity()  # raises if no worker is left
        return found

    def close(self) -> None:
        """Cancel waiting tasks, wait for running ones, and release the workers."""
        self.executor.shutdown(cancel_futures=True)


class ProcessPool(Pool[Task, Found]):
    """Tasks in progress in processes of this machine, started on demand."""

    def __init__(self, work: Callable[[Task], Found], processes: int) -> None:
        make = partial(ProcessPoolExecutor, processes, get_context("spawn"), become_worker)
        super().__init__(work, make, processes)

    def close(self) -> None:
        """Kill the processes at once.

        Waiting for them would take as long as their tasks, and an interrupt of that wait would
        make Python hang at exit.
        """
        # Python 3.14 has kill_workers() for this.
        processes = list((getattr(self.executor, "_processes", None) or {}).values())
        self.executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


class ClusterPool(Pool[Task, Found]):
    """Tasks in progress on the workers of a Dask scheduler."""

    def __init__(self, work: Callable[[Task], Found], address: str) -> None:
        """Connect to the scheduler; ClusterError if it does not answer, or Dask is missing."""
        try:
            from distributed import Client
        except ImportError:
            needed = "--cluster needs Dask: pip install 'pbrain-numoku[cluster]'"
            raise ClusterError(needed) from None
        client: Any = Client  # Dask has no annotations
        try:
            self._client = client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no cluster at {address}: {error}") from None
        self.lost = f"the cluster at {address} has lost its work"
        super().__init__(work, lambda: self._client.get_executor(pure=False))

    def capacity(self) -> int:
        """Return the current number of threads of all workers, plus one so that none is idle.

        Raises ClusterError if the scheduler does not answer: Dask never reports tasks that were
        sent while the connection broke.
        """
        try:
            return int(sum(self._client.nthreads().values())) + 1
        except Exception:  # of whatever kind
            raise ClusterError(f"{self.lost}; {GO_ON}") from None

    def close(self) -> None:
        """Disconnect from the cluster, and give up all tasks."""
        self.executor.shutdown(wait=False)
        self._client.close()


class ThreadCache(threading.local):
    """A tool that a worker thread reuses from task to task, as long as they need the same one.

    Workers of a cluster outlive a run, and the next run may need another tool.
    """

    _wanted: object = None
    _tool: Any = None

    def get(self, wanted: object, make: Callable[[], Tool]) -> Tool:
        """Return the tool for ``wanted``; make it if needed, closing that of another ``wanted``."""
        if self._wanted != wanted:
            if self._tool is not None:
                self._tool.close()
            self._wanted = self._tool = None
            self._tool, self._wanted = make(), wanted
        tool: Tool = self._tool
        return tool


def _numbered(work: Callable[[Task], Found], task: tuple[int, Task]) -> tuple[int, Found]:
    return task[0], work(task[1])


def in_order(
    make_pool: Callable[
        [Callable[[tuple[int, Task]], tuple[int, Found]]], Pool[tuple[int, Task], tuple[int, Found]]
    ],
    work: Callable[[Task], Found],
    tasks: Iterable[Task],
) -> Iterator[Found]:
    """Yield the results of tasks in order, several running at once; raises ClusterError."""
    pool, waiting, found = make_pool(partial(_numbered, work)), enumerate(tasks), dict[int, Found]()
    try:
        most = AHEAD * pool.capacity()
        for wanted in count():
            while wanted not in found:
                for task in islice(waiting, max(most - len(pool.running) - len(found), 0)):
                    pool.submit(task)
                if not pool.running:
                    return
                number, what = pool.wait()
                found[number] = what
            yield found.pop(wanted)
    finally:
        pool.close()
