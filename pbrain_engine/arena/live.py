"""The live view: the boards of the running games, the table, the test and the time to go."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..notation import diagram
from ..position.rules import Side
from ..progress import Progress
from .journal import FIVE, Played
from .settings import MatchSettings, total_games
from .standings import Standings
from .views import View, labels, ladder_rows, last_move, pair_rows, result_line, table

REFRESHES = 6  # a second
MOST_PAIRS = 10  # in the table; of larger tournaments the ladder says more
RECENT = 4  # results shown under the boards
BAR_LINES = 1
BOARD_FRAME = 3  # lines of a board that are no rows: the letters, and the panel's two
SHORTEST_TABLE = 3  # lines: its head, a row, and how many more there are

Rows = Callable[[Standings], list[list[str]]]


class RichView(View):
    """A terminal screen that is drawn anew several times a second."""

    def __init__(
        self, settings: MatchSettings, standings: Standings, stream: TextIO | None = None
    ) -> None:
        """Begin to draw on the error output (or a given stream)."""
        super().__init__()
        self._settings = settings
        self._standings = standings
        self._short = labels(settings)
        self._progress = Progress(total_games(settings), "games", standings.games)
        self._boards: dict[int, Played] = {}
        self._recent: list[str] = []
        self.console = Console(file=stream or sys.stderr)
        self._ascii = not (self.console.encoding or "").lower().startswith("utf")
        self._live = Live(
            get_renderable=self.render, console=self.console, refresh_per_second=REFRESHES
        )
        self._live.start()

    def moved(self, slot: int, played: Played) -> None:
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
            room = self.console.height - 1 - BAR_LINES  # lines; the cursor needs one too
            tables: list[RenderableType] = []
            if verdict := self._standings.verdict:
                share = (verdict.llr - verdict.lower) / (verdict.upper - verdict.lower)
                tables.append(
                    bar_between(f"SPRT {verdict.lower:.2f}", share,
                                f"{verdict.upper:.2f}  LLR {verdict.llr:+.2f}")
                )  # fmt: skip
                room -= 1
            for rows_of in self._tables():
                if lines := lines_that_fit(table(rows_of(self._standings)), room):
                    tables += [Text(line, no_wrap=True, overflow="ellipsis") for line in lines]
                    room -= len(lines)
            boards, taken = self._boards_part(room)
            recent = self._recent[-max(0, room - taken) :] if room > taken else []
            ended = [Text(line, style="dim", no_wrap=True, overflow="ellipsis") for line in recent]
            done = self._progress.done / max(1, self._progress.total)
            return Group(*boards, *tables, *ended, bar_between("", done, str(self._progress)))

    def _tables(self) -> list[Rows]:
        """Return which tables suit the match, the one that matters more first."""
        if len(self._standings.names) <= 2:
            return [pair_rows]
        few = len(self._standings.pairs) <= MOST_PAIRS
        return [ladder_rows, pair_rows] if few else [ladder_rows]

    def _boards_part(self, room: int) -> tuple[list[RenderableType], int]:
        """Return the boards that fit into ``room`` lines, and the lines that they take."""
        tall = self._settings.height + BOARD_FRAME
        across = max(1, self.console.width // (2 * self._settings.width + 8))
        down = room // tall
        boards = [self._boards[slot] for slot in sorted(self._boards)][: across * down]
        if not boards:
            return [], 0
        rows = -(-len(boards) // across)
        return [Columns([self._board(played) for played in boards])], rows * tall

    def _board(self, played: Played) -> RenderableType:
        names = f"{self._short[played.black]} - {self._short[played.white]}"
        return Panel(
            self._picture(played),
            title=f"{played.game + 1}: {names}",
            subtitle=last_move(played),
            expand=False,
        )

    def _picture(self, played: Played) -> Text:
        moves = played.all_moves
        stones = ((cell, Side(ply % 2)) for ply, cell in enumerate(moves))
        last = moves[-1] if moves else None
        board = diagram.diagram_of(self._settings.width, self._settings.height, stones, last)
        if self.console.color_system is None or self.console.no_color:
            return Text(diagram.format_diagram(board, stars=True), no_wrap=True)
        row = diagram.winning_row(board) if played.reason == FIVE else []
        return diagram.coloured(board, row, letters=self._ascii)


def lines_that_fit(lines: list[str], room: int) -> list[str]:
    """Return a table that is no longer than the room, the last line saying what it lacks."""
    if len(lines) <= room:
        return lines
    if room < SHORTEST_TABLE:
        return []
    return [*lines[: room - 1], f"... {len(lines) - room + 1} more"]


def bar_between(before: str, share: float, after: str) -> RenderableType:
    """Return a bar that is filled to a share, between two texts."""
    line = Table.grid(padding=(0, 1))
    bar = ProgressBar(total=1, completed=min(1, max(0, share)), width=40)
    line.add_row(*([before] if before else []), bar, after)
    return line
