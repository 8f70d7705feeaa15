"""A board as a terminal shows it: everywhere the same, in colours where there are any.

Colours bring a wooden ground of their own, so that black stones are dark and white ones light
whatever the colours of the terminal are. Without colours it is a drawing of ``X`` and ``O``,
which can be read back (``diagram``); ``+`` are the star points in both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from ..position.geometry import Coordinates
from ..position.rules import Side
from .cells import column_letter
from .diagram import STAR, SYMBOLS, Diagram, format_diagram, star_points

if TYPE_CHECKING:
    from rich.text import Text

WOOD, LAST, ROW = "#d9b06b", "#e07a4f", "#8fbf6a"  # grounds: plain, last stone, winning row
LABEL = "dim"
INKS = {Side.BLACK: "#000000", Side.WHITE: "#ffffff", Side.EMPTY: "#7a5a24", Side.WALL: "#4a3a1c"}
CROSS = "x"
CROSS_INK = "#b00020"
SIGNS = {Side.BLACK: "●", Side.WHITE: "●", Side.EMPTY: "·", Side.WALL: "▒"}
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def diagram_of(
    width: int, height: int, stones: Iterable[tuple[Coordinates, Side]], last: Coordinates | None
) -> Diagram:
    """Return the drawing of a board with these stones (and blocked cells)."""
    rows = [[Side.EMPTY] * width for _ in range(height)]
    for (x, y), side in stones:
        rows[y][x] = side
    return Diagram(tuple(map(tuple, rows)), last)


def plain(board: Diagram) -> str:
    """Return a board in letters, the last stone in brackets."""
    return format_diagram(board, stars=True)


def coloured(
    board: Diagram,
    row: Collection[Coordinates] = (),
    crossed: Collection[Coordinates] = (),
    letters: bool = False,
) -> Text:
    """Return a board in colours: the last stone, a winning row and crossed cells stand out.

    ``letters``: with ``X`` and ``O``, where the terminal has no discs.
    """
    from rich.text import Text

    signs = SYMBOLS if letters else SIGNS
    stars = star_points(board.width, board.height)
    text = Text("   " + " ".join(column_letter(x) for x in range(board.width)), style=LABEL)
    for y, line in enumerate(board.rows):
        text.append(f"\n{y + 1:2} ", style=LABEL)
        for x, side in enumerate(line):
            sign, ink = signs[side], INKS[side]
            if (x, y) in crossed:
                sign, ink = CROSS, CROSS_INK
            elif side is Side.EMPTY and (x, y) in stars:
                sign = STAR
            ground = LAST if (x, y) == board.last else ROW if (x, y) in row else WOOD
            text.append(sign, f"bold {ink} on {ground}")
            text.append(" ", f"on {WOOD}")
    return text


def winning_row(board: Diagram) -> list[Coordinates]:
    """Return the row of five or more that the last stone completed, empty if there is none."""
    if board.last is None:
        return []
    side = board.at(*board.last)
    rows = []
    for dx, dy in DIRECTIONS:
        row = [board.last]
        while board.at(row[-1][0] + dx, row[-1][1] + dy) is side:
            row.append((row[-1][0] + dx, row[-1][1] + dy))
        while board.at(row[0][0] - dx, row[0][1] - dy) is side:
            row.insert(0, (row[0][0] - dx, row[0][1] - dy))
        if len(row) >= 5:
            rows.append(row)
    return min(rows, key=len, default=[])  # where only five counts, a six beside it does not
