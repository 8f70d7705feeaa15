"""Duels: two parameter sets play one opening with both colours, inside this process.

The engines stay from duel to duel and only take new parameters. With a node limit a duel
is the same whenever it is played, and on whatever machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from time import sleep
from typing import NamedTuple

from ..arena.openings import Openings
from ..arena.pool import POLL, Slot
from ..arena.referee import GameTask
from ..arena.settings import MatchSettings
from ..workers import in_order


class Duel(NamedTuple):
    """Two parameter sets and the number of the opening that they play."""

    opening: int
    first: Mapping[str, int]
    second: Mapping[str, int]


class DuelError(RuntimeError):
    """A game ended by a fault, which no parameter may cause."""


class Duels:
    """As many slots, each with openings of its own, as duels may run at once."""

    def __init__(self, settings: MatchSettings) -> None:
        """Open the slots; the engines are made at the first duel."""
        self._settings = settings
        self._slots = [Slot(settings, number) for number in range(settings.concurrency)]
        self._free: SimpleQueue[tuple[Slot, Openings]] = SimpleQueue()
        for slot in self._slots:
            self._free.put((slot, Openings(settings)))
        self._executor = ThreadPoolExecutor(settings.concurrency, "duel")

    def play(self, duels: Sequence[Duel]) -> list[int]:
        """Return the half points, 0 to 4, of the first set in each duel.

        Raises:
            DuelError: an engine did what it must not do.
        """
        return list(in_order(self._executor, len(self._slots), self._play, duels))

    def _play(self, duel: Duel) -> int:
        slot, openings = self._free.get()
        points = 0
        try:
            stones = tuple(openings[duel.opening])
            for black in (0, 1):
                task = GameTask(2 * duel.opening + black, duel.opening, black, 1 - black, stones)
                played = slot.play(task, parameters=(duel.first, duel.second))
                if played.fault:
                    raise DuelError(f"opening {duel.opening}: {played.fault} {played.detail}")
                points += played.points(self._settings.engines[0].name)
        finally:
            self._free.put((slot, openings))
        return points

    def close(self) -> None:
        """Break off what still runs, and give the engines' memory back."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        while self._free.qsize() < len(self._slots):
            for slot in self._slots:
                slot.abort()
            sleep(POLL)
        self._executor.shutdown()
        for slot in self._slots:
            slot.close()
