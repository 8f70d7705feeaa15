"""Plays a match to its end: hands out games, writes each one down, and knows when to stop.

A game's number fixes everything about it, and a game counts once its line is in the journal. The
first interrupt lets the running games finish, the second breaks them off; either way the journal
can be continued.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from ..position.geometry import Coordinates
from ..workers import ClusterPool
from .journal import Journal
from .openings import Openings
from .played import START, Played
from .pool import LocalGames
from .referee import GameTask
from .settings import MatchSettings, pairs
from .standings import Standings
from .views import View


def tasks(
    settings: MatchSettings,
    openings: Openings,
    done: frozenset[int] = frozenset(),
    known: Mapping[int, list[Coordinates]] | None = None,
) -> Iterator[GameTask]:
    """Yield the games that are not done; ``known`` openings are taken from their sister games."""
    meetings = pairs(settings)
    number = 0
    for round_number in range((settings.games + 1) // 2):
        opening: tuple[Coordinates, ...] | None = None
        for a, b in meetings:
            for second in range(min(2, settings.games - 2 * round_number)):
                if number not in done:
                    if opening is None:
                        found = (known or {}).get(round_number)
                        opening = tuple(openings[round_number] if found is None else found)
                    black, white = (b, a) if second else (a, b)
                    yield GameTask(number, round_number, black, white, opening)
                number += 1


POLL = 0.2  # seconds between two looks at the keyboard
HOPELESS = 3  # games in a row that an engine did not even begin: it cannot be started at all


class Interrupts:
    """How often the user has asked to stop."""

    def __init__(self) -> None:
        """No stop was asked for yet."""
        self.count = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Count a signal; all but ^C leave no time for games to finish."""
        self.count += 1 if number == signal.SIGINT else 2


@contextmanager
def caught_interrupts() -> Iterator[Interrupts]:
    """Take ^C, SIGTERM and the end of the terminal as wishes for the time of a match.

    What ``nohup`` has started does not hear of the terminal's end.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = [signal.signal(number, interrupts) for number in numbers]
    try:
        yield interrupts
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


class Runner:
    """One match: ``play`` it, then look at ``standings``."""

    def __init__(
        self,
        settings: MatchSettings,
        openings: Openings,
        pool: LocalGames | ClusterPool[GameTask, Played],
        view: View,
        journal: Journal | None = None,
    ) -> None:
        """Take up the match where the journal leaves it."""
        games = journal.games if journal else []
        self.settings = settings
        self.standings = Standings(settings, games)
        self.was_interrupted = False
        self.stop_reason = ""
        self._pool = pool
        self._view = view
        self._journal = journal
        self._unstarted: dict[str, int] = {}
        self._tasks = tasks(
            settings,
            openings,
            frozenset(played.game for played in games),
            {played.round: played.opening for played in games},
        )

    def play(self) -> Standings:
        """Play until all games are done, the test has decided, or the user stops it."""
        running = 0
        said = 0
        self._decide()
        with caught_interrupts() as interrupts:
            while True:
                if interrupts.count != said:
                    said = interrupts.count
                    self._obey(said, running)
                while running < self._pool.capacity and not (
                    self.was_interrupted or self.stop_reason
                ):
                    task = next(self._tasks, None)
                    if task is None:
                        break
                    self._pool.submit(task)
                    running += 1
                if not running or interrupts.count > 1:
                    break
                played = self._pool.next(POLL)
                if played is not None:
                    running -= 1
                    self._count(played)
        return self.standings

    def _obey(self, wishes: int, running: int) -> None:
        """Act on an interrupt."""
        self.was_interrupted = True
        if wishes > 1:
            self._pool.abort()
        elif running:
            games = "the running game" if running == 1 else f"{running} running games"
            self._tell(self._view.say, f"finishing {games}; press ^C again to break off")

    def _tell(self, way: Callable[..., None], *what: object) -> None:
        """Let the view show something; if its reader has gone, end as after one interrupt.

        So it is when ^C ends a ``tee`` before the match hears of it.
        """
        try:
            way(*what)
        except BrokenPipeError:
            self.was_interrupted = True

    def _count(self, played: Played) -> None:
        """Take a finished game in."""
        if self._journal:
            self._journal.append(played)
        self.standings.add(played)
        self._tell(self._view.finished, played, self.standings)
        if played.reason == START:
            failures = self._unstarted[played.loser] = self._unstarted.get(played.loser, 0) + 1
            if failures >= HOPELESS:
                self.stop_reason = f"{played.loser} cannot be started: {played.detail}"
        else:
            self._unstarted.pop(played.black, None)
            self._unstarted.pop(played.white, None)
        self._decide()

    def _decide(self) -> None:
        """Stop when the sequential test has come to a decision."""
        verdict = self.standings.verdict
        if verdict and verdict.decision and not self.stop_reason:
            hypothesis = "H1" if verdict.decision == "accepted" else "H0"
            self.stop_reason = f"SPRT: {hypothesis} accepted, {verdict}"
