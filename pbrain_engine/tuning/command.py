"""``numoku tune``: better search parameters, found by games.

The file of a run has one JSON object a line: the plan, then the state after every batch. A line is
on the disk before the next batch begins; one that was cut off is dropped when the run goes on.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from ..arena import arguments
from ..arena.journal import JournalError, LineFile, read_entries
from ..arena.openings import Openings
from ..arena.pool import LocalGames
from ..arena.referee import GameTask
from ..arena.settings import MatchSettings, SettingsError
from ..arena.standings import conditions, table
from ..files import write_whole
from ..native.load.library import KernelError
from ..options import Parser, above_zero, add_value, not_below_zero, positive, whole
from ..pages.html import Curve, html_document, html_figures, html_table, line_chart
from ..progress import Progress
from ..protocol.serve import is_parameter
from ..search import parameters
from .spsa import BATCH, STEP_SHARE, Space, Spsa, format_point

SOURCE = Path(parameters.__file__)
SOURCE_NAME = "pbrain_engine/search/parameters.py"
INTERRUPTED = 130
DEFAULT_GAMES = 4000
DEFAULT_NODES = 5000
AS_IN_MATCH = ("--rule", "--board", "--openings", "--seed", "--concurrency")  # options
FORMAT = 1


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """All that decides a tuning run; two equal plans with node limits come to the same end."""

    match: MatchSettings  # twice the engine that is tuned; its games are those of the whole run
    names: tuple[str, ...] = ()
    step_share: float = STEP_SHARE
    rate: float | None = None
    batch: int = BATCH

    def make(self) -> Spsa:
        """Return the method at the beginning of the run, where the engine's own options put it.

        Raises:
            SettingsError: there is no such parameter, or too few games.
        """
        duels = self.match.games // 2
        if duels < 1 or self.batch < 1:
            raise SettingsError("too few games, or too small a batch")
        start = {
            key: int(value)
            for key, value in self.match.engines[0].options
            if is_parameter(key) and (key in self.names or not self.names)
        }
        space = Space(self.names, start, self.step_share)
        return Spsa(space, duels, self.match.seed, self.rate, self.batch)


class TuningFile(LineFile):
    """An open record: the ``states`` it held, and ``append``."""

    def __init__(self, path: Path, plan: TuningPlan) -> None:
        """Begin the file, or open it to go on, if with more or fewer games at the same time.

        Raises:
            JournalError: it cannot be written, or belongs to another run.
        """
        super().__init__(path, "r+b" if path.exists() else "x+b")
        self.states: list[dict[str, Any]] = []
        try:
            if not path.stat().st_size:
                self.write({"type": "tune", "format": FORMAT, "plan": asdict(plan)})
                return
            found, self.states, end = read(path)
            same = replace(plan, match=replace(plan.match, concurrency=found.match.concurrency))
            if found != same:
                raise JournalError(f"{path} holds a run with other settings; give another file")
            self.go_on(end)
        except SettingsError:
            self.close()
            raise

    def append(self, state: Mapping[str, Any]) -> None:
        """Write a state down for good."""
        self.write({"type": "state", **state})
        self.states.append(dict(state))


def read(path: Path) -> tuple[TuningPlan, list[dict[str, Any]], int]:
    """Return the plan, the states, and the length of the part that is whole.

    Raises:
        JournalError: the file cannot be read or holds no tuning run.
    """
    plans: list[TuningPlan] = []
    states: list[dict[str, Any]] = []

    def take(entry: dict[str, Any]) -> None:
        if entry.pop("type") == "tune":
            known = {field.name for field in fields(TuningPlan)}
            plan = {key: value for key, value in entry["plan"].items() if key in known}
            plan["names"] = tuple(plan["names"])
            plan["match"] = MatchSettings.from_json(plan["match"])
            plans.append(TuningPlan(**plan))
        else:
            states.append(entry)

    end = read_entries(path, "file of a tuning run", take)
    if not plans:
        raise JournalError(f"{path} is no file of a tuning run")
    return plans[-1], states, end


class DuelError(RuntimeError):
    """A game ended by a fault, which no parameter may cause."""


def play(plan: TuningPlan, method: Spsa, record: TuningFile) -> bool:
    """Play to the end, inside this process, several games at a time; False if the user stopped it.

    The engines stay from game to game and only take new parameters. With a node limit a duel is
    the same whenever it is played, and on whatever machine.

    Raises:
        DuelError: a game ended by a fault.
    """
    progress = Progress(2 * method.duels, "games", 2 * method.done)
    openings, games = Openings(plan.match), LocalGames(plan.match)
    try:
        while batch := method.ask():
            for duel in batch:
                stones = tuple(openings[duel.opening])
                for black in (0, 1):
                    number, sets = 2 * duel.opening + black, (duel.first, duel.second)
                    games.submit(GameTask(number, duel.opening, black, 1 - black, stones, sets))
            points: Counter[int] = Counter()  # half points of the first sets
            for _ in range(2 * len(batch)):
                played = games.wait()
                if played.fault:
                    raise DuelError(f"opening {played.round}: {played.fault} {played.detail}")
                points[played.round] += played.points(plan.match.engines[0].name)
            method.tell(batch, [points[duel.opening] for duel in batch])
            record.append(method.state())
            progress.done = 2 * method.done
            progress.show(method.remark)
    except KeyboardInterrupt:
        return False
    finally:
        games.close()
    return True


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
    known = [row for group in arguments.OPTIONS.values() for row in group]
    arguments.add_options(parser, [row for row in known if row[0].split()[0] in AS_IN_MATCH])
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
            finished = play(plan, method, record)
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
