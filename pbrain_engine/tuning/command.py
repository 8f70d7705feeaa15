"""``numoku tune``: better search parameters, found by games."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..arena.settings import SettingsError, parse_engine
from ..arena.views.view import MatchProgress
from ..files import write_whole
from ..native.load.library import KernelError
from ..options import Parser, above_zero, add_value, positive
from .conditions import add_conditions, conditions_of
from .duels import DuelError, Duels
from .outcome import html_page, patch, summary
from .plan import TuningPlan, match_of
from .record import TuningFile, read
from .space import STEP_SHARE
from .spsa import BATCH, Spsa

INTERRUPTED = 130
DEFAULT_GAMES = 4000
LINE_SECONDS = 30  # between two lines of progress where no screen is drawn


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku tune",
        description="Tune the search parameters by games of the engine against itself. The "
        "same command continues a run that was stopped.",
    )
    add = parser.add_argument
    add("file", type=Path, help="where the run is written (JSON lines)")
    add("--parameters", default="", metavar="A,B,...", help="which (all)")
    tuned = "what is tuned, such as numoku:weights=FILE,aspiration=20"
    add_value(parser, "--engine", str, "numoku", "E", tuned)
    add_conditions(parser, DEFAULT_GAMES, each="all", seed="everything random")
    moved = f"how far a parameter is moved to try it, of its range ({STEP_SHARE:.3f})"
    add("--step", type=above_zero, default=STEP_SHARE, metavar="SHARE", help=moved)
    add("--rate", type=above_zero, metavar="R", help="steps that half a point moves at the end")
    add("--batch", type=positive, default=BATCH, metavar="N", help=f"duels a batch ({BATCH})")
    add("--page", type=Path, metavar="FILE", help="write a page of charts when it ends")
    add("--show", action="store_true", help="play nothing; show what a file has come to")
    add("--patch", action="store_true", help="with --show: print the change to the table instead")
    return parser


def plan_of(options: argparse.Namespace) -> TuningPlan:
    """Return the plan that the options ask for.

    Raises:
        SettingsError: they make no sense.
    """
    match = match_of(parse_engine(options.engine), **conditions_of(options))
    names = tuple(dict.fromkeys(filter(None, options.parameters.split(","))))
    return TuningPlan(match, names, options.step, options.rate, options.batch)


def make_progress(total: int, done: int) -> Any:
    """Return a progress bar if there is a screen for it, or lines."""
    if sys.stderr.isatty():
        try:
            from .progress import Bar
        except ImportError:  # rich is not installed
            pass
        else:
            return Bar(total, done)
    return Lines(total, done)


class Lines:
    """Progress as a line on stderr now and then."""

    def __init__(self, total: int, done: int) -> None:
        """Begin to measure with so many games done."""
        self._progress = MatchProgress(total, done)
        self._shown = time.perf_counter()

    def advance(self, games: int) -> None:
        """Count finished games."""
        self._progress.done += games

    def say(self, remark: str, last: bool = False) -> None:
        """Show where the run is, unless that has just been said."""
        now = time.perf_counter()
        if not last and now - self._shown < LINE_SECONDS:
            return
        self._shown = now
        print(f"{self._progress}: {remark}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing to tidy up."""


def run(plan: TuningPlan, method: Spsa, record: TuningFile) -> bool:
    """Play to the end; return False if the user stopped it.

    Raises:
        DuelError: a game ended by a fault.
    """
    progress = make_progress(2 * method.duels, 2 * method.done)
    duels = Duels(plan.match)
    try:
        while batch := method.ask():
            results = duels.play(batch, lambda points: progress.advance(2))
            method.tell(batch, results)
            record.append(method.state())
            progress.say(method.remark)
    except KeyboardInterrupt:
        return False
    finally:
        duels.close()
        progress.close()
    return True


def show(options: argparse.Namespace) -> int:
    """Print what a file has come to."""
    plan, states, _ = read(options.file)
    method = plan.make()
    if states:
        method.restore(states[-1])
    print(patch(method.best) if options.patch else summary(plan, method), end="")
    print("" if options.patch else "\n", end="")
    if options.page:
        write_whole(options.page, html_page(plan, method, states))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune; return 0, 1 (it could not be done), 2 (usage) or 130 (interrupted)."""
    options = make_parser().parse_args(arguments)
    try:
        if options.show:
            return show(options)
        plan = plan_of(options)
        method = plan.make()
        record = TuningFile(options.file, plan)
        try:
            if record.states:
                method.restore(record.states[-1])
            finished = run(plan, method, record)
        finally:
            record.close()
    except SettingsError as error:
        print(f"numoku tune: {error}", file=sys.stderr)
        return 2
    except (DuelError, KernelError) as error:
        print(f"numoku tune: {error}", file=sys.stderr)
        return 1
    print(summary(plan, method))
    if options.page:
        write_whole(options.page, html_page(plan, method, record.states))
    if not finished:
        print("the same command goes on", file=sys.stderr)
    return 0 if finished else INTERRUPTED
