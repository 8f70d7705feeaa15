"""Threads that run one at a time, on a clock that advances only when all of them wait."""

from __future__ import annotations

import threading
from _queue import Empty
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from math import inf
from types import SimpleNamespace
from typing import Any


class Turns:
    """The clock, with the parts of ``threading`` and ``queue`` that run on it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.over = threading.Event()
        self._numbers = count()
        self._waiting: list[tuple[float, int, threading.Event, object]] = []
        self.threading = SimpleNamespace(
            Event=partial(TurnEvent, self), Timer=partial(TurnTimer, self),
            Thread=partial(TurnThread, self), Lock=threading.Lock,
            TIMEOUT_MAX=threading.TIMEOUT_MAX,
        )  # fmt: skip

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.wait(self.now + seconds)

    def wait(self, until: float, what: object = None) -> None:
        """Let other threads run until a moment, or until ``wake`` is called with ``what``."""
        mine = self._stand(until, what)
        self._pass_on()
        mine.wait()
        if self.over.is_set():
            raise SystemExit

    def wake(self, what: object) -> None:
        self._waiting = [
            (self.now if seen is what else until, number, event, seen)
            for until, number, event, seen in self._waiting
        ]

    def start(self, work: Callable[[], object]) -> None:
        """Run in a thread, which starts when the others wait."""
        mine = self._stand(self.now, None)

        def run() -> None:
            mine.wait()
            try:
                if not self.over.is_set():
                    work()
            except SystemExit:  # it is over
                pass
            finally:
                if not self.over.is_set():
                    self._pass_on()

        threading.Thread(target=run, daemon=True).start()

    def run(self, work: Callable[[], object]) -> None:
        """Run until ``end``, or until all wait forever."""
        self.start(work)
        self._pass_on()
        assert self.over.wait(10)

    def end(self) -> None:
        self.over.set()
        for *_, event, _ in self._waiting:
            event.set()
        raise SystemExit

    def _stand(self, until: float, what: object) -> threading.Event:
        mine = threading.Event()
        self._waiting.append((until, next(self._numbers), mine, what))
        return mine

    def _pass_on(self) -> None:
        until, number, event, what = min(
            self._waiting, key=lambda turn: turn[:2], default=(inf,) * 4
        )
        if until == inf:
            self.over.set()
            return
        self._waiting.remove((until, number, event, what))
        self.now = max(self.now, until)
        event.set()


class TurnEvent:
    def __init__(self, turns: Turns) -> None:
        self._turns, self._is_set = turns, False

    def set(self) -> None:
        self._is_set = True
        self._turns.wake(self)

    def clear(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, timeout: float = inf) -> bool:
        if not self._is_set:
            self._turns.wait(self._turns.now + timeout, self)
        return self._is_set


class TurnTimer:
    """A timer that rings a little early, as on another clock; late if little time is left."""

    def __init__(self, turns: Turns, seconds: float, ring: Callable[[], None]) -> None:
        assert seconds >= 0
        self._turns, self._until, self._ring = turns, turns.now + early(seconds), ring
        self._is_cancelled = False

    def start(self) -> None:
        self._turns.start(self._run)

    def cancel(self) -> None:
        self._is_cancelled = True
        self._turns.wake(self)

    def _run(self) -> None:
        self._turns.wait(self._until, self)
        if not self._is_cancelled:
            self._ring()


def early(seconds: float) -> float:
    return seconds * 0.99 if seconds > 0.001 else seconds + 1e-6


class TurnThread:
    def __init__(self, turns: Turns, target: Callable[[], None], daemon: bool) -> None:
        self.start = partial(turns.start, target)


class TurnQueue:
    def __init__(self, turns: Turns) -> None:
        self._turns, self._items = turns, deque[Any]()

    def put(self, item: object) -> None:
        self._items.append(item)
        self._turns.wake(self)

    def get(self, timeout: float | None = None) -> Any:
        if not self._items:
            self._turns.wait(self._turns.now + (inf if timeout is None else timeout), self)
        if not self._items:
            raise Empty
        return self._items.popleft()

    def qsize(self) -> int:
        return len(self._items)
