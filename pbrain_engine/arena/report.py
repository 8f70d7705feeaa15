"""``numoku report``: the games of a journal as a page, as tables, or in other formats."""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
import webbrowser
from collections.abc import Callable, Iterable, Sequence
from math import nan
from pathlib import Path

from ..files import write_whole
from ..notation.cells import format_moves
from ..notation.game_tree import GameRecord
from ..notation.psq import format_psq
from ..notation.sgf import format_sgf
from ..options import Parser, add_value, problem_of, whole
from .journal import JournalError, Played, paper_record, read_journal
from .match import default_journal
from .page import DEFAULT_GAMES, html_page
from .settings import MatchSettings, SettingsError
from .standings import Standings
from .views import summary, table, time_rows

PGN = "pgn"
PGN_LINE = 79


def pgn(played: Played, settings: MatchSettings) -> str:
    """Return a game as PGN; rating tools read its tags, people its moves.

    Names and result are those of the colours that were played, so the moves begin with black's.
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
    words = ["1..."] if played.all_moves else []
    for ply, move in enumerate(played.all_moves):
        words += [f"{ply // 2 + 2}."] * (ply % 2) + [format_moves([move])]
    text = textwrap.wrap(" ".join([*words, result]), PGN_LINE, break_on_hyphens=False)
    return "\n".join([*lines, "", *text, "", ""])


FILE_EACH: dict[str, Callable[[GameRecord], str]] = {"sgf": format_sgf, "psq": format_psq}


def export(kind: str, target: Path, games: Iterable[Played], settings: MatchSettings) -> list[Path]:
    """Write games in one format, into one file or a folder of files; return what was written."""
    ordered = sorted(games, key=lambda played: played.game)
    if kind == PGN:
        write_whole(target, "".join(pgn(played, settings) for played in ordered))
        return [target]
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for played in ordered:
        names = "-".join(
            re.sub(r"[^\w.]+", "_", name)[:24] for name in (played.black, played.white)
        )
        path = target / f"{played.game + 1:05}-{names}.{kind}"
        write_whole(path, FILE_EACH[kind](paper_record(played, settings)))
        written.append(path)
    return written


MOST_RATING = 10_000  # of an anchor, either way: far more than any list has


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``numoku report``."""
    top = Parser(
        prog="numoku report",
        description="Make a page of a match: results, charts, and the games on a board.",
    )
    add = top.add_argument
    add("journal", nargs="?", metavar="JOURNAL", help="of numoku match (the latest one)")
    add("--html", metavar="FILE", help="the page (beside the journal, unless others are asked for)")
    stepped = "games that the page lets one step through, the last ones"
    add_value(top, "--games", whole, DEFAULT_GAMES, "N", stepped)
    add("--title", default="", help="of the page")
    add("--open", action="store_true", help="show the page in the browser")
    add(
        "--anchor",
        action="append",
        default=[],
        metavar="ENGINE=ELO",
        help="fix the rating of an engine; may be repeated",
    )
    add("--text", action="store_true", help="print the tables")
    add("--json", action="store_true", help="print the result document of the match")
    add("--pgn", metavar="FILE", help="write all games to one PGN file")
    for kind in FILE_EACH:
        add(f"--{kind}", metavar="FOLDER", help=f"write each game to a {kind.upper()} file")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Write what is asked for; return 0, 1 (it cannot be written) or 2 (usage)."""
    options = parser().parse_args(argv)
    try:
        path = Path(options.journal) if options.journal else latest_journal()
        settings, games = read_journal(path)
        anchors = parse_anchors(options.anchor, settings)
    except SettingsError as error:
        print(f"numoku report: {error}", file=sys.stderr)
        return 2
    try:
        write(options, path, settings, games, anchors)
    except OSError as error:
        print(f"numoku report: {problem_of(error)}", file=sys.stderr)
        return 1
    return 0


def write(
    options: argparse.Namespace,
    path: Path,
    settings: MatchSettings,
    games: list[Played],
    anchors: dict[str, float],
) -> None:
    """Write everything that the options ask for, the page where they ask for nothing."""
    for kind in (PGN, *FILE_EACH):
        target = getattr(options, kind)
        if target:
            written = export(kind, Path(target), games, settings)
            print(f"{len(games)} games in {target} ({len(written)} files)", file=sys.stderr)
    standings = Standings(settings, games)
    if options.text:
        print(summary(standings, anchors))
        print("", *table(time_rows(settings, games)), sep="\n")
    if options.json:
        print(json.dumps(standings.to_json(anchors)))
    others = any(getattr(options, kind) for kind in (PGN, *FILE_EACH))
    if options.html or options.open or not (others or options.text or options.json):
        page = Path(options.html) if options.html else path.with_suffix(".html")
        text = html_page(settings, games, options.games, options.title, anchors)
        write_whole(page, text)
        print(page)
        if options.open:
            webbrowser.open(page.absolute().as_uri())


def latest_journal() -> Path:
    """Return the newest journal in the user's folder.

    Raises:
        JournalError: there is none.
    """
    folder = default_journal().parent
    found = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise JournalError(f"no journal in {folder}; name one")
    return found[-1]


def parse_anchors(texts: Sequence[str], settings: MatchSettings) -> dict[str, float]:
    """Return the fixed ratings of ``ENGINE=ELO``."""
    names = {engine.name for engine in settings.engines}
    anchors = {}
    for text in texts:
        name, _, rating = text.rpartition("=")
        if name not in names:
            raise SettingsError(f"anchor {text!r}: the engines are {', '.join(sorted(names))}")
        try:
            anchors[name] = float(rating)
        except ValueError:
            anchors[name] = nan
        if not abs(anchors[name]) <= MOST_RATING:
            raise SettingsError(f"anchor {text!r}: a rating is a number up to {MOST_RATING}")
    return anchors
