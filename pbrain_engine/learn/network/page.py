"""A page of the losses of a training, as they fell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ...files import write_whole
from ...pages import charts
from ...pages.charts import Curve
from ...pages.html import html_document, html_figures, html_table
from .training import Score

TITLES = {
    "target": "Loss of the value",
    "result": "Loss of the value, on results alone",
    "entropy": "Cross-entropy of the move",
    "first": "First move right",
}


def write_page(path: Path, title: str, history: Sequence[Mapping[str, Any]], start: Score) -> None:
    """Write the page of one run; ``start`` are the losses of the linear evaluation."""
    figures = []
    for place, (name, caption) in enumerate(TITLES.items()):
        lines = []
        for part, words, style in (("learned", "learned from", "a"), ("held", "held out", "b")):
            points = [(float(each["step"]), float(each[part][place])) for each in history]
            points = [point for point in points if not math.isnan(point[1])]
            if points:
                lines.append(Curve(words, points, style))
        if lines:
            ends = [point[0] for line in lines for point in line.points]
            level = float(getattr(start, name))
            lines.append(Curve("linear", [(min(ends), level), (max(ends), level)], "c"))
            figures.append((caption, charts.line_chart(caption, "steps", caption, lines)))
    rows = [["", *TITLES.values()], ["linear, held out", *map(_number, start)]]
    if history:
        rows.append(["network, held out", *map(_number, history[-1]["held"])])
    body = f"<h1>{escape(title)}</h1>\n{html_figures(figures)}\n{html_table(rows)}"
    write_whole(path, html_document(title, body))


def _number(value: float) -> str:
    return f"{value:.4f}"
