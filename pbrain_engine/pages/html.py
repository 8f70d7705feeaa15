"""What every page for a browser consists of: the document with its style, tables, and charts.

Charts are SVG text, drawn from numbers alone and coloured by the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is its head."""
    head, *body = rows
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    inside = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="panel scroll"><table>{inside}</table></div>'


def html_figures(charts: Iterable[tuple[str, str]]) -> str:
    """Return captions and charts as a grid; a chart without anything to show is left out."""
    figures = "".join(
        f'<figure class="panel"><figcaption>{escape(caption)}</figcaption>{chart}</figure>'
        for caption, chart in charts
        if chart
    )
    return f'<div class="charts">{figures}</div>'


def html_script(*names: str) -> str:
    """Return scripts of the folder as one that needs no other file.

    Those that are modules elsewhere come first; what they export is in reach of the last.
    """
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in names]
    script = "".join(texts).replace("\nexport ", "\n")
    return f'<script>\n"use strict";\n{script}</script>\n'


def html_document(title: str, body: str, script: str = "") -> str:
    """Return a page that needs no other file."""
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
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
MAX_POINTS = 800  # of one line; more would not be seen


@dataclass(frozen=True, slots=True)
class Curve:
    """A polyline with the name that stands in its legend."""

    name: str
    points: Sequence[Point]
    style: str  # class of the style sheet


@dataclass(frozen=True, slots=True)
class Frame:
    """The ranges of a chart and how they lie on the paper."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: float) -> float:
        """Return the place of a value along the x axis."""
        span = (self.x_high - self.x_low) or 1.0
        return LEFT + (value - self.x_low) / span * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        """Return the place of a value along the y axis."""
        span = (self.y_high - self.y_low) or 1.0
        inside = min(max((value - self.y_low) / span, 0.0), 1.0)
        return HEIGHT - BOTTOM - inside * (HEIGHT - TOP - BOTTOM)


def ticks(low: float, high: float, count: int = TICKS, least: float = 0.0) -> list[float]:
    """Return round numbers between two bounds, about as many as asked for, ``least`` apart."""
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


def _thin(points: Sequence[Point]) -> list[Point]:
    """Return at most MAX_POINTS of the points, the last among them."""
    step = max(1, math.ceil(len(points) / MAX_POINTS))
    kept = list(points[::step])
    if points and kept[-1] != points[-1]:
        kept.append(points[-1])
    return kept


def _text(x: float, y: float, text: str, style: str = "tick", anchor: str = "start") -> str:
    return (
        f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(text)}</text>"
    )


def _stroke(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _axes(frame: Frame, x_name: str, y_name: str, least: float = 0.0) -> list[str]:
    """Return axes with numbers; those of x are counts, those of y ``least`` apart."""
    parts = []
    base, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for value in ticks(frame.y_low, frame.y_high, least=least):
        y = frame.y(value)
        parts.append(_stroke(LEFT, y, right, y, "grid"))
        parts.append(_text(LEFT - 6, y + 4, f"{value:g}", anchor="end"))
    for value in ticks(frame.x_low, frame.x_high, 8, 1.0):
        parts.append(_text(frame.x(value), base + 16, f"{value:g}", anchor="middle"))
    parts.append(_stroke(LEFT, base, right, base, "axis"))
    parts.append(_text(right, HEIGHT - 4, x_name, "name", "end"))
    turned = f'<g transform="translate(11 {base}) rotate(-90)">{_text(0, 0, y_name, "name")}</g>'
    return [*parts, turned]


def _svg(parts: Sequence[str], title: str, height: int = HEIGHT) -> str:
    body = "".join(parts)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{body}</svg>'
    )


def _legend(entries: Iterable[tuple[str, str]]) -> list[str]:
    """Return names with a sample of their styles, filled or, of lines, an outline."""
    parts, x = [], float(LEFT + 8)
    for name, style in entries:
        box = f'x="{x:.0f}" y="{TOP}" width="12" height="12" fill="none" stroke-width="2"'
        parts.append(f'<rect class="{style}" {box}/>')
        parts.append(_text(x + 17, TOP + 10, name))
        x += 36 + 7 * len(name)
    return parts


def line_chart(
    title: str,
    x_name: str,
    y_name: str,
    lines: Sequence[Curve],
    band: tuple[Sequence[Point], Sequence[Point]] | None = None,
    marks: Sequence[float] = (),
    y_range: tuple[float, float] | None = None,
) -> str:
    """Return lines over a common axis, with a shaded band and level marks if given."""
    lines = [Curve(line.name, _thin(line.points), line.style) for line in lines]
    every = [point for line in lines for point in line.points]
    if not every:
        return ""
    xs = [x for x, _ in every]
    low, high = y_range or _range([y for _, y in every] + list(marks))
    frame = Frame(min(xs), max(xs), low, high)
    parts = _axes(frame, x_name, y_name)
    if band:
        upper, lower = _thin(band[0]), _thin(band[1])
        outline = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in [*upper, *lower[::-1]])
        parts.append(f'<polygon class="band" points="{outline}"/>')
    for level in marks:
        parts.append(_stroke(LEFT, frame.y(level), WIDTH - RIGHT, frame.y(level), "mark"))
    for line in lines:
        path = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in line.points)
        parts.append(f'<polyline class="{line.style}" points="{path}"/>')
    return _svg([*parts, *_legend((line.name, line.style) for line in lines if line.name)], title)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the bounds of values with a little air."""
    low, high = min(values), max(values)
    air = (high - low) * 0.06 or 1.0
    return low - air, high + air


