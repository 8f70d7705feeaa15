"""Positions as a command line gives them: moves, a drawing, an SGF or a PSQ file."""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.engine import ALPHABETA, DEFAULT_WEIGHTS, SEARCHES
from ..files import decode
from ..game.cells import MAX_DIGITS, NotationError, begins_with_move, parse_moves
from ..game.diagram import parse_diagram
from ..game.record import GameRecord
from ..notation.psq import parse_psq
from ..notation.renlib import ENCODING
from ..notation.sgf import parse_sgf, parse_sgf_trees
from ..options import positive
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path  # 10 ms that a package does without

    from ..game.record import GameTree

DEFAULT_SIZE = (15, 15)
DATABASE = "NUMOKU_DB"  # names the database where no option does
_FILE = re.compile(r"\.(?![A-Za-z][0-9]+$)[A-Za-z]\w*$")  # how a file's name ends, unlike "2.h9"


def rule_argument(text: str) -> Rule:
    """Return the rule of an option."""
    try:
        return Rule.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def size_argument(text: str) -> tuple[int, int]:
    """Return width and height of an option such as ``15`` or ``15x20``."""
    words = text.lower().split("x")
    if len(words) > 2 or not all(word.isdecimal() and len(word) <= MAX_DIGITS for word in words):
        raise argparse.ArgumentTypeError(f"{text!r} is no board size; sizes look like 15 or 15x20")
    width, height = int(words[0]), int(words[-1])
    if not all(MIN_BOARD <= n <= MAX_BOARD for n in (width, height)):
        raise argparse.ArgumentTypeError(f"boards are {MIN_BOARD} to {MAX_BOARD} wide and high")
    return width, height


_SHARED: dict[str, dict[str, Any]] = {
    "rule": {
        "type": rule_argument,
        "help": "freestyle, standard, renju, caro, caro_exact, or the protocol's code "
        "(default: what the file says, else freestyle)",
    },
    "size": {
        "type": size_argument,
        "help": "board such as 15 or 15x20 (default: what the file says, else 15)",
    },
    "from-below": {
        "action": "store_true",
        "help": "the rows of moves such as h8 count from below, as in RenLib; files know theirs",
    },
    "threads": {"type": positive, "default": 1, "help": "threads to search with"},
    "memory": {"type": positive, "default": 350, "help": "megabytes to use (%(default)s)"},
    "weights": {
        "default": DEFAULT_WEIGHTS, "metavar": "W", "help": "built-in name or file (%(default)s)",
    },
    "search": {
        "choices": SEARCHES, "default": ALPHABETA,
        "help": "alphabeta, or mcts for Monte Carlo tree search (%(default)s)",
    },
    "db": {
        "metavar": "FILE",
        "help": f"keep what is found out in a database, and use what it knows (${DATABASE})",
    },
    "encoding": {
        "default": ENCODING, "metavar": "E",
        "help": f"of the texts in a RenLib library, such as cp1252, gbk or shift_jis ({ENCODING})",
    },
    "json": {"action": "store_true", "help": "one JSON document on stdout"},
}  # fmt: skip


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options that several commands have."""
    for name in names:
        parser.add_argument(f"--{name}", **_SHARED[name])
    if "db" in names:
        parser.set_defaults(db=os.environ.get(DATABASE) or None)


def add_position_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which rule and board are meant."""
    add_options(parser, "rule", "size", "from-below")


def chosen_setup(options: argparse.Namespace, position: str) -> GameRecord:
    """Return the position that a command line names, with the options of ``add_position_options``.

    ``position`` is a file, ``-`` for stdin, or moves such as ``h8i9``; rule and size of the options
    override what a file says.

    Raises:
        NotationError: it cannot be understood.
        OSError: the file cannot be read.
    """
    if position == "-":
        raw = getattr(sys.stdin, "buffer", None)
        position = sys.stdin.read() if raw is None else decode(raw.read())
    elif os.path.isfile(position):
        with open(position, "rb") as file:
            position = decode(file.read())
    elif any(sign in position for sign in "/\\") or _FILE.search(position):
        raise NotationError(f"{position!r} is neither a file nor moves such as h8i9")
    return parse_setup(position, options.rule, options.size, options.from_below)


def read_trees(path: Path) -> list[GameTree]:
    """Return the games of an SGF file with comments and side lines; none of any other file.

    Raises:
        OSError: the file cannot be read.
    """
    text = decode(path.read_bytes()).strip()
    if not text.startswith("("):
        return []
    try:
        return parse_sgf_trees(text)
    except NotationError:  # in a side line: the main one is played all the same
        return []


def parse_setup(
    text: str,
    rule: Rule | None = None,
    size: tuple[int, int] | None = None,
    from_below: bool = False,
) -> GameRecord:
    """Return the position that a text holds, whichever of the formats it is in.

    ``from_below``: in moves such as ``h8`` the rows count from the lowest one.

    Raises:
        NotationError: it cannot be understood, or its board is not of the size.
    """
    body = text.strip()
    if body.startswith("(") and not begins_with_move(body):
        game = parse_sgf(body)
    elif body.lower().startswith("piskvorky"):
        game = parse_psq(body)
    elif any(sign in body for sign in ".#(") and not begins_with_move(body):
        drawn = parse_diagram(text)
        placed = tuple(sorted(drawn.stones.items(), key=lambda held: held[1]))
        game = GameRecord(
            drawn.width, drawn.height, first=drawn.side_to_move(), placed=placed, marked=drawn.last
        )
    else:
        width, height = size or DEFAULT_SIZE
        moves = tuple(parse_moves(body, width, height, from_below=from_below))
        game = GameRecord(width, height, moves=moves)
    width, height, known = game.board
    if size is not None and size != (width, height):
        raise NotationError(f"the position has a {width}x{height} board, not {size[0]}x{size[1]}")
    return replace(game, rule=known if rule is None else rule)


def cut(record: GameRecord, ply: int) -> GameRecord:
    """Return the position after ``ply`` moves of a game; below 0: counted from the end.

    Raises:
        NotationError: the game has no such move.
    """
    count = len(record.moves)
    if not -count <= ply <= count:
        raise NotationError(f"there are only {count} moves, so there is no position at {ply}")
    kept = ply if ply >= 0 else count + ply
    passes = tuple(after for after in record.passes if after <= kept)
    return replace(record, moves=record.moves[:kept], passes=passes)
