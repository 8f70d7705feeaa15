"""Building blocks of HTML pages: the document with its styles, tables and charts.

Charts are SVG text, coloured by the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
STYLES = ("page.css", "report.css")  # the board uses the first, too


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is the header."""
    head, *body = rows
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    inside = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="panel scroll"><table>{inside}</table></div>'


def html_document(title: str, body: str, script: str = "") -> str:
    """Return a page that needs no other file."""
    style = "".join((FOLDER / name).read_text(encoding="utf-8") for name in STYLES)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
{script}</body>
</html>
"""


Point = tuple[float, float]
WIDTH, HEIGHT = 640, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 34
TICKS = 5


class Curve(NamedTuple):
    """A polyline and its name in the legend."""

    name: str
    points: Sequence[Point]
    style: str  # class of the style sheet


def ticks(low: float, high: float, count: int, least: float = 0.0) -> list[float]:
    """Return about ``count`` round numbers between two bounds, at least ``least`` apart."""
    span = high - low
    if span <= 0:
        return [low]
    raw = max(span / count, least)
    power = 10.0 ** math.floor(math.log10(raw))
    steps = (power * m for m in (1, 2, 2.5, 5, 10) if not least or (power * m).is_integer())
    step = next(step for step in steps if step >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _text(x: float, y: float, text: str, style: str = "tick", anchor: str = "start") -> str:
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def line_chart(
    caption: str,
    x_name: str,
    y_name: str,
    lines: Sequence[Curve],
    band: tuple[Sequence[Point], Sequence[Point]] | None = None,
    marks: Sequence[float] = (),
    y_range: tuple[float, float] | None = None,
) -> str:
    """Return a line chart, with a shaded band and horizontal marks if given; "" without points."""
    every = [point for line in lines for point in line.points]
    if not every:
        return ""
    places, values = [x for x, _ in every], [*(y for _, y in every), *marks]
    left, right, low, high = min(places), max(places), min(values), max(values)
    air = (high - low) * 0.06 or 1.0
    low, high = y_range or (low - air, high + air)

    def x(value: float) -> float:
        return LEFT + (value - left) / (right - left or 1.0) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        inside = min(max((value - low) / (high - low or 1.0), 0.0), 1.0)
        return HEIGHT - BOTTOM - inside * (HEIGHT - TOP - BOTTOM)

    def path(points: Iterable[Point]) -> str:
        return " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)

    def across(at: float, style: str) -> str:
        return f'<line class="{style}" x1="{LEFT:.1f}" y1="{at:.1f}" x2="{end:.1f}" y2="{at:.1f}"/>'

    base, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for value in ticks(low, high, TICKS):
        parts.append(across(y(value), "grid"))
        parts.append(_text(LEFT - 6, y(value) + 4, f"{value:g}", anchor="end"))
    for value in ticks(left, right, 8, 1.0):
        parts.append(_text(x(value), base + 16, f"{value:g}", anchor="middle"))
    parts.append(across(base, "axis"))
    parts.append(_text(end, HEIGHT - 4, x_name, "name", "end"))
    turned = f"translate(11 {base}) rotate(-90)"
    parts.append(f'<g transform="{turned}">{_text(0, 0, y_name, "name")}</g>')
    if band:
        parts.append(f'<polygon class="band" points="{path([*band[0], *band[1][::-1]])}"/>')
    parts += [across(y(level), "mark") for level in marks]
    parts += [f'<polyline class="{line.style}" points="{path(line.points)}"/>' for line in lines]
    place = float(LEFT + 8)  # of the next legend entry
    for line in filter(lambda line: line.name, lines):
        box = f'x="{place:.0f}" y="{TOP}" width="12" height="12" fill="none" stroke-width="2"'
        parts.append(f'<rect class="{line.style}" {box}/>')
        parts.append(_text(place + 17, TOP + 10, line.name))
        place += 36 + 7 * len(line.name)
    return (
        f'<figure class="panel"><figcaption>{escape(caption)}</figcaption>'
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(caption)}">{"".join(parts)}</svg></figure>'
    )
