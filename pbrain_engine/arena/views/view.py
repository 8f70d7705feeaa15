"""Watching a match: what a view is told, and the views that write plain lines."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from ..game.played import Played
from ..settings import MatchSettings, total_games
from ..statistics.standings import Standings
from .text import format_estimate, labels, result_line

if TYPE_CHECKING:
    from ...game.game import Game

TABLE_EVERY = 10  # games between two tables of the plain view


class MatchProgress:
    """How far a match is, and how long it will take."""

    def __init__(self, total: int, done: int) -> None:
        """Begin to measure with this many games done already."""
        self.total = total
        self.done = done
        self._before = done
        self._began = time.perf_counter()

    @property
    def remaining(self) -> float | None:
        """Seconds until the last game ends, or None while nothing is known."""
        played = self.done - self._before
        if not played:
            return None
        return (time.perf_counter() - self._began) / played * (self.total - self.done)

    def __str__(self) -> str:
        """``12/40 games, 3:20 to go``."""
        remaining = self.remaining
        rest = "" if remaining is None else f", {format_duration(remaining)} to go"
        return f"{self.done}/{self.total} games{rest}"


def format_duration(seconds: float) -> str:
    """Return ``3:20`` or ``1:03:20``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class View:
    """Somebody who is told how the match goes; this one says only what must be said."""

    def __init__(self) -> None:
        """Begin with nothing to say."""
        self._lock = threading.Lock()

    def moved(self, slot: int, game: Game, played: Played) -> None:
        """Take note of a new stone in the game of a slot; called from its thread."""

    def finished(self, played: Played, standings: Standings) -> None:
        """Take note of a finished game."""

    def say(self, text: str) -> None:
        """Tell the user something that matters."""
        with self._lock:
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take note that nothing more will come."""


class PlainView(View):
    """One line for each game, and the score from time to time."""

    def __init__(self, settings: MatchSettings, done: int = 0) -> None:
        """Begin with this many games done."""
        super().__init__()
        self._short = labels(settings)
        self._progress = MatchProgress(total_games(settings), done)

    def finished(self, played: Played, standings: Standings) -> None:
        """Write the game, and now and then the table."""
        self._progress.done = standings.games
        self.say(f"{result_line(played, self._short)}  [{self._progress}]")
        last = self._progress.done == self._progress.total
        if self._progress.done % TABLE_EVERY == 0 and not last:
            for pair in standings.pairs:
                if pair.games:
                    self.say(
                        f"  {self._short[pair.a]} - {self._short[pair.b]}: "
                        f"+{pair.wins} ={pair.draws} -{pair.losses}, "
                        f"Elo {format_estimate(pair.elo)}"
                    )
            if standings.verdict:
                self.say(f"  {standings.verdict}")
