"""Games as other programs keep them, which are read and not written.

``.pos`` (Yixin-Board, RenLib, ZjRenju): a byte for the number of moves, then one for each of them,
``15 * row + column`` from the top left, on a board of 15x15.

``.sav`` (Yixin-Board): numbers in a text, the height, the width, how many moves there are, then row
and column of each, from 0.

``.rec`` (Piskvork, Gomotur): the names of both players, the one that begins first, then
``column,row,ms`` a move from 0, and a number for how the game ended. It does not tell the board,
which is one of 20x20 where all moves fit on that.
"""

from __future__ import annotations

import re

from ..game.cells import NotationError
from ..game.record import GameRecord
from ..game.tree import tree_of
from ..position.geometry import MAX_BOARD, Coordinates

POS_SIZE = 15
REC_SIZE = 20

_NUMBERS = re.compile(r"\s*(?:[0-9]{1,6}\s+)*[0-9]{1,6}\s*")
_LEAST = 3  # numbers of a .sav: both sides of the board, and how many moves
_TIMED = re.compile(r"\s*([0-9]{1,6})\s*,\s*([0-9]{1,6})\s*,\s*(-?[0-9]{1,18})\s*")
_NAMES = 2  # lines of a .rec before its moves


def is_pos(data: bytes) -> bool:
    """Return whether bytes are a ``.pos`` file: as many moves as announced, and no text."""
    if not data or len(data) != 1 + data[0] or len({*data[1:]}) != data[0]:
        return False
    return data[0] < ord(" ") or not data.isascii()


def parse_pos(data: bytes) -> GameRecord:
    """Return the game of a ``.pos`` file.

    Raises:
        NotationError: it is cut off, or a move is not possible.
    """
    if not data or len(data) < 1 + data[0]:
        there, wanted = max(len(data) - 1, 0), data[0] if data else 1
        raise NotationError(f"the .pos file is cut off: it has {there} of {wanted} moves")
    moves = []
    for number, byte in enumerate(data[1 : 1 + data[0]], 1):
        if byte >= POS_SIZE**2:
            raise NotationError(f"move {number} of the .pos file, {byte}, is off the 15x15 board")
        moves.append((byte % POS_SIZE, byte // POS_SIZE))
    return _checked(GameRecord(POS_SIZE, POS_SIZE, moves=tuple(moves)))


def is_sav(text: str) -> bool:
    """Return whether a text is a ``.sav`` file, whole or not: numbers alone, and blanks."""
    return _NUMBERS.fullmatch(text) is not None and len(text.split()) >= _LEAST


def parse_sav(text: str) -> GameRecord:
    """Return the game of a ``.sav`` file.

    Raises:
        NotationError: it is cut off or too long, or a move is not possible.
    """
    words = text.split()
    for number, word in enumerate(words, 1):
        if not _NUMBERS.fullmatch(word):
            raise NotationError(f"word {number} of the .sav file is no number: {word[:40]!r}")
    if len(words) < _LEAST:
        raise NotationError("the .sav file is cut off: it does not tell how many moves it has")
    height, width, count, *cells = map(int, words)
    if len(cells) != 2 * count:
        held = f"{len(cells) / 2:g}, not {count}"
        raise NotationError(f"the number of moves in the .sav file is {held} as it says")
    moves = []
    for number, (y, x) in enumerate(zip(cells[::2], cells[1::2], strict=True), 1):
        if x >= width or y >= height:
            where = f"row {y}, column {x}"
            raise NotationError(f"move {number} of the .sav file ({where}) is off the board")
        moves.append((x, y))
    return _checked(GameRecord(width, height, moves=tuple(moves)))


def is_rec(text: str) -> bool:
    """Return whether a text is a ``.rec`` file: two lines of names, then a move with its time."""
    lines = text.strip().split("\n", 3)
    return (
        len(lines) > _NAMES
        and _TIMED.fullmatch(lines[_NAMES]) is not None
        and not any(map(_TIMED.fullmatch, lines[:_NAMES]))
    )


def parse_rec(text: str, size: Coordinates | None = None) -> GameRecord:
    """Return the game of a ``.rec`` file, on a board of this width and height if it is known.

    Raises:
        NotationError: a line is not a move, or the move is impossible.
    """
    lines = text.strip().split("\n")
    if len(lines) <= _NAMES:
        raise NotationError("the .rec file is cut off: it ends before the first move")
    moves: list[Coordinates] = []
    times: list[int] = []
    for number, line in enumerate(lines[_NAMES:], _NAMES + 1):
        found = _TIMED.fullmatch(line)
        if found is None:
            if number < len(lines) or not line.strip().lstrip("-").isdecimal():
                raise NotationError(f"line {number} of the .rec file is no move: {line[:40]!r}")
            break
        moves.append((int(found[1]), int(found[2])))
        times.append(int(found[3]))
    farthest = [max([REC_SIZE, *(cell[way] + 1 for cell in moves)]) for way in (0, 1)]
    width, height = size or farthest
    for number, (x, y) in enumerate(moves, 1):
        if x >= min(width, MAX_BOARD) or y >= min(height, MAX_BOARD):
            raise NotationError(f"move {number} of the .rec file ({x},{y}) is off the board")
    black, white = (line.strip() for line in lines[:_NAMES])
    record = GameRecord(
        width, height, moves=tuple(moves), times=tuple(times), black=black, white=white
    )
    return _checked(record)


def _checked(record: GameRecord) -> GameRecord:
    tree_of(record).check()
    return record
