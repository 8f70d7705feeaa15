"""Positions named on a command line: moves, a diagram, or a game file."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import counted
from ..files import CONTROLS, decode, read_stream, read_whole
from ..game.cells import NotationError, begins_with_move, parse_moves
from ..game.diagram import parse_diagram
from ..game.record import GameRecord
from ..game.tree import GameTree, main_line
from ..notation.files import read_games, read_text, refuse_others
from ..notation.renlib import is_renlib
from ..notation.sgf import parse_sgf_trees
from ..position.rules import Rule

if TYPE_CHECKING:
    from pathlib import Path  # saves 10 ms at start

DEFAULT_SIZE = (15, 15)
_ADDRESS = re.compile(r"[a-z]+://\S*$", re.IGNORECASE)
_LIBRARY, HEADER = "RenLib", 20  # the mark of a library, among this many first characters
_FILE = re.compile(r"\.(?![A-Za-z][0-9]+$)[A-Za-z]\w*$")  # a file's suffix, but not that of "2.h9"


def chosen_setup(options: argparse.Namespace, position: str) -> GameRecord:
    """Return the position named on a command line, with the options in ``POSITION``.

    ``position`` is a file, ``-`` for stdin, or moves such as ``h8i9``. The rule of the options
    overrides that of a file. NotationError if it makes no sense or its board has another size.
    """
    chosen = options.rule, options.size, options.from_below
    if position == "-":
        raw = getattr(sys.stdin, "buffer", None)
        data = sys.stdin.read().encode() if raw is None else read_stream(raw, "stdin")
        record = read_setup(data, "-", *chosen)
    elif os.path.exists(position) and not os.path.isdir(position):
        record = read_setup(read_whole(position), position, *chosen)
    elif os.path.isdir(position) and not begins_with_move(position):
        raise NotationError(f"{position!r} is a folder, not a file")
    elif any(sign in position for sign in "/\\") or _FILE.search(position):
        raise NotationError(f"{position!r} is neither a file nor moves such as h8i9")
    else:
        record = parse_setup(position, *chosen)
    for remark in record.remarks:
        print(f"numoku: {remark}", file=sys.stderr)
    return record


def read_trees(path: Path) -> list[GameTree]:
    """Return the games of an SGF file with comments and variations; [] if it is none or damaged."""
    text = decode(read_whole(path)).strip()
    try:
        return parse_sgf_trees(text) if text.startswith("(") else []
    except NotationError:  # moves such as (7,7), or a variation is damaged
        return []


def read_setup(
    data: bytes,
    name: str = "",
    rule: Rule | None = None,
    size: tuple[int, int] | None = None,
    from_below: bool = False,
) -> GameRecord:
    """Return the position of a file: of its first game, or of its text as in ``parse_setup``."""
    text = decode(data)
    refuse_others(text, name)
    if not text.strip():
        place = "the standard input" if name == "-" else name or "this"
        raise NotationError(f"{place} is empty: there is no game in it")
    games = read_games(data, name, size=size)
    record = parse_setup(text, rule, size, from_below, games)
    if is_renlib(data, name):
        moves = sum(node.is_move for node, ply in games[0].walk() if ply)
        if moves > len(record.moves) + len(record.passes):
            remark = f"only the first line of the library is used, not all its {moves} moves"
            record = record._replace(remarks=(*record.remarks, remark))
    return record


def parse_setup(
    text: str,
    rule: Rule | None = None,
    size: tuple[int, int] | None = None,
    from_below: bool = False,
    games: Sequence[GameTree] = (),
) -> GameRecord:
    """Return the position given by a text in any of the formats; ``games``: what was read from it.

    ``from_below``: in moves such as ``h8``, rows count from the bottom. NotationError if the text
    cannot be understood or its board is not of the given size.
    """
    body = moves_of_address(text.strip())
    if not games and _LIBRARY in body[:HEADER]:
        error = NotationError("this is a damaged or pasted RenLib library; open its file instead")
        raise error.coded("library")
    games = games or read_text(body, size)
    if not games and CONTROLS.search(body):
        error = NotationError("this is not a known kind of game or position file")
        raise error.coded("no-game")
    if games:
        game = main_line(games[0])
        if len(games) > 1:
            remarks = (*game.remarks, f"only the first of {len(games)} games is used")
            game = game._replace(remarks=remarks)
    elif any(sign in body for sign in ".#(") and not begins_with_move(body):
        game = parse_diagram(text)
    else:
        width, height = size or DEFAULT_SIZE
        moves = tuple(parse_moves(body, width, height, from_below=from_below))
        game = GameRecord(width, height, moves=moves)
    width, height, known = game.board
    if size is not None and size != (width, height):
        raise NotationError(f"the position has a {width}x{height} board, not {size[0]}x{size[1]}")
    return game._replace(rule=known if rule is None else rule)


def moves_of_address(text: str) -> str:
    """Return the moves in a web address, other text unchanged; NotationError without moves."""
    if not _ADDRESS.match(text):
        return text
    moves = re.split("[/#?=&]", text.rstrip("/"))[-1]
    if begins_with_move(moves):
        return moves
    reason = "this is a web address without moves; paste the moves themselves"
    raise NotationError(reason).coded("address")


def cut(record: GameRecord, ply: int) -> GameRecord:
    """Return a game cut to ``ply`` moves (negative: from the end); NotationError if too short."""
    count = len(record.moves)
    if not -count <= ply <= count:
        held = counted(count, "move")
        raise NotationError(f"the game has only {held}, so there is no position at {ply}")
    kept = ply if ply >= 0 else count + ply
    passes = tuple(after for after in record.passes if after <= kept)
    return record._replace(moves=record.moves[:kept], passes=passes)
