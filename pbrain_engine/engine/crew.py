"""The threads of a search: those that work, and the one that watches the time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

STACK_BYTES = 16 << 20
_stack_size = threading.Lock()  # which is one for the whole process, and so for all crews


class Deadline:
    """A thread that raises the stop flag when the time is over; the time may change meanwhile."""

    def __init__(self, start: float, stop: Callable[[], None]) -> None:
        """Prepare a deadline that is not set yet; ``stop`` raises the flag."""
        self.start = start
        self._hard: float | None = None
        self._optimum: float | None = None
        self._stop = stop
        self._changed = threading.Condition()
        self._over = False
        self._thread: threading.Thread | None = None

    def set(self, hard: float | None, optimum: float | None) -> None:
        """Set new limits, in seconds from the start."""
        with self._changed:
            self._hard = hard
            self._optimum = optimum
            if hard is not None and self._thread is None and not self._over:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self) -> None:
        """Let the thread go."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def is_past_optimum(self) -> bool:
        """Say whether a new iteration is not worth beginning."""
        limits = [limit for limit in (self._hard, self._optimum) if limit is not None]
        return bool(limits) and perf_counter() - self.start >= min(limits)

    def _watch(self) -> None:
        with self._changed:
            while not self._over:
                left = None if self._hard is None else self.start + self._hard - perf_counter()
                if left is not None and left <= 0:
                    self._stop()
                    return
                self._changed.wait(None if left is None else min(left, threading.TIMEOUT_MAX))


class Crew:
    """Threads with a deep stack, none of which outlives the call that runs them.

    Not by ``Thread.join``: when an interrupt hits it, it takes a running thread for one that
    has ended, and the memory would be unmapped under a search.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        """Make a crew; ``stop`` lets its tasks end soon."""
        self._stop = stop
        self._changed = threading.Condition()
        self._running = 0
        self._ended = 0
        self._dismissed = False  # a thread that comes to life now must not begin

    def run(self, tasks: Sequence[Callable[[], None]]) -> None:
        """Run each task in a thread; return, or raise an interrupt, when none runs any more."""
        try:
            start_deep([partial(self._work, task) for task in tasks])
            with self._changed:
                self._changed.wait_for(lambda: self._ended == len(tasks))
        except BaseException:
            self._dismiss()
            raise

    def _work(self, task: Callable[[], None]) -> None:
        with self._changed:
            if self._dismissed:
                return
            self._running += 1
        try:
            task()
        finally:
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
                    self._changed.wait_for(lambda: self._running == 0)
                waiting = False
            except KeyboardInterrupt:
                pass


def start_deep(works: Sequence[Callable[[], None]]) -> list[threading.Thread]:
    """Start a thread with a deep stack for each work, as searches need them."""
    threads = [threading.Thread(target=work, daemon=True) for work in works]
    with _stack_size:
        before = threading.stack_size(STACK_BYTES)
        try:
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(before)
    return threads
