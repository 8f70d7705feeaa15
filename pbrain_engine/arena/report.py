"""``numoku report``: the games of a journal as a page, as tables, or in other formats.

The page is a single HTML file with tables, charts, and the games on a board. The calibration of
engines compares the winning chances that they reported with their scores: a reported value becomes
a chance at the scale of our own weights; the score is 1, 0.5 or 0 points of that game. Forced wins
and losses are left out, as they are certain.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
import webbrowser
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from html import escape
from itertools import cycle
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from ..engine.engine import DEFAULT_WEIGHTS
from ..errors import FileError, SettingsError, counted
from ..eval.weights import load_weights
from ..files import check_target, user_path, write_whole
from ..game.cells import format_moves
from ..game.documents import played_document
from ..game.record import BLACK, DRAW, STAGE_NAMES, WHITE, GameRecord, stage_of
from ..notation.files import write_game
from ..notation.journal import annotated
from ..options import SHARED, CommandLine, Option, whole
from ..pages import FOLDER, Curve, html_document, html_table, line_chart
from ..values import WIN_BAND
from .elo import Estimate, Figure, average, figures_document, judge
from .match import default_journal, read_journal
from .settings import MatchSettings
from .standings import (
    PairScore,
    Standings,
    conditions,
    fault_lines,
    ladder_rows,
    pair_rows,
    summary,
    table,
    test_lines,
    time_rows,
)

PATH_POINTS = 300  # points in the curves of a long match
ELO_VIEW = 800.0  # early intervals are far wider and are clipped to this
STYLES = "abcd"

SCRIPTS = ("draw.js", "page.js")  # a module of other pages, and its user
DEFAULT_GAMES = 1000  # games in the viewer; the charts use all

VIEWER = """\
<h2>Games</h2>
<div id="viewer">
 <div>
  <input id="filter" type="search" autocomplete="off" placeholder="engine, result or ending"
   aria-label="filter">
  <ul id="games" role="listbox" aria-label="games">{items}</ul>
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
   value="http://127.0.0.1:8421/" title="the line that `numoku board` has printed"></label>
  <figure class="panel"><figcaption>Black's chance to win, as each side saw it</figcaption>
   <svg id="value" class="chart" viewBox="0 0 560 120" role="img" aria-label="values over the game">
    <path class="grid" d="M40 8H550M40 102H550"/><path class="mark" d="M40 55H550"/>
    <g text-anchor="end"><text x="36" y="12">100 %</text><text x="36" y="59">50 %</text>
     <text x="36" y="106">0 %</text></g><g id="lines"></g></svg></figure>
 </div>
</div>
"""


def html_page(
    standings: Standings, games: Sequence[GameRecord], shown: int = DEFAULT_GAMES, title: str = ""
) -> str:
    """Return the page; the viewer has the last ``shown`` games."""
    settings, short = standings.settings, standings.settings.labels
    head = title or f"Numoku match: {' – '.join(short.values())}"
    parts = [
        f"<h1>{escape(head)}</h1>",
        f'<p class="about">{escape(conditions(settings))}; {counted(len(games), "game")}</p>',
        "<h2>Results</h2>",
        html_table(pair_rows(standings)),
    ]
    if len(settings.engines) > 2:
        parts.append(html_table(ladder_rows(standings)))
    parts += [f'<p class="about">{escape(line)}</p>' for line in test_lines(standings)]
    if lines := fault_lines(standings):
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        parts.append(f"<h2>Games lost by a fault</h2><ul>{items}</ul>")
    parts += [
        "<h2>Charts</h2>",
        f'<div class="charts">{"".join(figures(standings, games))}</div>',
        "<h2>Time and memory</h2>",
        html_table(time_rows(settings, games)),
    ]
    scale = load_weights(DEFAULT_WEIGHTS).scale(settings.rule)
    entries, rows = [], []
    for played in sorted(games, key=lambda played: played.number)[max(0, len(games) - shown) :]:
        names = {"black": short[played.black], "white": short[played.white]}
        how = {"result": played.result, "fault": bool(played.fault)}
        chances = [each and round(each, 3) for each in played.chances(scale)]
        entries.append({**played_document(played), **names, **how, "chance": chances})
        line = escape(f"{played.number + 1}: {names['black']} – {names['white']}")
        end = f'<span class="end">{escape(played.reason)}</span>'
        rows.append(
            f'<li role="option"{" class=fault" if played.fault else ""}>{line} '
            f'<span class="result">{played.result}</span> {end}</li>'
        )
    parts.append(VIEWER.replace("{items}", "".join(rows)))
    known = {
        "width": settings.width,
        "height": settings.height,
        "rule": settings.rule.name.lower(),
        "games": entries,
    }
    data = json.dumps(known, separators=(",", ":"), ensure_ascii=False)
    data = data.replace("<", "\\u003c")  # so that no text ends the script element
    code = "".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    code = code.replace("\nexport ", "\n")
    script = f"""<script type="application/json" id="match">{data}</script>
