"""How people and files write cells: ``h8``, ``h8i9j10``, ``7,7`` and opening offsets.

A cell is a pair ``x, y`` from 0 at the top left. Its name is the column's letter and the
row's number from 1, so ``h8`` is ``7, 7``. Everything here raises ``NotationError`` with a
text that says what was wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..position.geometry import MAX_BOARD, MIN_BOARD, Coordinates

MAX_DIGITS = 9  # of a row's number; Python refuses to read some thousands


class NotationError(ValueError):
    """A text that is meant to describe cells, moves or a position does not."""


def column_letter(x: int) -> str:
    """Return the letter of a column, ``a`` for 0."""
    return chr(ord("a") + x)


def cell_name(x: int, y: int) -> str:
    """Return a cell's name, such as ``h8``."""
    return f"{column_letter(x)}{y + 1}"


def check_on_board(x: int, y: int, width: int, height: int) -> Coordinates:
    """Return the cell if the board has it.

    Raises:
        NotationError: it lies outside.
    """
    if not (0 <= x < width and 0 <= y < height):
        raise NotationError(f"{x},{y} is off the {width}x{height} board")
    return x, y


def check_size(what: str, width: int, height: int) -> None:
    """Refuse a size that no board has; ``what`` is of this size.

    Raises:
        NotationError: it is too small or too large.
    """
    if not all(MIN_BOARD <= side <= MAX_BOARD for side in (width, height)):
        raise NotationError(
            f"{what} is {width}x{height}; boards are {MIN_BOARD} to {MAX_BOARD} wide and high"
        )


def parse_cell(text: str, width: int = MAX_BOARD, height: int | None = None) -> Coordinates:
    """Return the cell that ``h8`` or ``7,7`` names.

    Raises:
        NotationError: the text is no cell, or the board does not have it.
    """
    if "," in text:
        return parse_point(text, width, height)
    word = text.strip().lower()
    letter, digits = word[:1], word[1:]
    if not ("a" <= letter <= "z" and digits.isascii() and digits.isdigit()):
        raise NotationError(f"{text.strip()!r} is no cell; cells look like h8 or 7,7")
    x, y = ord(letter) - ord("a"), int(digits[:MAX_DIGITS]) - 1
    tall = width if height is None else height
    if not (0 <= x < width and 0 <= y < tall) or len(digits) > MAX_DIGITS:
        raise NotationError(f"{word} is off the {width}x{tall} board")
    return x, y


def parse_point(text: str, width: int = MAX_BOARD, height: int | None = None) -> Coordinates:
    """Return the cell that the protocol's ``7,7`` stands for.

    Raises:
        NotationError: these are not two numbers, or the board does not have the cell.
    """
    x, y = parse_pair(text)
    return check_on_board(x, y, width, width if height is None else height)


def parse_pair(text: str) -> tuple[int, int]:
    """Return the two integers of ``-3,4``.

    Raises:
        NotationError: these are not two integers.
    """
    left, comma, right = text.partition(",")
    try:
        if not comma:
            raise ValueError
        return int(left), int(right)
    except ValueError:
        raise NotationError(f"{text.strip()!r} is not a pair of numbers such as 7,7") from None


def format_moves(moves: Iterable[Coordinates], separator: str = "") -> str:
    """Return moves in one string, ``h8i9j10``."""
    return separator.join(cell_name(x, y) for x, y in moves)


def parse_moves(text: str, width: int = MAX_BOARD, height: int | None = None) -> list[Coordinates]:
    """Return the moves of ``h8i9j10``, with or without blanks, or of ``7,7 8,8``.

    Raises:
        NotationError: something is no cell, is off the board, or occurs twice.
    """
    moves: list[Coordinates] = []
    for word in split_moves(text):
        move = parse_cell(word, width, height)
        if move in moves:
            raise NotationError(f"{word} is played twice")
        moves.append(move)
    return moves


def split_moves(text: str) -> list[str]:
    """Split a move string before every letter, and at blanks."""
    words: list[str] = []
    for chunk in text.split():
        start = 0
        for end in range(1, len(chunk)):
            if chunk[end].isalpha():
                words.append(chunk[start:end])
                start = end
        words.append(chunk[start:])
    return words


def centre_of(width: int, height: int) -> Coordinates:
    """Return the cell that opening offsets count from."""
    return width // 2, height // 2


def format_offsets(moves: Iterable[Coordinates], width: int, height: int | None = None) -> str:
    """Return an opening as tournaments store it, offsets from the centre: ``8,-3, 6,-4``."""
    centre_x, centre_y = centre_of(width, width if height is None else height)
    return ", ".join(f"{x - centre_x},{y - centre_y}" for x, y in moves)


def parse_offsets(text: str, width: int, height: int | None = None) -> list[Coordinates]:
    """Return the cells of an opening that is stored as offsets from the centre.

    Raises:
        NotationError: the numbers do not come in pairs, a cell is off the board or occurs twice.
    """
    tall = width if height is None else height
    centre_x, centre_y = centre_of(width, tall)
    words = text.replace(",", " ").split()
    if len(words) % 2:
        raise NotationError(f"offsets come in pairs, here are {len(words)} numbers: {text.strip()}")
    moves: list[Coordinates] = []
    for left, right in zip(words[::2], words[1::2], strict=True):
        dx, dy = parse_pair(f"{left},{right}")
        move = check_on_board(centre_x + dx, centre_y + dy, width, tall)
        if move in moves:
            raise NotationError(f"the offset {dx},{dy} occurs twice")
        moves.append(move)
    return moves
