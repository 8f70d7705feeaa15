"""A match as one HTML file that needs nothing else: tables, charts, and the games on a board."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from pbrain_engine.arena.figures import figures
from pbrain_engine.arena.played import Played
from pbrain_engine.arena.settings import MatchSettings
from pbrain_engine.arena.standings import Standings
from pbrain_engine.arena.text import fault_lines, labels, ladder_rows, pair_rows, time_rows

FOLDER = Path(__file__).parent
DEFAULT_GAMES = 1000  # that can be stepped through; the charts show all

VIEWER = """\
<h2>Games</h2>
<div id="viewer">
 <div>
  <input id="filter" type="search" placeholder="engine, result or ending" aria-label="filter">
  <ul id="games" role="listbox" aria-label="games"></ul>
 </div>
 <div>
  <div id="players"></div><div id="ending"></div>
  <svg id="board" role="img" aria-label="board"></svg>
  <div class="controls">
   <button id="first" aria-label="to the start">|◀</button>
   <button id="back" aria-label="one move back">◀</button>
   <input id="step" type="range" min="0" value="0" aria-label="move">
   <button id="next" aria-label="one move on">▶</button>
   <button id="last" aria-label="to the end">▶|</button>
  </div>
  <div id="move"></div>
  <figure class="panel"><figcaption>Black's chance to win, as each side saw it</figcaption>
   <svg id="value" class="chart" role="img" aria-label="values over the game"></svg></figure>
 </div>
</div>
"""


def html_page(
    settings: MatchSettings,
    games: Sequence[Played],
    shown: int = DEFAULT_GAMES,
    title: str = "",
    anchors: dict[str, float] | None = None,
) -> str:
    """Return the whole page; the last ``shown`` games can be stepped through."""
    standings = Standings(settings, games)
    names = " – ".join(labels(settings).values())
    head = title or f"Numoku match: {names}"
    parts = [
        f"<h1>{escape(head)}</h1>",
        f'<p class="about">{escape(conditions(settings))}; {len(games)} games</p>',
        "<h2>Results</h2>",
        html_table(pair_rows(standings)),
    ]
    if len(settings.engines) > 2:
        parts.append(html_table(ladder_rows(standings, anchors)))
    parts.append(_verdict(standings))
    parts.append(_faults(standings))
    parts.append("<h2>Charts</h2>")
    parts.append(_figures(standings, games))
    parts.append("<h2>Time and memory</h2>")
    parts.append(html_table(time_rows(settings, games)))
    parts.append(VIEWER)
    return _document(head, "\n".join(filter(None, parts)), game_data(settings, games, shown))


def conditions(settings: MatchSettings) -> str:
    """Return the conditions of a match in a line."""
    rule = settings.rule.name.lower().replace("_", "-")
    words = [f"{rule} on {settings.width}x{settings.height}"]
    for value, text in (
        (settings.turn, "{:g} s a move"),
        (settings.match, "{:g} s a game"),
        (settings.increment, "{:g} s increment"),
        (settings.nodes, "{} nodes a move"),
        (settings.depth, "depth {}"),
    ):
        if value:
            words.append(text.format(value))
    words.append(f"openings: {Path(settings.openings).name}")
    if settings.judge:
        words.append("judged as in tournaments")
    return ", ".join(words)


def html_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose first row is its head."""
    head, *body = rows
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    inside = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="panel scroll"><table>{inside}</table></div>'


def _verdict(standings: Standings) -> str:
    verdict, test = standings.verdict, standings.settings.sprt
    if not verdict or not test:
        return ""
    return (
        f'<p class="about">SPRT {test.model} [{test.elo0:g}, {test.elo1:g}]: '
        f"LLR {verdict.llr:.2f} ({verdict.lower:.2f} to {verdict.upper:.2f}), "
        f"{verdict.decision or 'undecided'}</p>"
    )


def _faults(standings: Standings) -> str:
    lines = fault_lines(standings)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>Games lost by a fault</h2><ul>{items}</ul>"


def _figures(standings: Standings, games: Sequence[Played]) -> str:
    parts = [
        f'<figure class="panel"><figcaption>{escape(caption)}</figcaption>{svg}</figure>'
        for caption, svg in figures(standings, games)
    ]
    return f'<div class="charts">{"".join(parts)}</div>'


def game_data(settings: MatchSettings, games: Sequence[Played], shown: int) -> dict[str, Any]:
    """Return what the page's script needs to know."""
    short = labels(settings)
    entries = []
    for played in sorted(games, key=lambda played: played.game)[-shown:] if shown else []:
        entry = played.to_json()
        for key in ("memory", "seconds", "round", "winner"):
            entry.pop(key)
        entry.update(
            black=short[played.black],
            white=short[played.white],
            result=played.result,
            fault=bool(played.fault),
        )
        entries.append(entry)
    return {"width": settings.width, "height": settings.height, "games": entries}


def _document(title: str, body: str, data: dict[str, Any]) -> str:
    """Put the page together; data must not end its own script element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    style = (FOLDER / "page.css").read_text(encoding="utf-8")
    script = (FOLDER / "page.js").read_text(encoding="utf-8")
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
<script type="application/json" id="match">{text}</script>
<script>
{script}</script>
</body>
</html>
"""
