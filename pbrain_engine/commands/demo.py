"""``numoku demo``: one game of the engine against itself, shown while it is played."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from ..app import setup, thinking, view
from ..engine.engine import Engine, Limit, Thought
from ..game.cells import cell_name
from ..options import POSITION, SHARED, CommandLine, Option, above_zero, counted
from ..position.rules import Side
from ..values import format_value

if TYPE_CHECKING:
    from rich.console import RenderableType

FEWEST_MOVES_LEFT = 12  # always expected when the time is shared out
TYPICAL_MOVES = 60
LISTED_MOVES = 12
SHOWN_SECONDS = 0.3  # a move stays so long on a live board, if there is time
LEAST_SECONDS = 0.02  # of a search, also when the time of the game is over


COMMAND = CommandLine(
    "numoku demo",
    "Watch the engine play one game against itself.",
    (
        *POSITION,
        SHARED["time"]._replace(default=0.5, about="seconds a move"),
        Option("--total", above_zero, 75.0, "S", "seconds for the game"),
        Option("--opening", str, "", "MOVES", "moves to begin with, such as h8i9"),
        "threads",
    ),
)


def main(arguments: Sequence[str]) -> int:
    """Play the game and print its result."""
    options = COMMAND.parse(arguments)
    opening = setup.parse_setup(options.opening, options.rule, options.size, options.from_below)
    with Engine(threads=options.threads, memory=200_000_000) as engine:
        engine.new_game(*opening.board)
        engine.game.become(opening)
        console = view.rich_console()
        shown = Show(engine, console)
        try:
            with shown.screen:
                play(engine, shown, options.time, options.total)
        except KeyboardInterrupt:
            print(f"stopped after {counted(engine.game.ply, 'stone')}")
            raise
        if console is None:
            print(view.plain_board(engine.game, engine.game.last))
        winner = engine.game.winner
        print(view.result_line(engine.game, None if winner is None else winner.name.lower()))
    return 0


def play(engine: Engine, shown: Show, move_time: float, total: float) -> None:
    """Play until a side has won or the board is full."""
    began = perf_counter()
    while not engine.game.is_over:
        left = total - (perf_counter() - began)
        to_come = max(FEWEST_MOVES_LEFT, TYPICAL_MOVES - engine.game.ply)
        share = max(LEAST_SECONDS, left / to_come)
        limit = Limit(time=min(move_time, share))
        thought, *_ = thinking.think(engine, limit, on_iteration=shown.iteration, ends=True)
        side = engine.game.to_move
        engine.play(*thought.move)
        shown.move(side, thought)
        if shown.rests:
            sleep(max(0.0, min(SHOWN_SECONDS, share) - thought.time))


class Show:
    """A game while it is played: on a live board with what the engine thinks, or a line a move."""

    def __init__(self, engine: Engine, console: Any) -> None:
        """Show the engine's game on a console of rich; None: as plain lines."""
        self.engine = engine
        self.moves: list[str] = []
        self.latest: Thought | None = None
        self.rests = console is not None  # long enough for each move to be seen
        self.screen: Any = nullcontext()
        if console is None:
            name = view.rule_name(engine.game.rule)
            print(f"{name}, {engine.game.width}x{engine.game.height}, Numoku against itself")
        else:
            from rich.live import Live

            self.screen = Live(self._render(), console=console, refresh_per_second=10)

    def iteration(self, thought: Thought) -> None:
        """Show what is thought of now."""
        self.latest = thought
        if self.rests:
            self.screen.update(self._render())

    def move(self, side: Side, thought: Thought) -> None:
        """Show the move that was played."""
        name, value = cell_name(*thought.move), format_value(thought.value)
        ply = self.engine.game.ply
        self.latest = None
        if self.rests:
            stone = "XO"[side]
            self.moves.append(f"{ply:3} {stone} {name:4} {value:>6}  depth {thought.depth}")
            self.screen.update(self._render(), refresh=True)
            return
        chance = view.format_chance(thought)
        words = f"{ply:3} {side.name.lower()} {name:4} value {value:6} {chance:>5}"
        print(f"{words} depth {thought.depth:2}", flush=True)

    def _render(self) -> RenderableType:
        from rich.table import Table

        game = self.engine.game
        table = Table.grid(padding=(0, 3))
        table.add_row(view.rich_board(game, game.last), "\n".join(self._side_lines()))
        return table

    def _side_lines(self) -> list[str]:
        """Return the text beside the board, always as many lines."""
        game = self.engine.game
        lines = [f"Numoku against itself, {view.rule_name(game.rule)}", ""]
        lines += self.moves[-LISTED_MOVES:]
        lines += [""] * (LISTED_MOVES + 3 - len(lines))
        if game.is_over:
            return lines
        lines.append(f"{game.to_move.name.lower()} thinks")
        if self.latest is not None:
            thought = self.latest
            speed = view.format_count(thought.nodes / max(thought.time, 1e-3))
            lines.append(f"value {view.format_worth(thought)}, depth {thought.depth}")
            lines.append(f"{view.format_count(thought.nodes)} nodes, {speed}/s")
            lines.append(view.format_line(thought.pv, 8))
        return lines
