"""What every page consists of: the document with its style, tables, and charts in a grid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
