"""Turns at the processor: searches of several tabs share it fairly, first come first served.

Nobody is interrupted while nobody waits. Where somebody does, a search without an end gives
way as soon as it has had its slice, and queues up again behind the others.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

SLICE = 0.5  # seconds that a search without an end has, where others wait
POLL = 0.02  # seconds between two looks at those who might give way

GiveWay = Callable[[], None]


@dataclass(eq=False)
class _Holder:
    """One who has a turn: how many threads, and how to ask him to give way."""

    threads: int
    give_way: GiveWay | None
    since: float = field(default_factory=perf_counter)


class Turns:
    """A number of threads that may search at the same time, and a queue in front of them."""

    def __init__(self, threads: int | None = None) -> None:
        """Let so many threads search; as many as there are processors if nothing is said."""
        self.threads = threads or os.cpu_count() or 1
        self._changed = threading.Condition()
        self._queue: list[object] = []
        self._holders: list[_Holder] = []

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """How many have their turn."""
        return len(self._holders)

    @contextmanager
    def turn(
        self, threads: int, give_way: GiveWay | None, is_cancelled: Callable[[], bool]
    ) -> Iterator[bool]:
        """Wait for a turn with so many threads, and hold it; False if it was cancelled first.

        ``give_way`` stops a search that may be taken up again; None: it runs to its end.
        """
        wanted = min(threads, self.threads)
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                while not is_cancelled() and not self._may_go(ticket, wanted):
                    self._changed.wait(POLL)
                if is_cancelled():
                    granted = None
                else:
                    granted = _Holder(wanted, give_way)
                    self._holders.append(granted)
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        try:
            yield granted is not None
        finally:
            if granted is not None:
                with self._changed:
                    self._holders.remove(granted)
                    self._changed.notify_all()

    def _may_go(self, ticket: object, wanted: int) -> bool:
        """Say whether it is the turn of the first in the queue; if not, ask the others to go."""
        if self._queue[0] is not ticket:
            return False
        if sum(holder.threads for holder in self._holders) + wanted <= self.threads:
            return True
        for holder in self._holders:
            if holder.give_way is not None and perf_counter() - holder.since >= SLICE:
                holder.give_way()
        return False
