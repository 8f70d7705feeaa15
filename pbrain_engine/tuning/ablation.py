"""``numoku ablate``: what each item of the search is worth, by games without it."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ..arena.commands.match import play
from ..arena.openings import Openings
from ..arena.records.journal import Journal, read_journal
from ..arena.settings import EngineSpec, MatchSettings, SettingsError, parse_engine
from ..arena.statistics.standings import PairScore, Standings
from ..arena.views.text import conditions, format_estimate
from ..files import write_whole
from ..native.load.library import KernelError
from ..options import Parser, add_view
from .conditions import add_conditions, conditions_of
from .items import ITEMS

WHOLE = "whole"  # the name of the engine with all items
DEFAULT_GAMES = 400

HEAD = """\
# What each item of the search is worth

Every item is switched off alone, and the engine without it plays the whole one; the table says
how much stronger the whole one is, with the 95 % interval. Where the interval holds 0 the games
do not suffice to tell: *within the bar*. Items lean on each other, so their worths do not add up.

"""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku ablate",
        description="Switch each item of the search off, and let the engine without it play "
        "the whole one. The same command continues a run that was stopped.",
    )
    add = parser.add_argument
    add("file", type=Path, help="the journal of the games")
    add("--items", default="", metavar="A,B,...", help="which (all): " + ", ".join(ITEMS))
    add("--engine", default="numoku", metavar="E", help="the whole engine, as in numoku match")
    add_conditions(parser, DEFAULT_GAMES, each="each", seed="the openings")
    add("--write", type=Path, metavar="FILE", help="write the table, such as docs/ablation.md")
    add("--show", action="store_true", help="play nothing; show what the journal holds")
    add_view(parser)
    return parser


def settings_of(options: argparse.Namespace) -> MatchSettings:
    """Return the match of the whole engine against those without an item.

    Raises:
        SettingsError: there is no such item, or the games cannot be played.
    """
    names = list(dict.fromkeys(filter(None, options.items.split(",")))) or list(ITEMS)
    unknown = [name for name in names if name not in ITEMS]
    if unknown:
        raise SettingsError(f"there is no item {unknown[0]}; there are {', '.join(ITEMS)}")
    return MatchSettings(
        engines=(
            parse_engine(f"{WHOLE}={options.engine}"),
            *(without(name, options.engine) for name in names),
        ),
        gauntlet=True,
        **conditions_of(options),
        in_process=True,
    )


def without(name: str, engine: str) -> EngineSpec:
    """Return the engine without an item; its own options give way to the switch."""
    head, _, tail = engine.partition(":")
    off = ITEMS[name].off
    kept = [word for word in filter(None, tail.split(",")) if word.partition("=")[0] not in off]
    return parse_engine(f"{name}={head}:{','.join([*kept, ITEMS[name].options])}")


def rows(standings: Standings) -> list[list[str]]:
    """Return the table with its head, the items that are worth most first."""
    found = [["item", "what it does", "Elo [95 %]", "", "games"]]
    for pair in sorted(standings.pairs, key=lambda pair: -pair.elo.value):
        meaning = ITEMS[pair.b].meaning if pair.b in ITEMS else ""
        said = verdict(pair, standings.settings)
        found.append([pair.b, meaning, format_estimate(pair.elo), said, str(pair.games)])
    return found


def verdict(pair: PairScore, settings: MatchSettings) -> str:
    """Say in a word what the games tell about an item; a cost may be one of short moves only."""
    if pair.elo.low > 0:
        return "gains"
    if pair.elo.high >= 0:
        return "within the bar"
    if settings.turn:
        return f"costs at {settings.turn:g} s a move"
    return f"costs at {settings.nodes} nodes a move" if settings.nodes else "costs"


def markdown(standings: Standings, command: str) -> str:
    """Return the page with the table."""
    head, *body = rows(standings)
    settings = standings.settings
    options = ",".join(f"{key}={value}" for key, value in settings.engines[0].options)
    lines = [
        f"Conditions: {conditions(settings)}, both colours"
        + (f"; the engine has the options `{options}`" if options else "")
        + f". {standings.games} games, {len(standings.faults)} ended by a fault.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in body),
        "",
        "Made by",
        "",
        "```",
        command,
        "```",
    ]
    return HEAD + "\n".join(lines) + "\n"


def command_of(settings: MatchSettings, path: Path, page: Path | None) -> str:
    """Return the command that plays such a match anew."""
    whole, *others = settings.engines
    items = ",".join(engine.name for engine in others)
    options = ",".join(f"{key}={value}" for key, value in whole.options)
    width, height = settings.width, settings.height
    board = f"{width}" if width == height else f"{width}x{height}"
    told = [
        ("--items", items, ",".join(ITEMS)),
        ("--engine", f"numoku:{options}", "numoku:"),
        ("--turn", f"{settings.turn:g}", "0"),
        ("--nodes", str(settings.nodes), "0"),
        ("--rule", settings.rule.name.lower(), "freestyle"),
        ("--board", board, "15"),
        ("--openings", settings.openings, "balanced"),
        ("--seed", str(settings.seed), "1"),
        ("--games", str(settings.games), ""),
        ("--write", str(page or ""), ""),
    ]
    words = [word for key, value, usual in told if value != usual for word in (key, value)]
    return shlex.join(["numoku", "ablate", str(path), *words])


def open_journal(path: Path, settings: MatchSettings) -> Journal:
    """Begin a journal, or open the one of the same match to go on.

    Raises:
        SettingsError: the file holds another match.
    """
    if not path.exists():
        return Journal.create(path, settings)
    journal = Journal.resume(path)
    known = journal.settings
    changed = {"games", "concurrency"}
    before = {k: v for k, v in known.to_json().items() if k not in changed}
    after = {k: v for k, v in settings.to_json().items() if k not in changed}
    if before != after or settings.games < known.games or known.games % 2:
        journal.close()
        raise SettingsError(f"{path} holds a match with other settings; give another file")
    journal.change(settings)
    return journal


def main(arguments: Sequence[str] | None = None) -> int:
    """Play and tabulate; return 0, 1 (no kernel), 2 (usage) or 130 (interrupted)."""
    options = make_parser().parse_args(arguments)
    status = 0
    try:
        settings = settings_of(options)
        if not options.show:
            journal = open_journal(options.file, settings)
            status = play(settings, Openings(settings), journal, options.view, False)
        settings, games = read_journal(options.file)
    except (SettingsError, KernelError) as error:
        print(f"numoku ablate: {error}", file=sys.stderr)
        return 2 if isinstance(error, SettingsError) else 1
    command = command_of(settings, options.file, options.write)
    text = markdown(Standings(settings, games), command)
    if options.write:
        write_whole(options.write, text)
    elif options.show:
        print(text, end="")
    return status