def stacked_bars(
    title: str,
    x_name: str,
    y_name: str,
    starts: Sequence[float],
    step: float,
    layers: Sequence[tuple[str, str, Sequence[int]]],
) -> str:
    """Return bars of width ``step``; a layer is its name, its style and its heights."""
    if not starts:
        return ""
    tops = [sum(layer[2][i] for layer in layers) for i in range(len(starts))]
    frame = Frame(starts[0], starts[-1] + step, 0, max([*tops, 1]) * 1.15)
    parts = _axes(frame, x_name, y_name, 1.0)
    below = [0.0] * len(starts)
    for name, style, heights in layers:
        for i, height in enumerate(heights):
            if not height:
                continue
            x, y = frame.x(starts[i]), frame.y(below[i] + height)
            wide = frame.x(starts[i] + step) - x - 1
            tall = frame.y(below[i]) - y
            parts.append(
                f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" '
                f'height="{tall:.1f}"><title>{starts[i]:g} to {starts[i] + step - 1:g}: '
                f"{height} {escape(name)}</title></rect>"
            )
            below[i] += height
    return _svg([*parts, *_legend((name, style) for name, style, _ in layers)], title)


def intervals(title: str, x_name: str, rows: Sequence[tuple[str, float, float, float]]) -> str:
    """Return one dot with its error bar a row: name, value, low, high."""
    if not rows:
        return ""
    step, left = 26, 180
    height = TOP + step * len(rows) + BOTTOM
    low, high = _range([bound for row in rows for bound in row[2:]])

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (WIDTH - left - RIGHT)

    base = height - BOTTOM
    parts = []
    for value in ticks(low, high, 7):
        parts.append(_stroke(x(value), TOP, x(value), base, "grid"))
        parts.append(_text(x(value), base + 16, f"{value:g}", anchor="middle"))
    for i, (name, value, bottom, top) in enumerate(rows):
        y = TOP + step * (i + 0.5)
        parts.append(_text(left - 10, y + 4, name, "row", "end"))
        parts.append(_stroke(x(bottom), y, x(top), y, "bar"))
        parts.append(
            f'<circle class="dot" cx="{x(value):.1f}" cy="{y:.1f}" r="5"><title>'
            f"{escape(name)}: {value:+.1f} [{bottom:+.1f}, {top:+.1f}]</title></circle>"
        )
    parts.append(_text(WIDTH - RIGHT, height - 4, x_name, "name", "end"))
    return _svg(parts, title, height)
