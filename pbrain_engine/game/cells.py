"""Cells and moves as text: ``h8``, ``h8i9j10``, ``1. h8 i9``, ``[7,7]``, offsets.

A cell is a pair ``x, y`` from 0 at the top left. Its name is the column's letter and the row's
number from 1, so ``h8`` is ``7, 7``. All parsers raise ``NotationError``, which says what is wrong
and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import NumokuError, counted
from ..position.geometry import MAX_BOARD, MIN_BOARD, Coordinates, is_board

MAX_DIGITS = 9  # of a row number; Python refuses to parse thousands of digits
SHOWN = 20  # characters of unreadable text shown in an error

# Between two moves: blanks, commas, arrows, move numbers, and hyphens unless before a digit, where
# they are signs.
_BETWEEN = re.compile(r"(?:[\s,;|]|[-–—]>|→|[-–—](?=\s*[A-Za-z\[(])|[0-9]{1,3}\.+(?![0-9]))*")
_NUMBER = f"[0-9]{{1,{MAX_DIGITS}}}"
_MOVE = re.compile(
    rf"(?P<open>[\[(]?)\s*(?P<cell>[A-Za-z]{_NUMBER}|[-+]?{_NUMBER}\s*,\s*[-+]?{_NUMBER})\s*"
)
_CLOSE = {"": "", "[": "]", "(": ")"}
_WORD = re.compile(r"[^\s,;]+")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3001: ","}  # East Asian forms


class NotationError(NumokuError, ValueError):
    """A text is not valid notation of cells, moves or a position."""


class IllegalMove(NotationError):
    """A stone off the board or on a cell that is not empty, or an undo on an empty board."""


def column_letter(x: int) -> str:
    """Return the letter of a column, ``a`` for 0."""
    return chr(ord("a") + x)


def cell_name(x: int, y: int) -> str:
    """Return a cell's name, such as ``h8``."""
    return f"{chr(ord('a') + x)}{y + 1}"


def check_on_board(x: int, y: int, width: int, height: int) -> Coordinates:
    """Return the cell; IllegalMove if it is off the board."""
    if not (0 <= x < width and 0 <= y < height):
        raise IllegalMove(f"{x},{y} is off the {width}x{height} board")
    return x, y


def check_size(what: str, width: int, height: int) -> None:
    """Raise NotationError about ``what`` if no board has this size."""
    if not is_board(width, height):
        text = f"{what} is {width}x{height}; boards are {MIN_BOARD} to {MAX_BOARD} wide and high"
        raise NotationError(text).coded("board-size", size=f"{width}×{height}")


def parse_cell(text: str, width: int, height: int) -> Coordinates:
    """Return the cell written as ``h8`` or ``7,7``; NotationError if the board has none such."""
    text = text.translate(_WIDE)
    if "," in text:
        return check_on_board(*parse_pair(text), width, height)
    word = text.strip().lower()
    letter, digits = word[:1], word[1:]
    if not ("a" <= letter <= "z" and digits.isascii() and digits.isdigit()):
        raise NotationError(f"{text.strip()[:SHOWN]!r} is not a cell; cells look like h8 or 7,7")
    x, y = ord(letter) - ord("a"), int(digits[:MAX_DIGITS]) - 1
    if not (0 <= x < width and 0 <= y < height) or len(digits) > MAX_DIGITS:
        raise IllegalMove(f"{word[:SHOWN]} is off the {width}x{height} board")
    return x, y


def parse_pair(text: str) -> tuple[int, int]:
    """Return the two integers of ``-3,4``; NotationError if the text is not two integers."""
    left, _, right = text.partition(",")
    try:
        return int(left), int(right)
    except ValueError:
        raise NotationError(
            f"{text.strip()[:SHOWN]!r} is not a pair of numbers such as 7,7"
        ) from None


def format_moves(moves: Iterable[Coordinates], separator: str = "") -> str:
    """Return moves in one string, ``h8i9j10``."""
    return separator.join([cell_name(x, y) for x, y in moves])


def parse_moves(
    text: str, width: int = MAX_BOARD, height: int | None = None, *, from_below: bool = False
) -> list[Coordinates]:
    """Parse a sequence of moves in any of the usual notations.

    Cells are ``h8`` or ``7,7``, bare or in brackets, optionally separated by blanks, commas,
    hyphens, arrows and move numbers: ``h8i9j10``, ``1. h8 i9 2. j10``, ``[7,7] [8,8]``.
    ``from_below``: rows are numbered from the bottom, as in other programs. NotationError if a word
    is not a cell, or a cell is off the board or occurs twice.
    """
    tall = width if height is None else height
    text = text.translate(_WIDE)
    moves: list[Coordinates] = []
    at = 0
    while (start := _skip(text, at)) < len(text):
        found = _MOVE.match(text, start)
        try:
            if found is None:
                known = _WORD.match(text, start)
                word = text[start] if known is None else known[0][:SHOWN]
                like = "not a cell; cells look like h8 or 7,7"
                if word.strip("[]()+-").isdecimal():
                    like = "not a pair of numbers such as 7,7"
                raise NotationError(f"{word!r} is {like}").coded("wrong-cell", cell=word)
            at = found.end()
            if not text.startswith(_CLOSE[found["open"]], at):
                raise NotationError(f"a bracket is not closed after {found['cell'][:SHOWN]}")
            try:
                x, y = parse_cell(found["cell"], width, tall)
            except IllegalMove as off:
                size = f"{width}×{tall}"
                raise off.coded("wrong-board", cell=found["cell"], size=size) from None
            if from_below and "," not in found["cell"]:
                y = tall - 1 - y
            if (x, y) in moves:
                twice = NotationError(f"{found['cell']} is played twice")
                raise twice.coded("wrong-twice", cell=found["cell"])
        except NotationError as error:
            number = len(moves) + 1
            where = NotationError(f"move {number} (character {start + 1}): {error}")
            raise where.coded(error.code, **error.values, n=number) from None
        at += len(_CLOSE[found["open"]])
        moves.append((x, y))
    return moves


def begins_with_move(text: str) -> bool:
    """Return whether a text looks like moves, not like a drawing or a file name."""
    text = text.translate(_WIDE)
    return _MOVE.match(text, _skip(text, 0)) is not None


def _skip(text: str, at: int) -> int:
    """Return where the next move may begin."""
    found = _BETWEEN.match(text, at)
    assert found is not None  # the pattern also matches the empty string
    return found.end()


def format_offsets(moves: Iterable[Coordinates], width: int, height: int) -> str:
    """Return an opening as offsets from the centre, as in tournament files: ``8,-3, 6,-4``."""
    return ", ".join(f"{x - width // 2},{y - height // 2}" for x, y in moves)


def parse_offsets(text: str, width: int, height: int) -> list[Coordinates]:
    """Return the cells of an opening written as offsets from the centre.

    NotationError if the numbers do not come in pairs, a cell is off the board or occurs twice.
    """
    words = text.replace(",", " ").split()
    if len(words) % 2:
        raise NotationError(
            f"offsets come in pairs, not as {counted(len(words), 'number')}: {text.strip()}"
        )
    moves: list[Coordinates] = []
    for left, right in zip(words[::2], words[1::2], strict=True):
        dx, dy = parse_pair(f"{left},{right}")
        move = check_on_board(width // 2 + dx, height // 2 + dy, width, height)
        if move in moves:
            raise NotationError(f"the offset {dx},{dy} occurs twice")
        moves.append(move)
    return moves
