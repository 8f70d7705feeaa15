"""Positions as a command line gives them: moves, a drawing, an SGF or a PSQ file."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from ..engine.engine import ALPHABETA, SEARCHES, Engine
from ..game.game import Game
from ..notation.cells import MAX_DIGITS, NotationError, parse_moves
from ..notation.diagram import Diagram, parse_diagram
from ..notation.game_record import GameRecord
from ..notation.psq import parse_psq
from ..notation.sgf import parse_sgf
from ..notation.textfile import decode
from ..position.geometry import MAX_BOARD, MIN_BOARD, Coordinates
from ..position.rules import Rule, Side

if TYPE_CHECKING:
    from pathlib import Path  # 10 ms that a package does without

DEFAULT_SIZE = (15, 15)


class Placed(NamedTuple):
    """A stone or blocked cell that stood there before the first move."""

    x: int
    y: int
    side: Side


class Setup(NamedTuple):
    """A position to be built: what stood on the board, who began, and the moves since."""

    width: int
    height: int
    rule: Rule
    placed: tuple[Placed, ...] = ()
    first: Side = Side.BLACK
    moves: tuple[Coordinates, ...] = ()
    marked: Coordinates | None = None  # what a drawing marks as the last stone
    passes: tuple[int, ...] = ()  # after how many moves a side gave up its turn
    names: tuple[str, str] = ("", "")  # of black and white, where a file has them

    @property
    def last(self) -> Coordinates | None:
        """The last stone, as far as it is known."""
        return self.moves[-1] if self.moves else self.marked


def record_of(setup: Setup) -> GameRecord:
    """Return all of a position's game but its moves."""
    black, white = (
        tuple((x, y) for x, y, held in setup.placed if held is side)
        for side in (Side.BLACK, Side.WHITE)
    )
    return GameRecord(
        setup.width,
        setup.height,
        setup.rule,
        first=setup.first,
        black_setup=black,
        white_setup=white,
    )


def add_position_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which rule and board are meant."""
    parser.add_argument(
        "--rule",
        type=rule_argument,
        help="freestyle, standard, renju, caro, caro_exact, or the protocol's code "
        "(default: what the file says, else freestyle)",
    )
    parser.add_argument(
        "--size",
        type=size_argument,
        help="board such as 15 or 15x20 (default: what the file says, else 15)",
    )


def add_search_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that says which search thinks."""
    parser.add_argument(
        "--search",
        choices=SEARCHES,
        default=ALPHABETA,
        help="alphabeta, or mcts for Monte Carlo tree search (default: alphabeta)",
    )


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


def read_setup(
    position: str, rule: Rule | None = None, size: tuple[int, int] | None = None
) -> Setup:
    """Return the position that a command line names.

    ``position`` is a file, ``-`` for stdin, or moves such as ``h8i9``; ``rule`` and ``size``
    override what a file says.

    Raises:
        NotationError: it cannot be understood.
        OSError: the file cannot be read.
    """
    if position == "-":
        return parse_setup(read_stdin(), rule, size)
    if os.path.isfile(position):
        from pathlib import Path

        return read_file(Path(position), rule, size)
    if any(sign in position for sign in "./\\"):
        raise NotationError(f"{position!r} is neither a file nor moves such as h8i9")
    return parse_setup(position, rule, size)


def read_stdin() -> str:
    """Return what stands on the standard input, in whatever encoding."""
    raw = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if raw is None else decode(raw.read())


def read_file(path: Path, rule: Rule | None = None, size: tuple[int, int] | None = None) -> Setup:
    """Return the position that a file holds.

    Raises:
        NotationError: it cannot be understood.
        OSError: the file cannot be read.
    """
    return parse_setup(decode(path.read_bytes()), rule, size)


def parse_setup(text: str, rule: Rule | None = None, size: tuple[int, int] | None = None) -> Setup:
    """Return the position that a text holds, whichever of the formats it is in.

    Raises:
        NotationError: it cannot be understood, or its board is not of the size.
    """
    body = text.strip()
    if body.startswith("("):
        setup = _setup_of_record(parse_sgf(body), rule)
    elif body.lower().startswith("piskvorky"):
        setup = _setup_of_record(parse_psq(body), rule)
    elif any(sign in body for sign in ".#("):
        setup = _setup_of_diagram(parse_diagram(text), rule)
    else:
        width, height = size or DEFAULT_SIZE
        moves = tuple(parse_moves(body, width, height))
        return Setup(width, height, Rule.FREESTYLE if rule is None else rule, moves=moves)
    if size is not None and size != (setup.width, setup.height):
        raise NotationError(
            f"the position has a {setup.width}x{setup.height} board, not {size[0]}x{size[1]}"
        )
    return setup


def _setup_of_record(record: GameRecord, rule: Rule | None) -> Setup:
    placed = [Placed(x, y, Side.BLACK) for x, y in record.black_setup]
    placed += [Placed(x, y, Side.WHITE) for x, y in record.white_setup]
    known = record.rule if rule is None else rule
    return Setup(
        record.width,
        record.height,
        Rule.FREESTYLE if known is None else known,
        tuple(placed),
        record.first,
        tuple(record.cells),
        passes=record.passes,
        names=(record.black, record.white),
    )


def _setup_of_diagram(diagram: Diagram, rule: Rule | None) -> Setup:
    sides = (Side.BLACK, Side.WHITE, Side.WALL)
    placed = [Placed(x, y, side) for side in sides for x, y in diagram.cells(side)]
    return Setup(
        diagram.width,
        diagram.height,
        Rule.FREESTYLE if rule is None else rule,
        tuple(placed),
        diagram.side_to_move(),
        marked=diagram.last,
    )


def cut(setup: Setup, ply: int) -> Setup:
    """Return the position after so many moves of a game; below 0: before so many of the last.

    Raises:
        NotationError: the game has no such move.
    """
    count = len(setup.moves)
    if not -count <= ply <= count:
        raise NotationError(f"there are only {count} moves, so there is no position at {ply}")
    kept = ply if ply >= 0 else count + ply
    passes = tuple(after for after in setup.passes if after <= kept)
    return setup._replace(moves=setup.moves[:kept], passes=passes)


def build(board: Game | Engine, setup: Setup) -> None:
    """Put the position on an empty board."""
    for x, y, side in setup.placed:
        board.place(x, y, side)
    board.set_to_move(setup.first)
    side = setup.first
    for number in range(len(setup.moves) + 1):
        for _ in range(setup.passes.count(number)):
            side = side.opponent
            board.set_to_move(side)
        if number < len(setup.moves):
            board.play(*setup.moves[number])
            side = side.opponent
