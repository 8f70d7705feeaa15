"""Work for threads and processes of this machine, or for a Dask cluster, by their executors.

An interrupt is left to the process that gives out the work. If that is killed, its workers would
wait for work for ever: each holds the other end of the pipe that it waits at, and so never sees
the end of it. So each watches the process that started it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

CHECK_SECONDS = 5.0  # without a result, after which it is asked whether one can still come
AHEAD = 3  # tasks a worker that may be under way, so that a long one holds up no other
CONNECT_TIMEOUT = 15
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError", "BrokenProcessPool")  # errors
ATTEMPTS = 20  # of one task; Dask itself gives it up when it has seen a few workers die

GO_ON = "the same command goes on"

Task = TypeVar("Task")
Found = TypeVar("Found")


class LostWorker(OSError):
    """A worker was killed."""


class ClusterError(OSError):
    """There is no such cluster."""


def is_lost(error: BaseException) -> bool:
    """Return whether a task was lost with its worker or its scheduler; nothing else is wrong."""
    return type(error).__name__ in LOST


# -- processes of this machine -----------------------------------------------------------------


def become_worker() -> None:
    """Make this process, which has just been started, a worker; it ends with its starter."""
    parent = parent_process()
    assert parent is not None, "only a process that was started to help has one"

    def watch() -> None:
        parent.join()
        os._exit(1)  # whatever it does

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()


def start_processes(count: int) -> ProcessPoolExecutor:
    """Return worker processes; each is started when it is needed."""
    return ProcessPoolExecutor(count, get_context("spawn"), become_worker)


def kill_processes(executor: ProcessPoolExecutor) -> None:
    """End worker processes at once, whatever they are doing.

    Waiting for them takes as long as their work does, and who interrupts the waiting leaves
    Python waiting for ever when it ends.
    """
    processes = list((executor._processes or {}).values())  # open to others from Python 3.14 on
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


# -- tasks on an executor ----------------------------------------------------------------------


class Pool(Generic[Task, Found]):
    """Tasks under way on an executor; those of a worker that died are begun again."""

    def __init__(self, work: Callable[[Task], Found], make_executor: Callable[[], Executor]):
        """Do this work; an executor that is broken is replaced by another one."""
        self._work = work
        self._make_executor = make_executor
        self.executor = make_executor()
        self._attempts: dict[Future[Found], tuple[Task, int]] = {}
        self._ended: SimpleQueue[Future[Found]] = SimpleQueue()

    @property
    def running(self) -> list[Task]:
        """The tasks whose results have not been returned yet."""
        return [task for task, _ in self._attempts.values()]

    def submit(self, task: Task, attempt: int = 0) -> None:
        """Begin a task as soon as there is room."""
        try:
            future = self.executor.submit(self._work, task)
        except BrokenProcessPool:
            self.executor = self._make_executor()
            future = self.executor.submit(self._work, task)
        self._attempts[future] = task, attempt
        future.add_done_callback(self._ended.put)

    def next(self, timeout: float) -> Found | None:
        """Return what came of a task, or None if none ends in time."""
        try:
            future = self._ended.get(timeout=timeout)
        except Empty:
            return None
        task, attempt = self._attempts.pop(future)
        try:
            return future.result()
        except BaseException as error:
            if not is_lost(error) or attempt >= ATTEMPTS:
                raise
        self.submit(task, attempt + 1)
        return None

    def wait(self) -> Found:
        """Wait for a task to end and return what came of it.

        Raises:
            LostWorker: no task can end any more.
        """
        while (found := self.next(CHECK_SECONDS)) is None:
            self.check()
        return found

    def check(self) -> None:
        """Raise LostWorker if no task can end any more."""


class ProcessPool(Pool[Task, Found]):
    """Tasks under way in processes of this machine."""

    def __init__(self, work: Callable[[Task], Found], processes: int) -> None:
        """Begin; the processes are started when they are needed."""
        self.capacity = processes
        super().__init__(work, partial(start_processes, processes))

    def close(self) -> None:
        """Give up what is under way."""
        kill_processes(self.executor)  # type: ignore[arg-type]


class ClusterPool(Pool[Task, Found]):
    """Tasks under way on the workers of a Dask scheduler."""

    def __init__(self, work: Callable[[Task], Found], address: str) -> None:
        """Connect to the scheduler.

        Raises:
            ClusterError: Dask is not installed, or the scheduler does not answer.
        """
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
        self.lost = LostWorker(f"the cluster at {address} has lost its work; {GO_ON}")
        super().__init__(work, lambda: self._client.get_executor(pure=False))

    @property
    def capacity(self) -> int:
        """The threads of all workers at this moment; one more task waits, so that none is idle."""
        return int(sum(self._client.nthreads().values())) + 1

    def check(self) -> None:
        """Make sure that the scheduler is still there.

        Of a task that is sent while the connection breaks Dask never says that it is lost.

        Raises:
            LostWorker: it does not answer.
        """
        try:
            self._client.nthreads()
        except Exception:  # whatever it is, there is no answer
            raise self.lost from None

    def abort(self) -> None:
        """Give up what is under way."""
        self.executor.shutdown(wait=False)

    def close(self) -> None:
        """Leave the cluster, and give up what is under way."""
        self.abort()
        self._client.close()


def in_order(
    executor: Executor,
    workers: int,
    work: Callable[[Task], Found],
    tasks: Iterable[Task],
    check: Callable[[], None] = lambda: None,
) -> Iterator[Found]:
    """Yield what comes of each task, in their order; some are under way at the same time.

    ``check`` is called now and then while nothing comes, and raises if nothing can come any more.
    """
    waiting = iter(tasks)
    running = deque[Future[Found]]()
    for task in islice(waiting, AHEAD * workers):
        running.append(executor.submit(work, task))
    while running:
        first = running.popleft()
        while not wait([first], CHECK_SECONDS).done:
            check()
        yield first.result()
        for task in islice(waiting, 1):
            running.append(executor.submit(work, task))


def by_processes(
    count: int, work: Callable[[Task], Found], tasks: Iterable[Task]
) -> Generator[Found, None, None]:
    """Yield what comes of each task, in their order, done by worker processes.

    Raises:
        LostWorker: one of them was killed.
    """
    executor = start_processes(count)
    try:
        yield from in_order(executor, count, work, tasks)
    except BrokenProcessPool:
        raise LostWorker(f"a worker process was killed; {GO_ON}") from None
    finally:
        kill_processes(executor)


def by_cluster(
    address: str, work: Callable[[Task], Found], tasks: Iterable[Task]
) -> Iterator[Found]:
    """Yield what comes of each task, in their order, done by the workers of a Dask scheduler.

    Raises:
        ClusterError: Dask is not installed, or the scheduler does not answer.
        LostWorker: the scheduler, or worker after worker, has died.
    """
    cluster = ClusterPool(work, address)
    try:
        yield from in_order(cluster.executor, cluster.capacity, work, tasks, cluster.check)
    except Exception as error:
        if not is_lost(error):
            raise
        raise cluster.lost from None
    finally:
        cluster.close()
