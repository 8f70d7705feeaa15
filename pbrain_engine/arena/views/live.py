"""The live view: the boards of the running games, the table, the test and the time to go."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..game.played import Played
from ..settings import MatchSettings
from ..statistics.standings import Standings
from .text import board_lines, labels, ladder_rows, last_move, pair_rows, result_line
from .view import MatchProgress

if TYPE_CHECKING:
    from ...game.game import Game

REFRESHES = 6  # a second
MOST_PAIRS = 10  # in the table; of larger tournaments the ladder says more
RECENT = 4  # results shown under the boards


class RichView:
    """A terminal screen that is drawn anew several times a second."""

    def __init__(
        self, settings: MatchSettings, standings: Standings, stream: TextIO | None = None
    ) -> None:
        """Begin to draw on the error output (or a given stream)."""
        self._settings = settings
        self._standings = standings
        self._short = labels(settings)
        self._progress = MatchProgress(settings, standings.games)
        self._boards: dict[int, Played] = {}
        self._recent: list[str] = []
        self._lock = threading.Lock()
        self.console = Console(file=stream or sys.stderr)
        self._ascii = not (self.console.encoding or "").lower().startswith("utf")
        self._live = Live(
            get_renderable=self.render, console=self.console, refresh_per_second=REFRESHES
        )
        self._live.start()

    def moved(self, slot: int, game: Game, played: Played) -> None:
        """Remember the game of this slot; it is drawn at the next refresh."""
        self._boards[slot] = played

    def finished(self, played: Played, standings: Standings) -> None:
        """Take the result in."""
        with self._lock:
            self._standings = standings
            self._progress.done = standings.games
            self._recent = [*self._recent, result_line(played, self._short)][-RECENT:]

    def say(self, text: str) -> None:
        """Write above the screen."""
        self.console.print(Text(text))

    def close(self) -> None:
        """Draw for the last time."""
        self._live.stop()

    def render(self) -> RenderableType:
        """Return the whole screen."""
        with self._lock:
            parts = [self._boards_part()]
            if len(self._standings.pairs) <= MOST_PAIRS:
                parts.append(self._table(pair_rows))
            if len(self._standings.names) > 2:
                parts.append(self._table(ladder_rows))
            verdict = self._standings.verdict
            if verdict:
                parts.append(self._test(verdict.llr, verdict.lower, verdict.upper))
            parts += [Text(line, style="dim") for line in self._recent]
            parts.append(self._bar())
            return Group(*parts)

    def _boards_part(self) -> RenderableType:
        """Return as many boards side by side as the screen has room for."""
        width = 2 * self._settings.width + 8
        room = max(1, self.console.width // width)
        rows = max(1, (self.console.height - 14) // (self._settings.height + 4))
        boards = [self._boards[slot] for slot in sorted(self._boards)][: room * rows]
        return Columns([self._board(played) for played in boards])

    def _board(self, played: Played) -> RenderableType:
        names = f"{self._short[played.black]} - {self._short[played.white]}"
        lines = board_lines(played, self._settings.width, self._settings.height, self._ascii)
        return Panel(
            Text("\n".join(lines), no_wrap=True),
            title=f"{played.game + 1}: {names}",
            subtitle=last_move(played),
            expand=False,
        )

    def _table(self, rows_of: Callable[[Standings], list[list[str]]]) -> RenderableType:
        head, *rows = rows_of(self._standings)
        table = Table(box=None, pad_edge=False)
        for number, name in enumerate(head):
            table.add_column(name, justify="right" if number else "left", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        return table

    def _test(self, llr: float, lower: float, upper: float) -> RenderableType:
        share = (llr - lower) / (upper - lower)
        bar = ProgressBar(total=1, completed=min(1, max(0, share)), width=40)
        line = Table.grid(padding=(0, 1))
        line.add_row(f"SPRT {lower:.2f}", bar, f"{upper:.2f}  LLR {llr:+.2f}")
        return line

    def _bar(self) -> RenderableType:
        line = Table.grid(padding=(0, 1))
        bar = ProgressBar(
            total=max(1, self._progress.total), completed=self._progress.done, width=40
        )
        line.add_row(bar, str(self._progress))
        return line
