"""A match as one HTML file that needs nothing else: tables, charts, and the games on a board."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from html import escape
from itertools import cycle
from statistics import fmean
from typing import Any

from ..engine.engine import DEFAULT_WEIGHTS
from ..eval.weights import load_weights
from ..pages.html import (
    Curve,
    Point,
    html_document,
    html_figures,
    html_script,
    html_table,
    intervals,
    line_chart,
    stacked_bars,
)
from .journal import BLACK, DRAW, WHITE, Played
from .settings import MatchSettings
from .standings import PairScore, Standings
from .views import conditions, fault_lines, labels, ladder_rows, pair_rows, test_lines, time_rows

Figure = tuple[str, str]  # caption and SVG
PATH_POINTS = 300  # at which the statistics of a long match are worked out
ELO_VIEW = 800.0  # early intervals are far wider than this; they are cut
STYLES = "abcd"


def figures(standings: Standings, games: Sequence[Played]) -> list[Figure]:
    """Return the charts that these games can fill, in the order of the page."""
    short = labels(standings.settings)
    if len(standings.pairs) == 1:
        found = _paths(standings.pairs[0], games, standings.settings)
    else:
        rows = [
            (short[r.name], r.elo, r.elo - r.error, r.elo + r.error) for r in standings.ladder()
        ]
        found = [("Ratings with 95 % intervals", intervals("Ratings", "Elo", rows))]
    found.append(("Length of the games", _lengths(games)))
    for title, caption, unit, column, scale in (
        ("Time used", "Time used, by move", "seconds", "ms", 0.001),
        ("Depth", "Depth reported, by move", "depth", "depth", 1.0),
    ):
        lines = _mean_by_move(games, short, column, scale)
        top = max((y for line in lines for _, y in line.points), default=1.0) * 1.15 or 1.0
        named = (title, "own move", f"{unit}, mean")
        found.append((caption, line_chart(*named, lines, y_range=(0.0, top))))
    return [(caption, svg) for caption, svg in found if svg]


def _paths(pair: PairScore, games: Sequence[Played], settings: MatchSettings) -> list[Figure]:
    """Return how Elo, and the sequential test if there is one, went on."""
    score, test = PairScore(pair.a, pair.b), settings.sprt
    every = max(1, len(games) // PATH_POINTS)
    path: list[tuple[Point, Point, Point]] = []
    ratio: list[Point] = [(0.0, 0.0)]
    for number, played in enumerate(games, 1):
        score.add(played)
        if number % every == 0 or number == len(games):
            value, low, high = (max(-ELO_VIEW, min(ELO_VIEW, bound)) for bound in score.elo)
            path.append(((number, value), (number, low), (number, high)))
            if test:
                ratio.append((number, score.verdict(test).llr))
    middle, low_path, high_path = zip(*path, strict=True) if path else ((), (), ())
    short = labels(settings)
    caption = f"Elo of {short[pair.a]} against {short[pair.b]}, with its 95 % interval"
    settled = len(path) // 8  # the later part of the interval fills the picture
    top = max((y for _, y in high_path[settled:]), default=100.0)
    bottom = min((y for _, y in low_path[settled:]), default=-100.0)
    air = (top - bottom) * 0.08 or 10.0
    view = min(bottom - air, -air), max(top + air, air)
    lines, band = [Curve("", middle, "a")], (high_path, low_path)
    found = [(caption, line_chart("Elo", "games", "Elo", lines, band, [0.0], view))]
    if test:
        verdict, lines = score.verdict(test), [Curve("", ratio, "b")]
        bounds = [verdict.lower, 0.0, verdict.upper]
        caption = f"SPRT [{test.elo0:g}, {test.elo1:g}]: log-likelihood ratio"
        found.append((caption, line_chart("SPRT", "games", "LLR", lines, marks=bounds)))
    return found


def _lengths(games: Sequence[Played]) -> str:
    lengths = [len(played.all_moves) for played in games]
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
    return stacked_bars("Length of the games", "stones", "games", starts, step, layers)


def _mean_by_move(
    games: Sequence[Played], short: Mapping[str, str], column: str, scale: float
) -> list[Curve]:
    """Return for each engine the mean of a column over its first, second, ... own move."""
    values: dict[str, dict[int, list[float]]] = {name: defaultdict(list) for name in short}
    for played in games:
        entries = zip(played.movers, getattr(played, column), strict=True)
        for number, (mover, value) in enumerate(entries):
            if value is not None:
                values[mover][number // 2 + 1].append(value * scale)
    return [
        Curve(short[name], [(move, fmean(found)) for move, found in sorted(means.items())], style)
        for (name, means), style in zip(values.items(), cycle(STYLES), strict=False)
        if means
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
    if lines := fault_lines(standings):
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        parts.append(f"<h2>Games lost by a fault</h2><ul>{items}</ul>")
    parts += [
        "<h2>Charts</h2>",
        html_figures(figures(standings, games)),
        "<h2>Time and memory</h2>",
        html_table(time_rows(settings, games)),
        VIEWER,
    ]
    data = json.dumps(game_data(settings, games, shown), separators=(",", ":"), ensure_ascii=False)
    data = data.replace("<", "\\u003c")  # it must not end its own element
    script = f'<script type="application/json" id="match">{data}</script>\n'
    return html_document(head, "\n".join(parts), script + html_script(*SCRIPTS))


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
