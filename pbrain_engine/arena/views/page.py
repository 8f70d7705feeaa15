"""A match as one HTML file that needs nothing else: tables, charts, and the games on a board."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from ...engine.engine import DEFAULT_WEIGHTS
from ...eval.weights import load_weights
from ...pages.html import html_document, html_figures, html_script, html_table
from ..game.played import Played
from ..settings import MatchSettings
from ..statistics.standings import Standings
from .figures import figures
from .text import conditions, fault_lines, labels, ladder_rows, pair_rows, test_lines, time_rows

SCRIPTS = ("draw.js", "page.js")
BOARD_ADDRESS = "http://127.0.0.1:8421/"  # where `numoku board` serves, unless told otherwise
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
  <svg id="board" class="board" role="img" aria-label="board"></svg>
  <div class="controls">
   <button id="first" aria-label="to the start">|◀</button>
   <button id="back" aria-label="one move back">◀</button>
   <input id="step" type="range" min="0" value="0" aria-label="move">
   <button id="next" aria-label="one move on">▶</button>
   <button id="last" aria-label="to the end">▶|</button>
  </div>
  <div id="move"></div>
  <a id="analyse" target="_blank" rel="noopener" title="`numoku board` has to run">analyse this</a>
  <label id="board-place">on the board at <input id="board-address" type="text" size="34"
   title="the line that `numoku board` has printed"></label>
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
    parts += [f'<p class="about">{escape(line)}</p>' for line in test_lines(standings)]
    parts.append(_faults(standings))
    parts.append("<h2>Charts</h2>")
    parts.append(html_figures(figures(standings, games)))
    parts.append("<h2>Time and memory</h2>")
    parts.append(html_table(time_rows(settings, games)))
    parts.append(VIEWER)
    script = _script(game_data(settings, games, shown))
    return html_document(head, "\n".join(filter(None, parts)), script)


def _faults(standings: Standings) -> str:
    lines = fault_lines(standings)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h2>Games lost by a fault</h2><ul>{items}</ul>"


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
    return {
        "width": settings.width,
        "height": settings.height,
        "rule": settings.rule.name.lower(),
        "unit": load_weights(DEFAULT_WEIGHTS).scale(settings.rule),
        "board": BOARD_ADDRESS,
        "games": entries,
    }


def _script(data: dict[str, Any]) -> str:
    """Return the elements that let the page show games; data must not end its own element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="match">{text}</script>\n' + html_script(*SCRIPTS)
