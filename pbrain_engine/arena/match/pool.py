"""Games at the same time on this machine: one thread a game, each with its own cores.

The threads only wait for engines (or, in-process, for a kernel that has let go of the
interpreter), so threads are all it takes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ..faults import Abandoned
from ..game.played import Played
from ..game.player import Player
from ..game.referee import COLOURS, GameTask, play_game
from ..players.dialogue import ProcessPlayer
from ..players.guardian import Guardian
from ..players.inprocess import InprocessPlayer
from ..settings import MatchSettings

if TYPE_CHECKING:
    from ...game.game import Game

OnMove = Callable[[int, "Game", Played], None]  # with the number of the slot
Outcome = Played | BaseException | None  # None: the game was broken off


class Pool(Protocol):
    """A place where games are played."""

    @property
    def capacity(self) -> int:
        """How many games may be under way."""

    def submit(self, task: GameTask) -> None:
        """Begin a game as soon as there is room."""

    def next_result(self, timeout: float) -> Played | None:
        """Return a finished game, or None if none finishes in time."""

    def abort(self) -> None:
        """Break the running games off."""

    def close(self) -> None:
        """Release everything."""


class Slot:
    """A seat for one game at a time: its cores, and the engines that stay between games."""

    def __init__(
        self, settings: MatchSettings, number: int = 0, guardian: Guardian | None = None
    ) -> None:
        """Take a seat; the cores are dealt out in turn."""
        self._settings = settings
        self.cores = _deal(settings.pin, number, settings.concurrency)
        self._guardian = guardian
        self._kept: dict[tuple[int, int], Player] = {}
        self._leaving: threading.Thread | None = None
        self.aborted = threading.Event()

    def play(
        self, task: GameTask, on_move: Callable[[Game, Played], None] = lambda game, played: None
    ) -> Played:
        """Play one game.

        Raises:
            Abandoned: the slot was told to stop.
        """
        seats = [(task.black, 0), (task.white, int(task.black == task.white))]
        titles = (f"{task.game + 1:05}-{colour}" for colour in COLOURS)
        players = [self._player(*seat, title) for seat, title in zip(seats, titles, strict=True)]
        healthy = False
        try:
            played = play_game(task, self._settings, players, on_move)
            healthy = not played.fault
            return played
        finally:
            if self._stays and healthy:
                self._kept.update(zip(seats, players, strict=True))
            else:
                self._dismiss(players, may_wait=healthy and not self._settings.judge)

    @property
    def _stays(self) -> bool:
        return self._settings.in_process or (self._settings.keep and not self._settings.judge)

    def _player(self, index: int, copy: int, title: str) -> Player:
        kept = self._kept.pop((index, copy), None)
        if kept is not None:
            if isinstance(kept, ProcessPlayer):
                kept.title = title
            return kept
        spec = self._settings.engines[index]
        if self._settings.in_process:
            return InprocessPlayer(spec, self._settings, self.aborted.is_set)
        return ProcessPlayer(
            spec, self._settings, self.cores, self._guardian, self.aborted.is_set, title
        )

    def _dismiss(self, players: list[Player], may_wait: bool = False) -> None:
        """Say goodbye to all, then wait for all: their half seconds run together.

        Engines that behaved leave while the next game begins, one game's at a time; that
        saves a hundredth of a short game.
        """
        for player in players:
            player.finish()
        if self._leaving:
            self._leaving.join()
            self._leaving = None
        if may_wait:
            self._leaving = threading.Thread(target=close_all, args=(players,))
            self._leaving.start()
        else:
            close_all(players)

    def close(self) -> None:
        """Dismiss the engines that stayed."""
        self._dismiss(list(self._kept.values()))
        self._kept.clear()


def close_all(players: list[Player]) -> None:
    """Close all players, also where the end of one goes wrong."""
    with contextlib.ExitStack() as stack:
        for player in players:
            stack.callback(player.close)


def _deal(cores: tuple[int, ...], number: int, slots: int) -> tuple[int, ...]:
    """Return the cores of one slot: all slots get equally many, or share where they must."""
    if not cores:
        return ()
    each = max(1, len(cores) // slots)
    start = number * each % len(cores)
    return cores[start : start + each]


class LocalPool:
    """As many slots as games may run at once."""

    def __init__(
        self, settings: MatchSettings, on_move: OnMove = lambda slot, game, played: None
    ) -> None:
        """Open the slots."""
        self.capacity = settings.concurrency
        self._on_move = on_move
        self._in_process = settings.in_process
        self._guardian = None if settings.in_process else Guardian()
        self._tasks: queue.SimpleQueue[GameTask | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._slots = [Slot(settings, i, self._guardian) for i in range(self.capacity)]
        self._threads = [
            threading.Thread(target=self._work, args=(number, slot), daemon=True)
            for number, slot in enumerate(self._slots)
        ]
        for thread in self._threads:
            thread.start()

    def _work(self, number: int, slot: Slot) -> None:
        if self._in_process and slot.cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, set(slot.cores))  # of this thread alone
        while True:
            task = self._tasks.get()
            if task is None:
                break
            try:
                outcome: Outcome = slot.play(
                    task, lambda game, played: self._on_move(number, game, played)
                )
            except Abandoned:
                outcome = None
            except BaseException as error:  # a fault of ours: the runner must hear of it
                outcome = error
            self._results.put(None if slot.aborted.is_set() else outcome)
        slot.close()

    def submit(self, task: GameTask) -> None:
        """Begin a game as soon as a slot is free."""
        self._tasks.put(task)

    def next_result(self, timeout: float) -> Played | None:
        """Return a finished game, or None if none finishes in time."""
        try:
            outcome = self._results.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def abort(self) -> None:
        """Break the running games off; their engines are ended."""
        for slot in self._slots:
            slot.aborted.set()

    def close(self) -> None:
        """Wait for the slots and end what is left."""
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(10)
        if self._guardian:
            self._guardian.close()
