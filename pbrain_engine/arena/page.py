"""A match as one HTML file that needs nothing else: tables, charts, and the games on a board."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from ..engine.engine import DEFAULT_WEIGHTS
from ..eval.weights import load_weights
from ..pages import charts
from ..pages.charts import Curve, Point
from ..pages.html import html_document, html_figures, html_script, html_table
from .elo import judge
from .played import BLACK, DRAW, WHITE, Played
from .settings import MatchSettings
from .standings import PairScore, Standings
from .views import conditions, fault_lines, labels, ladder_rows, pair_rows, test_lines, time_rows

Figure = tuple[str, str]  # caption and SVG
PATH_POINTS = 300  # at which the statistics of a long match are worked out
ELO_VIEW = 800.0  # early intervals are far wider than this; they are cut
STYLES = "abcd"


def figures(standings: Standings, games: Sequence[Played]) -> list[Figure]:
    """Return the charts that these games can fill, in the order of the page."""
    settings = standings.settings
    found: list[Figure] = []
    if len(standings.pairs) == 1:
        found += _paths(standings.pairs[0], games, settings)
    else:
        found.append(("Ratings with 95 % intervals", _ladder(standings)))
    found += [
        ("Length of the games", _lengths(games)),
        ("Time used, by move", _by_move("Time used", "seconds", games, settings, "ms", 0.001)),
        ("Depth reported, by move", _by_move("Depth", "depth", games, settings, "depth", 1.0)),
    ]
    return [(caption, svg) for caption, svg in found if svg]


def _paths(pair: PairScore, games: Sequence[Played], settings: MatchSettings) -> list[Figure]:
    """Return how Elo, and the sequential test if there is one, went on."""
    score = PairScore(pair.a, pair.b)
    every = max(1, len(games) // PATH_POINTS)
    middle: list[Point] = []
    high: list[Point] = []
    low: list[Point] = []
    ratio: list[Point] = [(0.0, 0.0)]
    for number, played in enumerate(games, 1):
        score.add(played)
        if number % every and number != len(games):
            continue
        elo = score.elo
        middle.append((number, _cut(elo.value)))
        high.append((number, _cut(elo.high)))
        low.append((number, _cut(elo.low)))
        if settings.sprt:
            ratio.append((number, judge(settings.sprt, score.openings).llr))
    short = labels(settings)
    caption = f"Elo of {short[pair.a]} against {short[pair.b]}, with its 95 % interval"
    view = _elo_range(high, low)
    path = [Curve("", middle, "a")]
    chart = charts.line_chart("Elo", "games", "Elo", path, (high, low), [0.0], view)
    found = [(caption, chart)]
    if settings.sprt:
        verdict = judge(settings.sprt, score.openings)
        bounds = [verdict.lower, 0.0, verdict.upper]
        caption = f"SPRT [{settings.sprt.elo0:g}, {settings.sprt.elo1:g}]: log-likelihood ratio"
        path = [Curve("", ratio, "b")]
        found.append((caption, charts.line_chart("SPRT", "games", "LLR", path, marks=bounds)))
    return found


def _cut(elo: float) -> float:
    return max(-ELO_VIEW, min(ELO_VIEW, elo))


def _elo_range(high: Sequence[Point], low: Sequence[Point]) -> tuple[float, float]:
    """Return a range in which the later part of the interval fills the picture."""
    settled = len(high) // 8
    top = max((y for _, y in high[settled:]), default=100.0)
    bottom = min((y for _, y in low[settled:]), default=-100.0)
    air = (top - bottom) * 0.08 or 10.0
    return min(bottom - air, -air), max(top + air, air)


def _ladder(standings: Standings) -> str:
    short = labels(standings.settings)
    rows = [(short[r.name], r.elo, r.elo - r.error, r.elo + r.error) for r in standings.ladder()]
    return charts.intervals("Ratings", "Elo", rows)


def _lengths(games: Sequence[Played]) -> str:
    lengths = [len(played.opening) + len(played.moves) for played in games]
    if not lengths:
        return ""
    step = max(1, math.ceil((max(lengths) - min(lengths) + 1) / 30))
    first = min(lengths) // step * step
    count = (max(lengths) - first) // step + 1
    layers = []
    for name, winner in (("black won", BLACK), ("white won", WHITE), ("drawn", DRAW)):
        heights = [0] * count
        for length, played in zip(lengths, games, strict=True):
            if played.winner == winner:
                heights[(length - first) // step] += 1
        layers.append((name, winner, heights))
    starts = [float(first + step * i) for i in range(count)]
    return charts.stacked_bars("Length of the games", "stones", "games", starts, step, layers)


def _by_move(
    title: str,
    what: str,
    games: Sequence[Played],
    settings: MatchSettings,
    column: str,
    unit: float,
) -> str:
    """Return the mean of a column over the moves of each engine, in an axis from 0 on."""
    lines = _mean_by_move(games, settings, column, unit)
    top = max((y for line in lines for _, y in line.points), default=1.0) * 1.15 or 1.0
    return charts.line_chart(title, "own move", f"{what}, mean", lines, y_range=(0.0, top))


def _mean_by_move(
    games: Sequence[Played], settings: MatchSettings, column: str, unit: float
) -> list[Curve]:
    """Return for each engine the mean of a column over its first, second, ... own move."""
    sums: dict[str, list[list[float]]] = {engine.name: [] for engine in settings.engines}
    for played in games:
        first = len(played.opening)
        for number, value in enumerate(getattr(played, column)):
            if value is None:
                continue
            mover = played.white if (first + number) % 2 else played.black
            cells = sums[mover]
            while len(cells) <= number // 2:
                cells.append([0.0, 0.0])
            cells[number // 2][0] += value * unit
            cells[number // 2][1] += 1
    short = labels(settings)
    return [
        Curve(
            short[name],
            [(i + 1.0, total / count) for i, (total, count) in enumerate(cells) if count],
            STYLES[number % len(STYLES)],
        )
        for number, (name, cells) in enumerate(sums.items())
        if cells
    ]


SCRIPTS = ("draw.js", "page.js")
BOARD_ADDRESS = "http://127.0.0.1:8421/"  # where `numoku board` serves by default
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
    data = json.dumps(game_data(settings, games, shown), separators=(",", ":"), ensure_ascii=False)
    data = data.replace("<", "\\u003c")  # it must not end its own element
    script = f'<script type="application/json" id="match">{data}</script>\n'
    return html_document(head, "\n".join(filter(None, parts)), script + html_script(*SCRIPTS))


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
