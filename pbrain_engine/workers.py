"""Tasks for threads and processes of this machine, or for a Dask cluster, by their executors.

An interrupt is left to the process that gives out the work. Each worker process watches that one,
since it would wait for ever if it is killed: it holds the other end of its own pipe.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from multiprocessing import get_context, parent_process
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from .errors import NumokuError

CHECK_SECONDS = 5.0  # without a result, after which it is asked whether one can still come
AHEAD = 3  # tasks a worker that may be under way, so that a long one holds up no other
CONNECT_TIMEOUT = 15
# Errors by which a task was lost with its worker or its scheduler; nothing else is wrong.
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "BrokenProcessPool")
ATTEMPTS = 20  # of one task; Dask itself gives it up when it has seen a few workers die

GO_ON = "the same command goes on"

Task = TypeVar("Task")
Found = TypeVar("Found")
Tool = TypeVar("Tool")


class ClusterError(NumokuError):
    """There is no such cluster."""


def become_worker() -> None:
    """Make this process, which has just been started, a worker; it ends with its starter."""
    parent = parent_process()
    assert parent is not None, "only a process that was started to help has one"

    def watch() -> None:
        parent.join()
        os._exit(1)  # whatever it does

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Put an interrupt off while processes are started, which begin as deaf as their starter.

    One that hears it before it is a worker would end in the middle of its imports, with a
    traceback for each.
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
    """Tasks under way on an executor; those of a worker that died are begun again."""

    lost = "worker after worker was killed"

    def __init__(
        self, work: Callable[[Task], Found], make_executor: Callable[[], Executor], workers: int = 1
    ) -> None:
        """Do this work; an executor that is broken is replaced by another one."""
        self._work = work
        self._make_executor = make_executor
        self._workers = workers
        self.executor = make_executor()
        self._attempts: dict[Future[Found], tuple[Task, int]] = {}
        self._ended: SimpleQueue[Future[Found]] = SimpleQueue()

    def capacity(self) -> int:
        """Return how many tasks keep the workers busy; ClusterError if none can end any more."""
        return self._workers

    @property
    def running(self) -> list[Task]:
        """The tasks whose results have not been returned yet."""
        return [task for task, _ in self._attempts.values()]

    def submit(self, task: Task, attempt: int = 0) -> None:
        """Begin a task as soon as there is room."""
        with _no_interrupt():
            try:
                future = self.executor.submit(self._work, task)
            except BrokenProcessPool:
                self.executor = self._make_executor()
                future = self.executor.submit(self._work, task)
        self._attempts[future] = task, attempt
        future.add_done_callback(self._ended.put)

    def next(self, timeout: float) -> Found | None:
        """Return what came of a task, None if none ends in time; ClusterError after many tries."""
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
        """Wait for a task to end and return what came of it; ClusterError if none can."""
        while (found := self.next(CHECK_SECONDS)) is None:
            self.capacity()  # if any is left
        return found

    def close(self) -> None:
        """Give up what is under way, and let the workers go."""
        self.executor.shutdown(cancel_futures=True)


class ProcessPool(Pool[Task, Found]):
    """Tasks under way in processes of this machine, each of which is started when it is needed."""

    def __init__(self, work: Callable[[Task], Found], processes: int) -> None:
        make = partial(ProcessPoolExecutor, processes, get_context("spawn"), become_worker)
        super().__init__(work, make, processes)

    def close(self) -> None:
        """Kill the processes at once.

        Waiting for them takes as long as their work does, and who interrupts the waiting leaves
        Python waiting for ever when it ends.
        """
        # There is another way from Python 3.14 on.
        processes = list((getattr(self.executor, "_processes", None) or {}).values())
        self.executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()


class ClusterPool(Pool[Task, Found]):
    """Tasks under way on the workers of a Dask scheduler."""

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
        """Return the threads of all workers at this moment, and one, so that none is idle.

        Of a task that is sent while the connection breaks Dask never says that it is lost.
        """
        try:
            return int(sum(self._client.nthreads().values())) + 1
        except Exception:  # whatever it is, there is no answer
            raise ClusterError(f"{self.lost}; {GO_ON}") from None

    def close(self) -> None:
        """Leave the cluster, and give up what is under way."""
        self.executor.shutdown(wait=False)
        self._client.close()


class ThreadCache(threading.local):
    """What a thread of a worker keeps from task to task, as long as these want the same.

    A worker of a cluster lives longer than a run, and what it keeps is of one run.
    """

    _wanted: object = None
    _tool: Any = None

    def get(self, wanted: object, make: Callable[[], Tool]) -> Tool:
        """Return what is kept; what was made for something else is closed, and another one made."""
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
    """Yield what comes of tasks, in order, a pool doing some at once; ClusterError if none can."""
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
