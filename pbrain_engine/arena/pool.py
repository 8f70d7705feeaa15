"""Games in parallel: on threads of this machine, each with its own cores, or on a cluster.

Threads suffice, because they wait for processes, or for kernels that release the interpreter lock.
On a cluster, engines need the same paths everywhere; the game of a lost worker is replayed.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from functools import partial
from time import sleep

from ..game.record import GameRecord
from ..workers import Pool, ThreadCache
from .players import InprocessPlayer, ProcessPlayer
from .process import Guardian
from .referee import COLOURS, GameTask, Player, play_game
from .settings import MatchSettings, parse_engine

POLL = 0.05  # seconds between two attempts to abort the games


class GameSeat:
    """A place for one game at a time: its cores, and the engines kept between games."""

    def __init__(
        self, settings: MatchSettings, number: int = 0, guardian: Guardian | None = None
    ) -> None:
        self.cores = share_of(settings.pin, number, settings.concurrency)
        self._settings = settings
        self._guardian = guardian
        self._kept: dict[int, Player] = {}  # by the number of the engine
        self._playing: list[Player] = []
        self._aborted = threading.Event()
        # Decides in openings for players that cannot.
        self._judge = InprocessPlayer(parse_engine("numoku"), settings, self._aborted.is_set)

    def play(
        self, task: GameTask, on_move: Callable[[GameRecord], None] = lambda played: None
    ) -> GameRecord:
        """Play one game; CancelledError after ``abort``."""
        settings, is_aborted = self._settings, self._aborted.is_set
        if settings.in_process and self.cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, set(self.cores))  # of this thread, which searches
        players: list[Player] = []
        for engine, colour in zip((task.black, task.white), COLOURS, strict=True):
            player, spec = self._kept.pop(engine, None), settings.engines[engine]
            if player is None and settings.in_process:
                player = InprocessPlayer(spec, settings, is_aborted)
            elif player is None:
                player = ProcessPlayer(spec, settings, is_aborted)
                player.cores, player.guardian = self.cores, self._guardian
            side = colour if settings.opening_rule is None else ("second", "first")[not players]
            player.title = f"{task.game + 1:05}-{side}"
            if task.parameters:
                player.parameters = task.parameters[engine]
            players.append(player)
        stay = False
        self._playing = [*players, self._judge]
        try:
            played = play_game(task, settings, players, on_move, self._judge)
            may_stay = settings.in_process or (settings.keep and not settings.judge)
            stay = may_stay and not played.fault
            return played
        finally:
            self._playing = []
            if stay:
                self._kept |= {task.black: players[0], task.white: players[1]}
            else:
                self._dismiss(players)

    def _dismiss(self, players: Iterable[Player]) -> None:
        """Send END to all players, then close all, so that their grace periods overlap."""
        for player in players:
            player.finish()
        close_all(players)

    def abort(self) -> None:
        """Abort the running game; call it again until the game has ended."""
        self._aborted.set()
        for player in self._playing:
            player.stop()

    def close(self) -> None:
        """Close the engines kept between games."""
        self._dismiss([*self._kept.values(), self._judge])
        self._kept.clear()


def close_all(players: Iterable[Player | GameSeat]) -> None:
    """Close all, even if closing one of them fails."""
    with contextlib.ExitStack() as stack:
        for player in players:
            stack.callback(player.close)


def share_of(cores: tuple[int, ...], number: int, slots: int) -> tuple[int, ...]:
    """Return the cores of a slot: the same number for each, shared if there are too few."""
    each = max(1, len(cores) // slots)
    start = number * each % max(1, len(cores))
    return cores[start : start + each]


class LocalGames(Pool[GameTask, GameRecord]):
    """Games on the slots of this machine."""

    def __init__(
        self,
        settings: MatchSettings,
        on_move: Callable[[int, GameRecord], None] = lambda slot, played: None,
    ) -> None:
        """Create the slots; ``on_move`` receives each slot's number and game after a move."""
        self._guardian = None if settings.in_process else Guardian()
        seats = settings.concurrency
        self._slots = [GameSeat(settings, number, self._guardian) for number in range(seats)]
        free = list(range(seats))

        def play(task: GameTask) -> GameRecord:
            number = free.pop()
            try:
                return self._slots[number].play(task, partial(on_move, number))
            finally:
                free.append(number)

        super().__init__(play, workers=seats)

    def close(self) -> None:
        """Abort running games, and close all engines."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in self._attempts):
            for slot in self._slots:
                slot.abort()
            sleep(POLL)
        self.executor.shutdown()
        close_all(self._slots)
        if self._guardian:
            self._guardian.close()


_seats = ThreadCache()


def play_remotely(settings: MatchSettings, task: GameTask) -> GameRecord:
    """Play one game on a worker of a cluster, with engine processes of its own."""
    return _seats.get(
        settings, lambda: GameSeat(settings, guardian=None if settings.in_process else Guardian())
    ).play(task)
