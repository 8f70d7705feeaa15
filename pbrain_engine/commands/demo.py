"""``numoku demo``: one game of the engine against itself, shown move by move."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing

from ..app import setup, view
from ..arena.pool import GameSeat
from ..arena.referee import GameTask
from ..arena.settings import MatchSettings, name_apart, parse_engine
from ..arena.standings import Standings, View
from ..errors import counted
from ..game.cells import NotationError, cell_name
from ..game.game import Game
from ..game.record import GameRecord
from ..options import SHARED, CommandLine, Option, above_zero
from ..values import format_value

COMMAND = CommandLine(
    "numoku demo",
    "Watch the engine play one game against itself.",
    (
        SHARED["rule"]._replace(about="freestyle, standard, renju, caro, caro-exact, or the "
                                "protocol's code (default: freestyle)"),
        SHARED["size"]._replace(about="side of the board, 5 to 22, or WxH (default: 15)"),
        "from-below",
        SHARED["time"]._replace(default=0.5, about="seconds per move"),
        Option("--total", above_zero, 75.0, "S", "seconds for the game"),
        Option("--opening", str, "", "MOVES", "moves to begin with, such as h8i9"),
        "threads",
    ),
)  # fmt: skip


class MoveView(View):
    """A line for each move."""

    def on_move(self, slot: int, played: GameRecord) -> None:
        """Print the last move with its value and depth."""
        if len(played.moves) > played.given:
            ply, (x, y) = len(played.moves), played.moves[-1]
            side = "white" if ply % 2 == 0 else "black"
            value, depth = format_value(played.values[-1] or 0), played.depths[-1] or 0
            print(f"{ply:3} {side} {cell_name(x, y):4} value {value:6} depth {depth:2}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Play the game and print its result."""
    options = COMMAND.parse(arguments)
    opening = setup.parse_setup(options.opening, options.rule, options.size, options.from_below)
    if opening.placed:
        raise NotationError("a demo begins with moves such as h8i9")
    settings = MatchSettings(
        name_apart([parse_engine(f"Numoku=numoku:threads={options.threads}")] * 2),
        games=1, width=opening.width, height=opening.height, rule=opening.board[2],
        openings="none", turn=options.time, match=options.total / 2, in_process=True,
    )  # fmt: skip
    moves = opening.moves
    shown: View = MoveView(Standings(settings))
    if view.rich_console() is not None:
        from ..arena.live import RichView

        shown = RichView(Standings(settings), sys.stdout)
    else:
        print(f"{settings.rule.label}, {settings.width}x{settings.height}, "
              "Numoku against itself", flush=True)  # fmt: skip

    def on_move(played: GameRecord) -> None:
        nonlocal moves
        moves = played.moves
        shown.on_move(0, played)

    try:
        with closing(shown), closing(GameSeat(settings)) as seat:
            seat.play(GameTask(0, 0, 0, 1, opening.moves), on_move)
    except KeyboardInterrupt:
        print(f"stopped after {counted(len(moves), 'stone')}")
        raise
    game = Game(*settings.board)
    game.become(opening._replace(moves=tuple(moves)))
    if isinstance(shown, MoveView):
        print(view.plain_board(game, game.last))
    winner = game.winner
    print(view.result_line(game, None if winner is None else winner.name.lower()))
    return 0
