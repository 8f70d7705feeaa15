"""Threads with a deep stack, which searches need, and the end of all of them with a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

STACK_BYTES = 16 << 20
POLL_SECONDS = 0.2  # on Windows a wait without a limit does not hear an interrupt
# One for the whole process, so for all searches; where a thread is a call, one starts in another.
_stack_size = threading.RLock()
_here = threading.local()  # whether the thread has a deep stack


class SearchThreads:
    """A leader and its helpers, on threads with a deep stack, none of which outlives the call.

    Not by ``Thread.join``: when an interrupt hits it, it takes a running thread for one that
    has ended, and the memory would be unmapped under a search.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._changed = threading.Condition()
        self._running = 0
        self._ended = 0
        self._dismissed = False  # a thread that comes to life now must not begin
        self._error: BaseException | None = None

    def run(self, leader: Callable[[], None], *helpers: Callable[[], None]) -> None:
        """Run each task in a thread, and stop the helpers when the leader has ended.

        It leads on this thread if that has a deep stack, which no interrupt reaches. An interrupt
        stops all. Returns when none runs any more, through any number of further interrupts; then
        the first, or what the leader has raised, is raised again.
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
        """Do a task; ``end``: what the leader does in the end."""
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
        """Stop the tasks and wait, through any number of interrupts."""
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
    """Wait until a condition is reached, open to interrupts."""
    while not changed.wait_for(is_reached, POLL_SECONDS):
        pass


def start_deep(works: Sequence[Callable[[], None]]) -> list[threading.Thread]:
    """Start a thread with a deep stack for each work, as searches need them."""

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
        finally:
            threading.stack_size(before)
    return threads
