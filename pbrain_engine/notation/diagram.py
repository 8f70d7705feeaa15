"""Boards drawn with characters: a position as people type and read it.

::

       a b c d e
     1 . . . . .
     2 . X . # .
     3 . .(O). .
     4 . . . . .
     5 . . . . .
    black to move

``.`` (or ``+``) is an empty cell, ``X`` a black stone, ``O`` a white one and ``#`` a blocked cell;
``(O)`` marks the last stone. Row 1 is at the top. Reading, the letters of the columns,
the numbers of the rows and the line that says who moves may be left out, small ``x`` and
``o`` are stones too, and blanks between cells do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..position.geometry import Coordinates
from ..position.rules import Side
from .cells import NotationError, check_size, column_letter

SYMBOLS = {Side.EMPTY: ".", Side.BLACK: "X", Side.WHITE: "O", Side.WALL: "#"}
STAR = "+"  # an empty cell that helps the eye, where a drawing is asked for with these
_SIDES = {symbol: side for side, symbol in SYMBOLS.items()} | {STAR: Side.EMPTY}
STARS_FROM, WIDE_FROM = 9, 13  # sides of boards that have star points, and them further in
_LETTERS = "".join(map(column_letter, range(26)))
_TURNS = {"black to move": Side.BLACK, "white to move": Side.WHITE}


@dataclass(frozen=True, slots=True)
class Diagram:
    """A drawn position; ``to_move`` and ``last`` are None where the drawing does not say."""

    rows: tuple[tuple[Side, ...], ...]
    last: Coordinates | None = None
    to_move: Side | None = None

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(self.rows)

    def at(self, x: int, y: int) -> Side:
        """Return what a cell holds; WALL off the board."""
        on_board = 0 <= x < self.width and 0 <= y < self.height
        return self.rows[y][x] if on_board else Side.WALL

    def cells(self, side: Side) -> list[Coordinates]:
        """Return the cells that hold this, row by row."""
        return [
            (x, y) for y, row in enumerate(self.rows) for x, held in enumerate(row) if held == side
        ]

    def side_to_move(self) -> Side:
        """Return who moves: as drawn, or else black unless black has more stones.

        Raises:
            NotationError: the drawing does not say and the stones do not tell.
        """
        if self.to_move is not None:
            return self.to_move
        surplus = len(self.cells(Side.BLACK)) - len(self.cells(Side.WHITE))
        if surplus not in (0, 1):
            raise NotationError("say who moves: add a line 'black to move' or 'white to move'")
        return Side.WHITE if surplus else Side.BLACK


def star_points(width: int, height: int) -> set[Coordinates]:
    """Return the cells by which people find their way on a board: near the corners, the centre."""

    def lines(length: int) -> list[int]:
        if length < STARS_FROM:
            return []
        inset = 3 if length >= WIDE_FROM else 2
        return [inset, length - 1 - inset]

    stars = {(x, y) for x in lines(width) for y in lines(height)}
    if width % 2 and height % 2:
        stars.add((width // 2, height // 2))
    return stars


def format_diagram(diagram: Diagram, stars: bool = False) -> str:
    """Return the drawing, with letters and numbers around it, star points if they are wanted."""
    marked = star_points(diagram.width, diagram.height) if stars else set()
    lines = ["   " + " ".join(column_letter(x) for x in range(diagram.width))]
    for y, row in enumerate(diagram.rows):
        signs = (
            STAR if side is Side.EMPTY and (x, y) in marked else SYMBOLS[side]
            for x, side in enumerate(row)
        )
        drawn = " " + " ".join(signs) + " "
        if diagram.last is not None and diagram.last[1] == y:
            at = 2 * diagram.last[0]
            drawn = f"{drawn[:at]}({drawn[at + 1]}){drawn[at + 3 :]}"
        lines.append(f"{y + 1:2}{drawn.rstrip()}")
    if diagram.to_move is not None:
        lines.append(f"{diagram.to_move.name.lower()} to move")
    return "\n".join(lines)


def parse_diagram(text: str) -> Diagram:
    """Return the position that is drawn.

    Raises:
        NotationError: a sign is unknown, rows differ in length, or the size is no board's.
    """
    rows: list[tuple[Side, ...]] = []
    last: Coordinates | None = None
    to_move: Side | None = None
    for line in text.splitlines():
        words = " ".join(line.lower().split())
        if words in _TURNS:
            to_move = _TURNS[words]
        elif words and not _LETTERS.startswith(words.replace(" ", "")):
            row, marked = _parse_row(words, len(rows) + 1)
            if marked is not None:
                if last is not None:
                    raise NotationError("two stones are marked as the last")
                last = marked, len(rows)
            rows.append(row)
    if not rows:
        raise NotationError("the drawing has no rows")
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise NotationError(f"the rows have different lengths: {sorted(lengths)}")
    check_size("the drawing", len(rows[0]), len(rows))
    return Diagram(tuple(rows), last, to_move)


def _parse_row(words: str, number: int) -> tuple[tuple[Side, ...], int | None]:
    """Return a row's cells and the column of its stone in brackets."""
    text = words.replace(" ", "")
    cells = text.strip("0123456789")
    if not cells:
        raise NotationError(f"row {number} has no cells")
    before, _, after = text.partition(cells)
    for label in (before, after):
        if label and label != str(number):
            raise NotationError(f"the row numbered {label} is row {number} of the drawing")
    row: list[Side] = []
    marked: int | None = None
    for sign in cells.upper():
        if sign == "(":
            if marked is not None:
                raise NotationError("two stones are marked as the last")
            marked = len(row)
        elif sign == ")":
            if marked != len(row) - 1 or row[marked] not in (Side.BLACK, Side.WHITE):
                raise NotationError(f"row {number}: brackets go around one stone, as in (X)")
        elif sign in _SIDES:
            row.append(_SIDES[sign])
        else:
            raise NotationError(f"row {number}: {sign!r} is none of . X O #")
    if "(" in text and ")" not in text:
        raise NotationError(f"row {number}: a bracket is not closed")
    return tuple(row), marked
