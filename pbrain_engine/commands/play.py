"""``numoku play``: a game against the engine in the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..engine.engine import Engine
from ..position.rules import Side
from . import setup, view
from .dialogue import Dialogue
from .levels import LEVELS

PROMPT = "your move> "


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = argparse.ArgumentParser(
        prog="numoku play",
        description="Play against the engine in the terminal. Type a cell such as h8 (letter = "
        "column, number = row from the top), or `help` for everything else.",
    )
    parser.add_argument(
        "position", nargs="?", default="", help="moves such as h8i9, or a file, to go on from"
    )
    setup.add_position_options(parser)
    parser.add_argument(
        "--side", choices=("black", "white"), default="black", help="your side (default: black)"
    )
    parser.add_argument(
        "--level", type=int, choices=LEVELS, default=7, help="strength, 1 to 10 (default: 7)"
    )
    parser.add_argument(
        "--time", type=float, default=5.0, help="the engine's seconds a move (default: 5)"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads to search with")
    setup.add_search_option(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Play until the person leaves."""
    options = make_parser().parse_args(arguments)
    start = setup.read_setup(options.position, options.rule, options.size)
    with Engine(threads=options.threads, memory=200_000_000, search=options.search) as engine:
        dialogue = Dialogue(engine, start, Side[options.side.upper()], options.level, options.time)
        talk(dialogue)
    return 0


def talk(dialogue: Dialogue) -> None:
    """Read lines and show answers until the input ends."""
    shown: object = None
    announced = ""
    while not dialogue.over:
        say(dialogue.engine_turn())
        game = dialogue.engine.game
        if (game.width, game.height, game.moves) != shown:
            show_board(dialogue)
            shown = (game.width, game.height, game.moves)
        result = dialogue.result()
        if result != announced:
            say(result)
            announced = result
        try:
            line = input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            print()
            return
        say(dialogue.answer(line))


def say(text: str) -> None:
    """Print what there is to say."""
    if text:
        print(text, flush=True)


def show_board(dialogue: Dialogue) -> None:
    """Print the board with its last stone marked."""
    game = dialogue.engine.game
    last = view.last_of(game)
    console = view.rich_console()
    print()
    if console is not None:
        console.print(view.rich_board(game, last, game.forbidden()))
    else:
        print(view.plain_board(game, last))
