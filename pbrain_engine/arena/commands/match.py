"""``numoku match``: play engines against each other."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ...files import state_folder
from ...native.load.library import KernelError
from ...protocol.commandline import join_command
from ...workers import ClusterError
from ..journal import Journal
from ..openings import Openings
from ..players import processes
from ..players.dialogue import introduce
from ..players.inprocess import check_options
from ..pool import open_pool
from ..runner import Runner
from ..settings import MatchSettings, SettingsError, total_games
from ..standings import Standings
from ..views import PlainView, View, summary
from .arguments import parse, resumed_settings, settings_of


def make_view(settings: MatchSettings, standings: Standings, kind: str = "auto") -> View:
    """Return the view that suits: ``live``, ``plain``, ``quiet``, or what the terminal allows."""
    if kind == "quiet":
        return View()
    if kind == "live" or (kind == "auto" and sys.stderr.isatty()):
        try:
            from ..live import RichView
        except ImportError:  # rich is not installed
            if kind == "live":
                needed = "the live view needs rich: pip install 'pbrain-numoku[tools]'"
                print(needed, file=sys.stderr)
        else:
            return RichView(settings, standings)
    return PlainView(settings, standings.games)


INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Play a match; return 0, 1 (it could not be played), 2 (usage) or 130 (interrupted)."""
    options = parse(argv)
    journal: Journal | None = None
    try:
        if options.resume:
            journal = Journal.resume(Path(options.resume))
            settings = resumed_settings(journal.settings, options)
        else:
            settings = settings_of(options)
        if not settings.cluster:  # there the engines lie on other machines
            check_options(settings.engines)
            check_cores(settings.pin)
        if journal:
            journal.change(settings)
        elif not settings.cluster:
            settings = replace(settings, engines=introduce(settings.engines))
        openings = Openings(settings)
        if journal is None and not options.no_journal:
            path = Path(options.journal) if options.journal else default_journal()
            journal = Journal.create(path, settings)
        return play(settings, openings, journal, options.view, options.json)
    except (SettingsError, ClusterError, KernelError) as error:
        print(f"numoku match: {error}", file=sys.stderr)
        return 1 if isinstance(error, KernelError) else 2
    finally:
        if journal:
            journal.close()


def play(
    settings: MatchSettings,
    openings: Openings,
    journal: Journal | None,
    view_kind: str,
    as_json: bool,
) -> int:
    """Play what the journal leaves to be played, show it, and print the result."""
    before = Standings(settings, journal.games if journal else ())
    for line in openings.skipped[:5]:
        print(f"opening left out: {line}", file=sys.stderr)
    if settings.memory and not processes.knows_memory():
        print("the memory of engines is not limited here: psutil is not installed", file=sys.stderr)
    view = make_view(settings, before, view_kind)
    try:
        pool = open_pool(settings, view.moved)
        try:
            runner = Runner(settings, openings, pool, view, journal)
            standings = runner.play()
        finally:
            pool.close()
    finally:
        view.close()
        if journal:
            journal.close()
    if as_json:
        print(json.dumps(standings.to_json()))
    else:
        print(summary(standings))
    if runner.stop_reason:
        print(f"stopped: {runner.stop_reason}", file=sys.stderr)
    if journal and (runner.was_interrupted or not as_json):
        _tell_next(journal, standings, runner)
    if runner.was_interrupted:
        return INTERRUPTED
    return 1 if "cannot be started" in runner.stop_reason else 0


def check_cores(cores: Iterable[int]) -> None:
    """Refuse cores that this process may not use.

    Raises:
        SettingsError: there are some.
    """
    usable = processes.usable_cores()
    for core in cores:
        if core not in usable:
            known = ", ".join(map(str, usable))
            raise SettingsError(f"--pin: there is no core {core} to be used, only {known}")


def _tell_next(journal: Journal, standings: Standings, runner: Runner) -> None:
    """Say what can be done with the journal."""
    path = join_command([str(journal.path)])
    if standings.games < total_games(standings.settings) and not runner.stop_reason:
        print(f"continue with: numoku match --resume {path}", file=sys.stderr)
    else:
        print(f"look at the games: numoku report {path}", file=sys.stderr)


def default_journal() -> Path:
    """Return a new journal in the user's own folder (``NUMOKU_MATCHES`` decides)."""
    chosen = os.environ.get("NUMOKU_MATCHES")
    folder = Path(chosen) if chosen else state_folder() / "matches"
    return folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.jsonl"
