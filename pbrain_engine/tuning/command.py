"""``numoku tune``: better search parameters, found by games."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from ..arena import arguments
from ..arena.settings import SettingsError
from ..arena.views import conditions, table
from ..files import write_whole
from ..native.load.library import KernelError
from ..options import Parser, above_zero, add_value, not_below_zero, positive, whole
from ..pages.html import Curve, html_document, html_figures, html_table, line_chart
from ..progress import Progress
from ..search import parameters
from .run import DuelError, Duels, TuningFile, TuningPlan, read
from .spsa import BATCH, STEP_SHARE, Spsa, format_point

SOURCE = Path(parameters.__file__)
SOURCE_NAME = "pbrain_engine/search/parameters.py"


def rows(method: Spsa) -> list[list[str]]:
    """Return the parameters with start and outcome, and a head."""
    space, best = method.space, method.best
    found = [["parameter", "start", "now", "steps", "range"]]
    for name in space.names:
        before, now = space.start[name], best[name]
        steps = (now - before) / space.steps[name]
        low, high = space.bounds(name)
        found.append([name, str(before), str(now), f"{steps:+.2f}", f"{low} to {high}"])
    return found


def patch(point: Mapping[str, int]) -> str:
    """Return the change to the parameter table as a patch for ``git apply``."""
    before = after = SOURCE.read_text(encoding="utf-8")
    for name, value in point.items():
        if parameters.PARAMETERS[name].default != value:
            after = re.sub(rf'("{name}": Parameter\()[^,]+,', rf"\g<1>{value},", after)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{SOURCE_NAME}",
        f"b/{SOURCE_NAME}",
    )
    return "".join(lines)


def summary(plan: TuningPlan, method: Spsa) -> str:
    """Return the table, and the match that says what the change is worth."""
    best, match = method.best, plan.match
    changed = {name: v for name, v in best.items() if v != method.space.start[name]}
    lines = [f"{2 * method.done} of {2 * method.duels} games; {method.remark}"]
    lines += table(rows(method))
    if changed:
        options = dict(match.engines[0].options)
        kept = {name: value for name, value in options.items() if name not in changed}
        new = f"numoku:{format_point({**kept, **changed})}"
        old = f"numoku:{format_point(options)}".rstrip(":")
        size = f"{match.width}" if match.width == match.height else f"{match.width}x{match.height}"
        words = f"numoku match new={new} old={old} --rule {match.rule.name.lower()} --board {size}"
        words += f" --nodes {match.nodes}" if match.nodes else ""
        words += f" --turn {match.turn:g}" if match.turn else ""
        words += f" --games 2000 --seed {match.seed + 1} --in-process"
        lines += ["", "try it:", words]
    return "\n".join(lines)


def html_page(plan: TuningPlan, method: Spsa, states: Sequence[Mapping[str, Any]]) -> str:
    """Return a page with the outcome and how the run went."""
    title, space, figures = "Tuning by SPSA", method.space, []
    about = f"{conditions(plan.match)}; {2 * method.done} games; {method.remark}"
    for name in space.names:  # its path
        points = [(0.0, float(space.start[name]))]
        points += [(2.0 * state["done"], state["values"][name]) for state in states]
        lines, marks = [Curve("", points, "a")], [space.start[name]]
        figures.append((name, line_chart(name, "games", name, lines, marks=marks)))
    body = f"""<h1>{escape(title)}</h1>
<p class="about">{escape(about)}</p>
<h2>Parameters</h2>
{html_table(rows(method))}
<h2>How they moved</h2>
{html_figures(figures)}"""
    return html_document(title, body)


INTERRUPTED = 130
DEFAULT_GAMES = 4000
DEFAULT_NODES = 5000


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku tune",
        description="Tune the search parameters by games of the engine against itself. The "
        "same command continues a run that was stopped.",
    )
    add, value = parser.add_argument, partial(add_value, parser)
    add("file", type=Path, help="where the run is written (JSON lines)")
    add("--parameters", default="", metavar="A,B,...", help="which (all)")
    tuned = "what is tuned, such as numoku:weights=FILE,aspiration=20"
    value("--engine", str, "numoku", "E", tuned)
    value("--games", positive, DEFAULT_GAMES, "N", "all")
    value("--nodes", whole, None, "N", f"nodes a move ({DEFAULT_NODES} without --turn)")
    value("--turn", not_below_zero, 0.0, "S", "seconds a move")
    value("--rule", str, "freestyle", "R", "name or code of the rule")
    add("--board", "--size", default="15", metavar="N", help="side of the board, or WxH (15)")
    value("--openings", str, "balanced", "F", "as in numoku match")
    value("--seed", int, 1, "N", "of everything random")
    value("--concurrency", positive, 1, "N", "games at the same time")
    moved = f"how far a parameter is moved to try it, of its range ({STEP_SHARE:.3f})"
    add("--step", type=above_zero, default=STEP_SHARE, metavar="SHARE", help=moved)
    add("--rate", type=above_zero, metavar="R", help="steps that half a point moves at the end")
    add("--batch", type=positive, default=BATCH, metavar="N", help=f"duels a batch ({BATCH})")
    add("--page", type=Path, metavar="FILE", help="write a page of charts when it ends")
    add("--show", action="store_true", help="play nothing; show what a file has come to")
    add("--patch", action="store_true", help="with --show: print the change to the table instead")
    return parser


def plan_of(options: argparse.Namespace) -> TuningPlan:
    """Return the plan that the options ask for; SettingsError if they make no sense."""
    match = arguments.parser().parse_args([options.engine] * 2 + ["--in-process"])
    if options.nodes is None:
        options.nodes = 0 if options.turn else DEFAULT_NODES
    vars(match).update(vars(options), engines=match.engines)
    names = tuple(dict.fromkeys(filter(None, options.parameters.split(","))))
    return TuningPlan(
        arguments.settings_of(match), names, options.step, options.rate, options.batch
    )


def run(plan: TuningPlan, method: Spsa, record: TuningFile) -> bool:
    """Play to the end; return False if the user stopped it.

    Raises:
        DuelError: a game ended by a fault.
    """
    progress = Progress(2 * method.duels, "games", 2 * method.done)
    duels = Duels(plan.match)
    try:
        while batch := method.ask():
            method.tell(batch, duels.play(batch))
            record.append(method.state())
            progress.done = 2 * method.done
            progress.show(method.remark)
    except KeyboardInterrupt:
        return False
    finally:
        duels.close()
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune; return 0, 1 (it could not be done), 2 (usage) or 130 (interrupted)."""
    options = make_parser().parse_args(arguments)
    try:
        if options.show:
            plan, states, _ = read(options.file)
            method = plan.make()
            if states:
                method.restore(states[-1])
            print(patch(method.best) if options.patch else f"{summary(plan, method)}\n", end="")
            if options.page:
                write_whole(options.page, html_page(plan, method, states))
            return 0
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
