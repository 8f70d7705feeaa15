"""``numoku selfplay``: watch the engine play against itself, for a quick look."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ...native.load.library import KernelError
from ...options import Parser, add_view, not_below_zero, positive, whole
from ..openings import Openings
from ..players.inprocess import check_options
from ..records.journal import Journal
from ..settings import MatchSettings, SettingsError
from . import arguments
from .match import default_journal, play

DEFAULT_TURN = 0.5


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``numoku selfplay``."""
    top = Parser(prog="numoku selfplay", description="Watch the engine play against itself.")
    add = top.add_argument
    add("options", nargs="*", metavar="KEY=VALUE", help="engine options, such as threads=2")
    add("--games", type=positive, default=1, metavar="N", help="number of games (1)")
    add("--turn", type=not_below_zero, metavar="S", help=f"seconds a move ({DEFAULT_TURN})")
    add("--nodes", type=whole, default=0, metavar="N", help="nodes a move instead")
    add("--depth", type=whole, default=0, metavar="N", help="depth of a move instead")
    arguments.add_board(top)
    add("--rule", default="freestyle", metavar="R", help="freestyle, standard, renju, caro, ...")
    add("--openings", default="balanced", metavar="KIND", help="balanced, random or none")
    add("--seed", type=int, default=1, metavar="N", help="of the openings (1)")
    add("--concurrency", type=positive, default=1, metavar="N", help="games at the same time (1)")
    add("--journal", metavar="FILE", help="where the games are written (a new file of your own)")
    add("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    add_view(top)
    return top


def settings_of(options: argparse.Namespace) -> MatchSettings:
    """Return the match that the options ask for: one of ``numoku match``, in this process."""
    engine = "numoku" + (":" + ",".join(options.options) if options.options else "")
    match = arguments.parser().parse_args([engine, engine, "--in-process"])
    vars(match).update(vars(options))
    return arguments.settings_of(match, DEFAULT_TURN)


def main(argv: Sequence[str] | None = None) -> int:
    """Play the games; return 0, 1 (no kernel), 2 (usage) or 130 (interrupted)."""
    options = parser().parse_args(argv)
    try:
        settings = settings_of(options)
        check_options(settings.engines)
        openings = Openings(settings)
        path = Path(options.journal) if options.journal else default_journal()
        return play(settings, openings, Journal.create(path, settings), options.view, options.json)
    except (SettingsError, KernelError) as error:
        print(f"numoku selfplay: {error}", file=sys.stderr)
        return 2 if isinstance(error, SettingsError) else 1