<script>
"use strict";
{code}</script>
"""
    return html_document(head, "\n".join(parts), script)


def figures(standings: Standings, games: Sequence[GameRecord]) -> list[str]:
    """Return the charts that have data, in the order of the page."""
    found = _paths(standings, games) if len(standings.pairs) == 1 else []
    for caption, x_name, y_name, lines in (
        ("Length of the games", "stones", "games", _lengths(games)),
        ("Time used, by move", "own move", "seconds, mean", _by_move(standings, games, "times")),
        ("Depth reported, by move", "own move", "mean", _by_move(standings, games, "depths")),
    ):
        top = max((y for line in lines for _, y in line.points), default=1.0) * 1.15 or 1.0
        found.append(line_chart(caption, x_name, y_name, lines, y_range=(0.0, top)))
    return found


def _paths(standings: Standings, games: Sequence[GameRecord]) -> list[str]:
    """Return the charts of Elo, and of the sequential test if there is one, over the games."""
    (pair,), short, test = standings.pairs, standings.settings.labels, standings.settings.sprt
    score = PairScore(pair.a, pair.b)
    every = max(1, len(games) // PATH_POINTS)
    path: list[tuple[int, Estimate]] = []
    ratio = [(0.0, 0.0)]
    for number, played in enumerate(games, 1):
        score.add(played)
        if number % every == 0 or number == len(games):
            cut = (max(-ELO_VIEW, min(ELO_VIEW, bound)) for bound in score.score.elo)
            path.append((number, Estimate(*cut)))
            if test:
                ratio.append((number, judge(test, score.openings).llr))
    settled = path[len(path) // 8 :]  # the later part of the interval fills the picture
    top = max((elo.high for _, elo in settled), default=100.0)
    bottom = min((elo.low for _, elo in settled), default=-100.0)
    air = (top - bottom) * 0.08 or 10.0
    view = min(bottom - air, -air), max(top + air, air)
    value, low, high = ([(number, elo[i]) for number, elo in path] for i in range(3))
    caption = f"Elo of {short[pair.a]} against {short[pair.b]}, with its 95 % interval"
    lines = [Curve("", value, "a")]
    found = [line_chart(caption, "games", "Elo", lines, (high, low), [0.0], view)]
    if test:
        verdict, lines = judge(test, score.openings), [Curve("", ratio, "b")]
        bounds = [verdict.lower, 0.0, verdict.upper]
        caption = f"SPRT [{test.elo0:g}, {test.elo1:g}]: log-likelihood ratio"
        found.append(line_chart(caption, "games", "LLR", lines, marks=bounds))
    return found


def _lengths(games: Sequence[GameRecord]) -> list[Curve]:
    """Return a histogram of game lengths for each result."""
    lengths = [len(played.moves) for played in games] or [0]
    step = (max(lengths) - min(lengths)) // 30 + 1
    first = min(lengths) // step * step
    starts = range(first - step, max(lengths) + 2 * step, step) if games else ()
    counts = Counter((played.winner, len(played.moves) // step) for played in games)
    return [
        Curve(name, [(start, counts[winner, start // step]) for start in starts], style)
        for name, winner, style in (
            ("black won", BLACK, "a"), ("white won", WHITE, "b"), ("drawn", DRAW, "c"),
        )
    ]  # fmt: skip


def _by_move(standings: Standings, games: Sequence[GameRecord], column: str) -> list[Curve]:
    """Return the mean of a column by the number of the engine's own move, for each engine."""
    short = standings.settings.labels
    values: dict[str, dict[int, list[float]]] = {name: defaultdict(list) for name in short}
    for played in games:
        entries = zip(played.movers, getattr(played, column), strict=True)
        for number, (mover, value) in enumerate(entries):
            if value is not None:
                values[mover][number // 2 + 1].append(value / 1000 if column == "times" else value)
    return [
        Curve(short[name], [(move, fmean(found)) for move, found in sorted(means.items())], style)
        for (name, means), style in zip(values.items(), cycle(STYLES), strict=False)
        if means
    ]


PGN = "pgn"
PGN_LINE = 79


def pgn(played: GameRecord, settings: MatchSettings) -> str:
    """Return a game as PGN; rating tools read its tags, people its moves.

    Names and result keep their colours, so the moves begin with black's.
    """
    result = "-".join(reversed(played.result.split("-")))  # PGN counts white's points first
    tags = {
        "Event": "Numoku match",
        "Site": "?",
        "Date": played.date.replace("-", ".") or "????.??.??",
        "Round": str(played.round + 1),
        "White": played.white,
        "Black": played.black,
        "Result": result,
        "Variant": f"gomoku {settings.rule.name.lower()} {settings.width}x{settings.height}",
        "Termination": played.reason,
    }
    quoted = {name: text.replace("\\", "\\\\").replace('"', '\\"') for name, text in tags.items()}
    lines = [f'[{name} "{text}"]' for name, text in quoted.items()]
    words = ["1..."] if played.moves else []
    for ply, move in enumerate(played.moves):
        words += [f"{ply // 2 + 2}."] * (ply % 2) + [format_moves([move])]
    text = textwrap.wrap(" ".join([*words, result]), PGN_LINE, break_on_hyphens=False)
    return "\n".join([*lines, "", *text, "", ""])


FILE_EACH = ("sgf", "psq")  # formats with a file for each game


def export(kind: str, target: Path, games: Iterable[GameRecord], settings: MatchSettings) -> int:
    """Write games in a format, to a file or a folder of files; return the number of files."""
    ordered = sorted(games, key=lambda played: played.number)
    if kind == PGN:
        write_whole(target, "".join(pgn(played, settings) for played in ordered))
        return 1
    target.mkdir(parents=True, exist_ok=True)
    for played in ordered:
        names = [re.sub(r"[^\w.]+", "_", name)[:24] for name in (played.black, played.white)]
        name = f"{played.number + 1:05}-{'-'.join(names)}.{kind}"
        write_game(target / name, annotated(played))
    return len(ordered)


# Calibration ----------------------------------------------------------------------------

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # of the bins of chances
ALL, AHEAD = "all", "ahead"
FROM_AHEAD = 0.5


class Prediction(NamedTuple):
    """A chance that an engine reported before its move, and its score in the game, 0 to 1."""

    engine: str
    game: int
    stage: int
    said: float
    scored: float


class BinRow(NamedTuple):
    """Reported chances and scores of an engine, at one stage and in one bin of chances."""

    engine: str
    stones: str
    chances: str  # ``0.7-0.9``, ``ahead`` (from 0.5 on) or ``all``
    positions: int
    games: int
    said: Figure
    scored: Figure
    excess: Figure  # chance minus score, by position


def predictions(games: Iterable[GameRecord], scale: float) -> Iterator[Prediction]:
    """Yield the predictions of all games without a fault."""
    for played in games:
        if played.fault:
            continue
        said = zip(played.movers, played.values, played.chances(scale), strict=True)
        for stones, (engine, value, chance) in enumerate(said, played.given):
            if value is not None and chance is not None and abs(value) < WIN_BAND:
                points = played.points(engine) / 2
                yield Prediction(engine, played.number, stage_of(stones), chance, points)


def calibrate(games: Iterable[GameRecord], scale: float) -> list[BinRow]:
    """Return the rows of all engines; ``scale``: value units per logistic unit."""
    found = list(predictions(games, scale))
    rows = list[BinRow]()
    for engine in sorted({each.engine for each in found}):
        for stage, stones in STAGE_NAMES.items():
            those = [e for e in found if e.engine == engine and stage in (None, e.stage)]
            bins: list[list[Prediction]] = [[] for _ in EDGES[1:]]
            for each in those:
                bins[min(bisect(EDGES, each.said), len(bins)) - 1].append(each)
            for low, high, chosen in zip(EDGES, EDGES[1:], bins, strict=False):
                rows += _rows(chosen, f"{low:.1f}-{high:.1f}", stones)
            rows += _rows([each for each in those if each.said >= FROM_AHEAD], AHEAD, stones)
            rows += _rows(those, ALL, stones)
    return rows


def _rows(chosen: Sequence[Prediction], chances: str, stones: str) -> Iterator[BinRow]:
    if chosen:
        games = [each.game for each in chosen]
        figures = (
            average([each.said for each in chosen], games),
            average([each.scored for each in chosen], games),
            average([each.said - each.scored for each in chosen], games),
        )
        yield BinRow(chosen[0].engine, stones, chances, len(chosen), len({*games}), *figures)


def text_lines(rows: Sequence[BinRow]) -> list[str]:
    """Return the rows as a table; the excess has a standard error from two games on."""
    found = [["engine", "stones", "chances", "positions", "games", "said", "scored", "excess"]]
    for row in rows:
        error = " " * 8 if isnan(row.excess.error) else f" ± {row.excess.error:.3f}"
        figures = f"{row.said.mean:.3f}", f"{row.scored.mean:.3f}", f"{row.excess.mean:+.3f}{error}"
        counts = str(row.positions), str(row.games)
        found.append([row.engine, row.stones, row.chances, *counts, *figures])
    return table(found)


# The command ----------------------------------------------------------------------------

MOST_RATING = 10_000  # absolute value for anchors; far beyond any rating list

COMMAND = CommandLine(
    "numoku report",
    "Make a page of a match: results, charts, and the games on a board.",
    (
        Option("journal", user_path, None, "JOURNAL", "of numoku match (the latest one)",
               {"nargs": "?"}),
        Option("--html", user_path, None, "FILE",
               "write the page (the default, named as the journal, without other output)"),
        Option("--games", whole, DEFAULT_GAMES, "N",
               "show the last N games on the page's board"),
        Option("--title", str, "", "TITLE", "title of the page"),
        Option("--open", None, False, None, "show the page in the browser"),
        Option("--anchor", str, [], "ENGINE=ELO",
               "fix the rating of an engine; may be repeated", {"action": "append"}),
        Option("--text", None, False, None, "print the tables"),
        Option("--calibration", None, False, None,
               "print the chances that engines reported against their scores, by stones"),
        SHARED["json"]._replace(about="print the result document of the match, or "
                               "the calibration as a list"),
        Option("--pgn", user_path, None, "FILE", "write all games to one PGN file"),
        *(Option(f"--{kind}", user_path, None, "FOLDER",
                 f"write each game to one {kind.upper()} file") for kind in FILE_EACH),
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Write the report."""
    options = COMMAND.parse(argv)
    if options.text and options.json:
        raise SettingsError("--text and --json are alternatives")
    folder = default_journal().parent
    path = options.journal or max(
        folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, default=None
    )  # fmt: skip
    if path is None:
        raise FileError(f"no journal in {folder}; name one")
    for target in (options.html, options.pgn):
        check_target(target, [path])
    settings, games = read_journal(path)
    anchors = dict(_anchor(text, settings) for text in options.anchor)
    standings = Standings(settings, games, anchors)
    others = options.text or options.json or options.calibration
    for kind in (PGN, *FILE_EACH):
        if target := getattr(options, kind):
            others, files = True, export(kind, target, games, settings)
            done = f"{counted(len(games), 'game')} in {target} ({counted(files, 'file')})"
            print(done, file=sys.stderr)
    if options.text:
        print(summary(standings))
        print("", *table(time_rows(settings, games)), sep="\n")
    if options.calibration:
        rows = calibrate(games, load_weights(DEFAULT_WEIGHTS).scale(settings.rule))
        forms = [figures_document(row._asdict()) for row in rows]
        print(json.dumps(forms) if options.json else "\n".join(text_lines(rows)))
    elif options.json:
        print(json.dumps(standings.to_json()))
    if options.html or options.open or not others:
        page = options.html or path.with_suffix(".html")
        write_whole(page, html_page(standings, games, options.games, options.title))
        print(page)
        if options.open:
            webbrowser.open(page.absolute().as_uri())
    return 0


def _anchor(text: str, settings: MatchSettings) -> tuple[str, float]:
    name, _, rating = text.rpartition("=")
    names = {engine.name for engine in settings.engines}
    if name not in names:
        raise SettingsError(f"anchor {text!r}: the engines are {', '.join(sorted(names))}")
    with suppress(ValueError):
        if abs(float(rating)) <= MOST_RATING:
            return name, float(rating)
    raise SettingsError(f"anchor {text!r}: a rating is a number up to {MOST_RATING}")
