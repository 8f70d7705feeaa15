"""A page of charts about weights: how the losses fell, and what the numbers say by pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from ..eval.weights import FAMILIES, Weights
from ..pages import charts
from ..pages.charts import Curve
from ..pages.html import html_document, html_figures

STYLES = "abcd"

Reader = Callable[[Weights, str], Mapping[str, int]]


def html_page(weights: Weights, start: Weights, readers: Mapping[str, Reader]) -> str:
    """Return a page about weights beside those they started from."""
    about = "".join(
        f"<tr><td>{escape(key)}</td><td style='text-align:left;white-space:normal'>"
        f"{escape(text)}</td></tr>"
        for key, text in weights.about.items()
        if not key.startswith("curve ")
    )
    title = f"Weights {weights.id}"
    charts_of_all = [*_curves(weights), *_numbers(weights, start, readers)]
    body = f"""<h1>{escape(title)}</h1>
<p class="about">A dot is the number of {escape(weights.id)}, the other end of its bar that of
{escape(start.id)}.</p>
{html_figures(charts_of_all)}
<table>{about}</table>"""
    return html_document(title, body)


def _curves(weights: Weights) -> list[tuple[str, str]]:
    """Return the charts of the losses while the weights were learned."""
    found = []
    for what, name in (("value", "Loss of the value"), ("score", "Cross-entropy of the move")):
        lines = []
        for family, style in zip(FAMILIES, STYLES, strict=True):
            told = weights.about.get(f"curve {family} {what}", "").split()
            pairs = (word.split(":") for word in told)
            points = [(float(step), float(loss)) for step, loss in pairs]
            if points:
                lines.append(Curve(family, points, style))
        found.append((name, charts.line_chart(name, "steps", "loss", lines) if lines else ""))
    return found


def _numbers(
    weights: Weights, start: Weights, readers: Mapping[str, Reader]
) -> list[tuple[str, str]]:
    """Return charts of the numbers by pattern, a family and a kind of number each."""
    found = []
    for family in FAMILIES:
        for title, reader in readers.items():
            before = reader(start, family)
            rows = [
                (name, float(now), float(min(now, before[name])), float(max(now, before[name])))
                for name, now in reader(weights, family).items()
            ]
            caption = f"{family}: {title}"
            found.append((caption, charts.intervals(caption, "points", rows)))
    return found
