"""Processes of this machine that help another one with its work, and go when it does.

An interrupt is left to the process that gives out the work. If that is killed, its helpers would
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
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import TypeVar

CHECK_SECONDS = 5.0  # without a result, after which it is asked whether one can still come
AHEAD = 3  # tasks a worker that may be under way, so that a long one holds nobody up

Task = TypeVar("Task")
Found = TypeVar("Found")


class LostHelper(OSError):
    """A helper was killed."""


def _outlive_nobody() -> None:
    """End this process, whatever it does, when the one that started it has ended."""
    parent = parent_process()
    assert parent is not None, "only a process that was started to help has one"
    parent.join()
    os._exit(1)


def become_helper() -> None:
    """Make this process, which has just been started, a helper."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_outlive_nobody, daemon=True).start()


def start_helpers(count: int) -> ProcessPoolExecutor:
    """Return so many helpers; each is started when it is needed."""
    return ProcessPoolExecutor(count, get_context("spawn"), become_helper)


def dismiss(helpers: ProcessPoolExecutor) -> None:
    """End helpers at once, whatever they are doing; nobody wants what they would still find out.

    Waiting for them takes as long as their work does, and whoever interrupts the waiting leaves
    Python waiting for ever when it ends.
    """
    processes = list((helpers._processes or {}).values())  # open to others from Python 3.14 on
    helpers.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


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


def helped(
    count: int, work: Callable[[Task], Found], tasks: Iterable[Task]
) -> Generator[Found, None, None]:
    """Yield what comes of each task, in their order; so many helpers work on them.

    Raises:
        LostHelper: one of them was killed.
    """
    helpers = start_helpers(count)
    try:
        yield from in_order(helpers, count, work, tasks)
    except BrokenProcessPool:
        raise LostHelper("a process that helped was killed; the same command goes on") from None
    finally:
        dismiss(helpers)
