"""``numoku play``: a game against the engine in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from shutil import get_terminal_size

from ..engine.engine import Engine, Thought
from ..options import Parser, above_zero, positive
from ..position.rules import Side
from . import kept, setup, view
from .dialogue import Dialogue, person_of
from .levels import LEVELS

PROMPT = "your move> "


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku play",
        description="Play against the engine in the terminal. Type a cell such as h8 (letter = "
        "column, number = row from the top), or `help` for everything else.",
    )
    parser.add_argument("position", nargs="*", help="moves such as h8i9, or a file, to go on from")
    setup.add_position_options(parser)
    parser.add_argument(
        "--side", choices=("black", "white"), help="your side (default: as in the file, or black)"
    )
    parser.add_argument(
        "--level", type=int, choices=LEVELS, default=7, help="strength, 1 to 10 (default: 7)"
    )
    parser.add_argument(
        "--time", type=above_zero, default=5.0, help="the engine's seconds a move (default: 5)"
    )
    parser.add_argument("--threads", type=positive, default=1, help="threads to search with")
    setup.add_search_option(parser)
    kept.add_database_option(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Play until the person leaves."""
    options = make_parser().parse_args(arguments)
    start = setup.read_setup(" ".join(options.position), options.rule, options.size)
    person = Side[options.side.upper()] if options.side else person_of(start) or Side.BLACK
    line = StatusLine()
    edit_lines()
    with (
        kept.Kept(options.db) as database,
        Engine(threads=options.threads, memory=200_000_000, search=options.search) as engine,
    ):
        dialogue = Dialogue(
            engine, start, person, options.level, options.time, listener=line.show, kept=database
        )
        talk(dialogue, line)
    return 0


def edit_lines() -> None:
    """Let arrow keys edit what is typed and bring it back, where the system can do that."""
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401 - from now on it works behind `input`


class StatusLine:
    """One line of a terminal that tells what the engine thinks, and goes when it has moved."""

    def __init__(self) -> None:
        """Write to the standard output if it is a terminal."""
        self._stream = sys.stdout
        self._is_wanted = sys.stdout.isatty()
        self._is_open = False

    def show(self, thought: Thought) -> None:
        """Tell the best move so far."""
        if not self._is_wanted or thought.multipv > 1:
            return
        room = get_terminal_size().columns - 1
        text = f"thinking: {view.format_thought(thought)}   (Ctrl-C: move now)"
        self._stream.write("\r" + text[:room].ljust(room))
        self._stream.flush()
        self._is_open = True

    def clear(self) -> None:
        """Leave the line empty."""
        if self._is_open:
            room = get_terminal_size().columns - 1
            self._stream.write("\r" + " " * room + "\r")
            self._stream.flush()
            self._is_open = False


def talk(dialogue: Dialogue, status: StatusLine) -> None:
    """Read lines and show answers until the input ends."""
    shown: object = None
    announced = ""
    while not dialogue.over:
        said = dialogue.engine_turn()
        status.clear()
        say(said)
        game = dialogue.engine.game
        if (game.width, game.height, game.moves) != shown:
            show_board(dialogue)
            shown = (game.width, game.height, game.moves)
        result = dialogue.result()
        if result != announced:
            say(result)
            announced = result
            if result:
                dialogue.keep()
        try:
            line = input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            print()
            return
        answer = dialogue.answer(line)
        status.clear()
        say(answer)


def say(text: str) -> None:
    """Print what there is to say."""
    if text:
        print(text, flush=True)


def show_board(dialogue: Dialogue) -> None:
    """Print the board with its last stone marked."""
    game = dialogue.engine.game
    print()
    view.show_board(game, view.last_of(game), game.forbidden())
    say(view.opening_line(game))
