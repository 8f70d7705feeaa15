"""Duels: two parameter sets play one opening with both colours, inside this process.

The engines stay from duel to duel and only take new parameters. With a node limit a duel
is the same whenever it is played, and on whatever machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import NamedTuple

from ..arena.faults import Abandoned
from ..arena.game.referee import GameTask, play_game
from ..arena.openings import Openings
from ..arena.players.inprocess import InprocessPlayer
from ..arena.settings import MatchSettings

POLL = 0.2  # seconds between two looks at the keyboard


class Duel(NamedTuple):
    """Two parameter sets and the number of the opening that they play."""

    opening: int
    first: Mapping[str, int]
    second: Mapping[str, int]


class DuelError(RuntimeError):
    """A game ended by a fault, which no parameter may cause."""


class Seat:
    """Two engines and their openings: one duel at a time."""

    def __init__(self, settings: MatchSettings, is_aborted: Callable[[], bool]) -> None:
        """Prepare; the engines are made at the first duel."""
        self._settings = settings
        self._openings = Openings(settings)
        self._players = [InprocessPlayer(spec, settings, is_aborted) for spec in settings.engines]

    def play(self, duel: Duel) -> int:
        """Return the half points, 0 to 4, of the first set.

        Raises:
            DuelError: an engine did what it must not do.
            Abandoned: the games were broken off.
        """
        stones = tuple(self._openings[duel.opening])
        for player, parameters in zip(self._players, (duel.first, duel.second), strict=True):
            player.set_parameters(parameters)
        points = 0
        for black in (0, 1):
            task = GameTask(2 * duel.opening + black, duel.opening, black, 1 - black, stones)
            players = self._players if black == 0 else self._players[::-1]
            played = play_game(task, self._settings, players)
            if played.fault:
                raise DuelError(f"opening {duel.opening}: {played.fault} {played.detail}")
            points += played.points(self._settings.engines[0].name)
        return points

    def close(self) -> None:
        """Give the engines' memory back."""
        for player in self._players:
            player.close()


class Duels:
    """As many seats as duels may run at once."""

    def __init__(self, settings: MatchSettings) -> None:
        """Open the seats."""
        self._aborted = threading.Event()
        self._seats: SimpleQueue[Seat] = SimpleQueue()
        self._count = settings.concurrency
        for _ in range(self._count):
            self._seats.put(Seat(settings, self._aborted.is_set))
        self._executor = ThreadPoolExecutor(self._count, "duel")

    def play(
        self, duels: Sequence[Duel], on_result: Callable[[int], None] = lambda points: None
    ) -> list[int]:
        """Return the half points of each duel; ``on_result`` hears of each as it ends."""
        futures = [self._executor.submit(self._play, duel) for duel in duels]
        with self._broken_off_on_error(futures):
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, POLL, FIRST_COMPLETED)
                for future in done:
                    on_result(future.result())
        return [future.result() for future in futures]

    @contextmanager
    def _broken_off_on_error(self, futures: Sequence[Future[int]]) -> Iterator[None]:
        """Leave no game behind, whether a fault or an interrupt ends the waiting."""
        try:
            yield
        except BaseException:
            self._aborted.set()
            for future in futures:
                future.cancel()
            wait(futures)
            raise

    def _play(self, duel: Duel) -> int:
        seat = self._seats.get()
        try:
            if self._aborted.is_set():
                raise Abandoned
            return seat.play(duel)
        finally:
            self._seats.put(seat)

    def close(self) -> None:
        """Wait for the seats and give their memory back."""
        self._executor.shutdown(cancel_futures=True)
        for _ in range(self._count):
            self._seats.get().close()
