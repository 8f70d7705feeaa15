"""The live view: the boards of running games, the table, the test and the time left."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..game import diagram
from ..game.cells import cell_name
from ..game.record import FIVE, GameRecord
from ..notation import colours
from ..values import format_value
from .standings import Standings, View, ladder_rows, pair_rows, result_line, table, test_lines

REFRESHES = 6  # a second
MOST_PAIRS = 10  # in the table; larger tournaments show only the ladder
RECENT = 4  # results shown under the boards
BOARD_FRAME = 3  # lines of a board besides its rows: the letters, and two of the panel
SHORTEST_TABLE = 3  # lines: header, one row, and the number of rows left out


class RichView(View):
    """A terminal screen that is redrawn several times a second."""

    def __init__(self, standings: Standings, stream: TextIO | None = None) -> None:
        super().__init__(standings)
        self._boards: dict[int, GameRecord] = {}
        self._recent: list[str] = []
        self.console = Console(file=stream or sys.stderr)
        self._live = Live(
            get_renderable=self.render, console=self.console, refresh_per_second=REFRESHES
        )
        self._live.start()

    def on_move(self, slot: int, played: GameRecord) -> None:
        """Store the game of a slot for the next refresh."""
        self._boards[slot] = played

    def on_result(self, played: GameRecord) -> None:
        """Store the result for the next refresh."""
        with self._lock:
            self._progress.done = self.standings.games
            self._recent = [*self._recent, result_line(played, self._short)][-RECENT:]

    def say(self, text: str) -> None:
        """Print a message above the screen."""
        self.console.print(Text(text))

    def close(self) -> None:
        """Draw a last time and stop."""
        self._live.stop()

    def render(self) -> RenderableType:
        """Return the screen, filled in order of importance while there is room."""
        with self._lock:
            standings, settings = self.standings, self.standings.settings
            shown = test_lines(standings)
            room = self.console.height - 2 - len(shown)  # lines; the bar and the cursor need one
            chosen = [ladder_rows] if len(standings.names) > 2 else []
            if not chosen or len(standings.pairs) <= MOST_PAIRS:
                chosen.append(pair_rows)
            for rows_of in chosen:
                lines = table(rows_of(standings))
                if len(lines) > room:  # the last line counts the missing ones
                    cut = [*lines[: room - 1], f"... {len(lines) - room + 1} more"]
                    lines = cut if room >= SHORTEST_TABLE else []
                shown += lines
                room -= len(lines)
            tall = settings.height + BOARD_FRAME
            across = max(1, self.console.width // (2 * settings.width + 8))
            drawn = [self._boards[slot] for slot in sorted(self._boards)][: across * (room // tall)]
            boards = [Columns([self._board(played) for played in drawn])] if drawn else []
            room -= -(-len(drawn) // across) * tall
            recent = self._recent[-room:] if room > 0 else []
            texts = [(line, "") for line in shown] + [(line, "dim") for line in recent]
            said = [Text(*text, no_wrap=True, overflow="ellipsis") for text in texts]
            bar = Table.grid(padding=(0, 1))
            progress = self._progress
            bar.add_row(ProgressBar(progress.total, progress.done, width=40), str(progress))
            return Group(*boards, *said, bar)

    def _board(self, played: GameRecord) -> RenderableType:
        """Return a panel with a game's board, and the last move with its depth and value."""
        settings, moves = self.standings.settings, played.moves
        board = GameRecord(settings.width, settings.height, moves=tuple(moves))
        if self.console.color_system is None or self.console.no_color:
            picture = Text(diagram.format_diagram(board, stars=True, mover=False), no_wrap=True)
        else:
            row = diagram.winning_row(board) if played.reason == FIVE else []
            picture = colours.colour_rows(board, row, self.console.encoding)
        said = []
        if played.chosen:
            depth, value = played.depths[-1], played.values[-1]
            said = [
                cell_name(*played.chosen[-1]),
                "" if depth is None else f"depth {depth}",
                "" if value is None else f"value {format_value(value)}",
                f"{played.times[-1] / 1000:.2f} s",
            ]
        names = f"{self._short[played.black]} - {self._short[played.white]}"
        return Panel(
            picture,
            title=f"{played.number + 1}: {names}",
            subtitle="  ".join(filter(None, said)),
            expand=False,
        )
