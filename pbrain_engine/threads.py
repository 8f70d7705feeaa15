"""Threads with a deep stack for searches, all of which end before the call returns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

STACK_BYTES = 16 << 20
POLL_SECONDS = 0.2  # on Windows, an unlimited wait ignores interrupts
# threading.stack_size is process-wide. Reentrant: where threads are calls, starts may nest.
_stack_size = threading.RLock()
_here = threading.local()  # whether the thread has a deep stack


class SearchThreads:
    """A leader and its helpers on threads with a deep stack; none outlives the call.

    ``Thread.join`` is avoided: interrupted, it takes a running thread for a finished one, and the
    memory would be unmapped under a search.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._changed = threading.Condition()
        self._running = 0
        self._ended = 0
        self._dismissed = False  # threads that start from now on must not run their task
        self._error: BaseException | None = None

    def run(self, leader: Callable[[], None], *helpers: Callable[[], None]) -> None:
        """Run each task in a thread, and stop the helpers when the leader has ended.

        If this thread has a deep stack, it runs the leader; interrupts never reach such a thread.
        An interrupt stops all tasks. Returns once none is running, however many interrupts follow;
        then re-raises the first interrupt or the leader's exception.
        """
        is_here = is_deep()
        if is_here and not helpers:
            leader()
            return
        end = self._stop if helpers else lambda: None
        works = [partial(self._work, leader, end), *(partial(self._work, h) for h in helpers)]
        try:
            start_deep(works[is_here:])
            if is_here:
                works[0]()
            with self._changed:
                wait_for(self._changed, lambda: self._ended == len(works))
        except BaseException:
            self._dismiss()
            raise
        if self._error is not None:
            raise self._error

    def _work(self, task: Callable[[], None], end: Callable[[], None] | None = None) -> None:
        """Run a task; ``end``: called after the leader's."""
        with self._changed:
            if self._dismissed:
                return
            self._running += 1
        try:
            task()
        except BaseException as error:
            if end is None:
                raise
            self._error = error
        finally:
            if end is not None:
                end()
            with self._changed:
                self._running -= 1
                self._ended += 1
                self._changed.notify_all()

    def _dismiss(self) -> None:
        """Stop the tasks and wait for them, despite any number of interrupts."""
        waiting = True
        while waiting:
            try:
                self._stop()
                with self._changed:
                    self._dismissed = True
                    wait_for(self._changed, lambda: self._running == 0)
                waiting = False
            except KeyboardInterrupt:
                pass


def is_deep() -> bool:
    """Return whether this thread has a deep stack."""
    return getattr(_here, "is_deep", False)


def wait_for(changed: threading.Condition, is_reached: Callable[[], bool]) -> None:
    """Wait until ``is_reached`` returns True; interruptible."""
    while not changed.wait_for(is_reached, POLL_SECONDS):
        pass


def start_deep(works: Sequence[Callable[[], None]]) -> list[threading.Thread]:
    """Start a thread with a deep stack for each callable; MemoryError if the system has no more."""

    def run(work: Callable[[], None]) -> None:
        _here.is_deep = True
        work()

    threads = []
    with _stack_size:
        before = threading.stack_size(STACK_BYTES)
        try:
            for work in works:
                threads.append(threading.Thread(target=run, args=(work,), daemon=True))
                threads[-1].start()
        except RuntimeError as error:
            raise MemoryError(str(error)) from None
        finally:
            threading.stack_size(before)
    return threads
