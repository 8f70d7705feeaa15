"""A board as a terminal shows it: everywhere the same, in colours where there are any.

Colours bring a wooden ground of their own, so that black stones are dark and white ones light
whatever the colours of the terminal are. Without colours it is a drawing of ``X`` and ``O``,
which can be read back (``diagram``); ``+`` are the star points in both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from ..position.geometry import Coordinates
from ..position.rules import Side
from .cells import column_letter
from .diagram import STAR, SYMBOLS, Diagram, format_diagram, star_points

if TYPE_CHECKING:
    from rich.text import Text

GROUND, LAST, ROW = "#d9b06b", "#e07a4f", "#8fbf6a"  # grounds: plain, last stone, winning row
LABEL = "dim"
INKS = {Side.BLACK: "#000000", Side.WHITE: "#ffffff", Side.EMPTY: "#7a5a24", Side.WALL: "#4a3a1c"}
CROSS = "x"
CROSS_INK = "#b00020"
SIGNS = {Side.BLACK: "●", Side.WHITE: "●", Side.EMPTY: "·", Side.WALL: "▒"}
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def diagram_of(
    width: int,
    height: int,
    stones: Iterable[tuple[Coordinates, Side]],
    last: Coordinates | None,
    to_move: Side | None = None,
) -> Diagram:
    """Return the drawing of a board with these stones (and blocked cells)."""
    rows = [[Side.EMPTY] * width for _ in range(height)]
    for (x, y), side in stones:
        rows[y][x] = side
    return Diagram(tuple(map(tuple, rows)), last, to_move)


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
            ground = LAST if (x, y) == board.last else ROW if (x, y) in row else GROUND
            text.append(sign, f"bold {ink} on {ground}")
            text.append(" ", f"on {GROUND}")
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


CELL, EDGE = 30, 30  # pixels between two lines, and from the border to the first
STONE = 13.2  # radius
WOOD, LINE, MARK = "#e9c88d", "#8a6a35", "#d23b2f"
STONES = (("#16181b", "#16181b", "#f2f0ea"), ("#fdfdfb", "#6d6a62", "#24262a"))  # with its number


EXPECTED = 0.7  # opacity of stones that are not there yet


class Drawn(NamedTuple):
    """A stone or blocked cell of a picture, with what is written on it."""

    cell: Coordinates
    side: Side
    text: str = ""
    is_there: bool = True  # else it is a move of an expected line


def board_svg(
    width: int,
    height: int,
    stones: Iterable[Drawn],
    row: Collection[Coordinates] = (),
    title: str = "",
) -> str:
    """Return a picture of a board; the stones of ``row`` are ringed."""
    from html import escape  # which the Python of a browser does not have

    wide, tall = 2 * EDGE + (width - 1) * CELL, 2 * EDGE + (height - 1) * CELL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" '
        f'width="{wide}" height="{tall}" font-family="sans-serif" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{wide}" height="{tall}" rx="8" fill="{WOOD}"/>',
        *_lines(width, height),
    ]
    for (x, y), side, text, is_there in stones:
        if side is Side.WALL:
            place = f'x="{_at(x) - STONE}" y="{_at(y) - STONE}"'
            parts.append(f'<rect {place} width="{2 * STONE}" height="{2 * STONE}" fill="{LINE}"/>')
            continue
        fill, edge, ink = STONES[side]
        ringed = (x, y) in row
        if not is_there:
            fill += f'" opacity="{EXPECTED}'
        stroke = f'stroke="{MARK if ringed else edge}" stroke-width="{3 if ringed else 1}"'
        parts.append(f'<circle cx="{_at(x)}" cy="{_at(y)}" r="{STONE}" fill="{fill}" {stroke}/>')
        if text:
            parts.append(_text(_at(x), _at(y) + 4, text, 11, ink))
    return "\n".join([*parts, "</svg>", ""])


def _at(line: int) -> int:
    return EDGE + line * CELL


def _text(x: float, y: float, text: str, points: int, ink: str) -> str:
    return f'<text x="{x}" y="{y}" font-size="{points}" fill="{ink}">{text}</text>'


def _lines(width: int, height: int) -> list[str]:
    """Return the lines with their names, and the star points."""
    right, bottom = _at(width - 1), _at(height - 1)
    drawn = [f"M{_at(x)} {EDGE}V{bottom}" for x in range(width)]
    drawn += [f"M{EDGE} {_at(y)}H{right}" for y in range(height)]
    parts = [f'<path d="{"".join(drawn)}" stroke="{LINE}" fill="none"/>']
    parts += [_text(_at(x), 13, column_letter(x), 11, LINE) for x in range(width)]
    parts += [_text(10, _at(y) + 4, str(y + 1), 11, LINE) for y in range(height)]
    stars = sorted(star_points(width, height))
    parts += [f'<circle cx="{_at(x)}" cy="{_at(y)}" r="3.5" fill="{LINE}"/>' for x, y in stars]
    return parts
