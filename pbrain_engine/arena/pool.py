"""Games in parallel: on threads of this machine, each with its own cores, or on a cluster.

Threads suffice, since they wait for processes, or for kernels that release the interpreter lock. On
a cluster, where engines need the same paths everywhere, a game of a lost worker is played again.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from time import sleep

from ..game.record import GameRecord
from ..workers import Pool, ThreadCache
from .choosing import OpeningJudge
from .players import InprocessPlayer, ProcessPlayer
from .processes import Guardian
from .referee import COLOURS, GameTask, Player, play_game
from .settings import MatchSettings

POLL = 0.05  # seconds between two looks at games that are to end


class GameSeat:
    """A seat for one game at a time: its cores, and the engines that stay between games."""

    def __init__(
        self, settings: MatchSettings, number: int = 0, guardian: Guardian | None = None
    ) -> None:
        self.cores = share_of(settings.pin, number, settings.concurrency)
        self._settings = settings
        self._guardian = guardian
        self._kept: dict[int, Player] = {}  # by the number of the engine
        self._playing: list[Player] = []
        self._aborted = threading.Event()
        self._judge = OpeningJudge(settings, self._check)

    def _check(self) -> None:
        if self._aborted.is_set():
            raise CancelledError

    def play(
        self, task: GameTask, on_move: Callable[[GameRecord], None] = lambda played: None
    ) -> GameRecord:
        """Play one game; CancelledError if the seat is to stop."""
        settings, is_aborted = self._settings, self._aborted.is_set
        if settings.in_process and self.cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, set(self.cores))  # of this thread alone, which searches
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
        self._playing = players
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
        """Say goodbye to all, then wait for all: their half seconds run together."""
        for player in players:
            player.finish()
        close_all(players)

    def abort(self) -> None:
        """Break the running game off; to be repeated until it has ended."""
        self._aborted.set()
        self._judge.stop()
        for player in self._playing:
            player.stop()

    def close(self) -> None:
        """Dismiss the engines that stayed."""
        self._dismiss(self._kept.values())
        self._kept.clear()


def close_all(players: Iterable[Player | GameSeat]) -> None:
    """Close all, also where the end of one goes wrong."""
    with contextlib.ExitStack() as stack:
        for player in players:
            stack.callback(player.close)


def share_of(cores: tuple[int, ...], number: int, slots: int) -> tuple[int, ...]:
    """Return the cores of one slot: all slots get equally many, or share where they must."""
    each = max(1, len(cores) // slots)
    start = number * each % max(1, len(cores))
    return cores[start : start + each]


class LocalGames(Pool[GameTask, GameRecord]):
    """Games on as many slots of this machine as may run at once."""

    def __init__(
        self,
        settings: MatchSettings,
        on_move: Callable[[int, GameRecord], None] = lambda slot, played: None,
    ) -> None:
        """Begin; ``on_move`` gets moves with the number of their slot."""
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

        super().__init__(play, lambda: ThreadPoolExecutor(seats, "game"), seats)

    def close(self) -> None:
        """Break off what still runs, and end all engines."""
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
    """Play one game on a worker; its engines are its own processes there."""

    def seat() -> GameSeat:
        return GameSeat(settings, 0, None if settings.in_process else Guardian())

    return _seats.get(settings, seat).play(task)
