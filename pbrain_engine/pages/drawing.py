"""A board as a picture (SVG): wood, lines, star points, stones with their numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from ..notation.cells import column_letter
from ..notation.diagram import star_points
from ..position.geometry import Coordinates

CELL, EDGE = 30, 30  # pixels between two lines, and from the border to the first
STONE = 13.2  # radius
WOOD, LINE, MARK = "#e9c88d", "#8a6a35", "#d23b2f"
STONES = (("#16181b", "#16181b", "#f2f0ea"), ("#fdfdfb", "#6d6a62", "#24262a"))  # with its number


def board_svg(
    width: int,
    height: int,
    moves: Sequence[Coordinates],
    row: Collection[Coordinates] = (),
    title: str = "",
) -> str:
    """Return a picture of a game, black first; the stones of ``row`` are ringed."""
    wide, tall = 2 * EDGE + (width - 1) * CELL, 2 * EDGE + (height - 1) * CELL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" '
        f'width="{wide}" height="{tall}" font-family="sans-serif" text-anchor="middle">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{wide}" height="{tall}" rx="8" fill="{WOOD}"/>',
        *_lines(width, height),
    ]
    for number, (x, y) in enumerate(moves, 1):
        fill, edge, ink = STONES[(number - 1) % 2]
        ringed = (x, y) in row
        stroke = f'stroke="{MARK if ringed else edge}" stroke-width="{3 if ringed else 1}"'
        parts.append(f'<circle cx="{_at(x)}" cy="{_at(y)}" r="{STONE}" fill="{fill}" {stroke}/>')
        parts.append(_text(_at(x), _at(y) + 4, str(number), 11, ink))
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
