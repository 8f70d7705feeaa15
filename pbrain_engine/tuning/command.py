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
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import Any

from ..arena import arguments
from ..arena.openings import Openings
from ..arena.pool import LocalGames
from ..arena.referee import EngineFault, GameTask
from ..arena.settings import MatchSettings, SettingsError, format_engine, option_rows
from ..arena.standings import conditions, table
from ..errors import FileError
from ..files import Document, keep_apart, write_whole
from ..native.load.library import KernelError
from ..notation.journal import LineFile
from ..options import INTERRUPTED, CommandLine, Option, above_zero, positive, whole
from ..pages import Curve, html_document, html_table, line_chart
from ..progress import Progress
from ..search import parameters
from .spsa import BATCH, STEP_SHARE, Spsa

SOURCE = Path(parameters.__file__)
SOURCE_NAME = "pbrain_engine/search/parameters.py"
DEFAULT_GAMES = 4000
DEFAULT_NODES = 5000


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """All that decides a tuning run; two equal plans with node limits come to the same end."""

    match: MatchSettings  # twice the engine that is tuned; its games are those of the whole run
    names: tuple[str, ...] = ()
    step_share: float = STEP_SHARE
    rate: float | None = None
    batch: int = BATCH

    def make(self) -> Spsa:
        """Return the method where the engine's options put it; SettingsError if one is wrong."""
        start = {
            key: int(value)
            for key, value in self.match.engines[0].options
            if key in parameters.PARAMETERS and (key in self.names or not self.names)
        }
        duels, seed = self.match.games // 2, self.match.seed
        return Spsa(self.names, start, duels, seed, self.step_share, self.rate, self.batch)


class TuningFile(LineFile):
    """The file of a run: its ``plan``, and the ``states`` after each batch."""

    kind = "file of a tuning run"
    first = "tune"
    plan: TuningPlan

    def __init__(self, path: Path, mode: str, plan: TuningPlan | None = None) -> None:
        self.states: list[dict[str, Any]] = []
        head = None
        if plan:
            self.plan, head = plan, {"type": "tune", "format": 1, "plan": asdict(plan)}
        super().__init__(path, mode, head)

    def take(self, entry: dict[str, Any]) -> None:
        """Take a plan or a state."""
        if entry.pop("type") == "tune":
            known = {field.name for field in fields(TuningPlan)}
            plan = {key: value for key, value in entry["plan"].items() if key in known}
            plan["names"] = tuple(plan["names"])
            try:
                plan["match"] = MatchSettings.from_json(plan["match"])
            except SettingsError as error:
                raise FileError(str(error)) from None
            self.plan = TuningPlan(**plan)
        else:
            self.states.append(entry)

    def append(self, state: Document) -> None:
        """Write a state to disk."""
        self.write({"type": "state", **state})
        self.states.append(dict(state))


def play(plan: TuningPlan, method: Spsa, record: TuningFile) -> bool:
    """Play the whole run in this process; False if the user stopped it.

    The engines stay from game to game and only take new parameters. With a node limit a duel is
    the same whenever it is played, and on whatever machine.

    Raises:
        EngineFault: a game ended by a fault.
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
                    raise EngineFault(f"opening {played.round}: {played.fault}", played.detail)
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


def patch(point: Mapping[str, int]) -> str:
    """Return the change to the parameter table as a patch for ``git apply``."""
    before = after = SOURCE.read_text(encoding="utf-8")
    for name, value in point.items():
        if parameters.PARAMETERS[name].default != value:
            after = re.sub(rf'("{name}": Parameter\()[^,]+,', rf"\g<1>{value},", after)
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, f"a/{SOURCE_NAME}", f"b/{SOURCE_NAME}"))


def rows(method: Spsa) -> list[list[str]]:
    """Return the parameters with start and outcome, and a head."""
    found = [["parameter", "start", "now", "steps", "range"]]
    for name, now in method.best.items():
        start, known = method.start[name], parameters.PARAMETERS[name]
        steps, place = (now - start) / method.steps[name], f"{known.low} to {known.high}"
        found.append([name, str(start), str(now), f"{steps:+.2f}", place])
    return found


def summary(plan: TuningPlan, method: Spsa) -> str:
    """Return the table, and the match that says what the change is worth."""
    match, options = plan.match, dict(plan.match.engines[0].options)
    played = f"{2 * method.done} of {2 * method.duels} games; {method.remark}"
    lines = [played, *table(rows(method))]
    if changed := {name: str(v) for name, v in method.best.items() if v != method.start[name]}:
        new = {name: value for name, value in options.items() if name not in changed} | changed
        size = f"{match.width}" if match.width == match.height else f"{match.width}x{match.height}"
        words = [f"numoku match new={format_engine(new)} old={format_engine(options)}"]
        words.append(f"--rule {match.rule.name.lower()} --board {size}")
        words += [f"--nodes {match.nodes}"] if match.nodes else []
        words += [f"--turn {match.turn:g}"] if match.turn else []
        words.append(f"--games 2000 --seed {match.seed + 1} --in-process")
        lines += ["", "try it:", " ".join(words)]
    return "\n".join(lines)


def html_page(record: TuningFile, method: Spsa) -> str:
    """Return a page with the outcome and the path of each parameter."""
    charts = []
    for name, start in method.start.items():
        points = [(0.0, float(start))]
        points += [(2.0 * state["done"], state["values"][name]) for state in record.states]
        charts.append(line_chart(name, "games", name, [Curve("", points, "a")], marks=[start]))
    about = f"{conditions(record.plan.match)}; {2 * method.done} games; {method.remark}"
    body = f"""<h1>Tuning by SPSA</h1>
<p class="about">{escape(about)}</p>
<h2>Parameters</h2>
{html_table(rows(method))}
<h2>How they moved</h2>
<div class="charts">{"".join(charts)}</div>"""
    return html_document("Tuning by SPSA", body)


COMMAND = CommandLine(
    "numoku tune",
    "Tune the search parameters by games of the engine against itself. The same command "
    "continues a run that was stopped.",
    (
        Option("file", Path, about="where the run is written (JSON lines)"),
        Option("--parameters", str, "", "A,B,...", "which (all)"),
        Option("--engine", str, "numoku", "E",
               "what is tuned, such as numoku:weights=FILE,aspiration=20"),
        Option("--games", positive, DEFAULT_GAMES, "N", "all"),
        Option("--nodes", whole, None, "N", f"nodes a move ({DEFAULT_NODES} without --turn)"),
        "turn",
        *option_rows("width", "rule", "openings", "seed", "concurrency"),
        Option("--step", above_zero, STEP_SHARE, "SHARE",
               "how far a parameter is moved to try it, of its range"),
        Option("--rate", above_zero, None, "R", "steps that half a point moves at the end"),
        Option("--batch", positive, BATCH, "N", "duels a batch"),
        Option("--page", Path, None, "FILE", "write a page of charts when it ends"),
        Option("--show", None, False, None, "play nothing; show what a file has come to"),
        Option("--patch", None, False, None,
               "with --show: print the change to the table instead"),
    ),
)  # fmt: skip


def plan_of(options: argparse.Namespace) -> TuningPlan:
    """Return the plan that the options ask for; SettingsError if they make no sense."""
    match = arguments.COMMAND.parse([options.engine] * 2 + ["--in-process"])
    if options.nodes is None:
        options.nodes = 0 if options.turn else DEFAULT_NODES
    vars(match).update(vars(options), engines=match.engines)
    names = tuple(dict.fromkeys(filter(None, options.parameters.split(","))))
    return TuningPlan(
        arguments.settings_of(match), names, options.step, options.rate, options.batch
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune; return 0, 1 (it could not be done), 2 (usage) or 130 (interrupted)."""
    options = COMMAND.parse(arguments)
    path, finished = options.file, True
    try:
        keep_apart(options.page, [path])
        plan = None if options.show else plan_of(options)
        method = plan.make() if plan else None  # or there is no file to begin
        mode = "rb" if options.show else "r+b" if path.exists() else "x+b"
        with closing(TuningFile(path, mode, plan)) as record:
            if plan:
                match = replace(record.plan.match, concurrency=plan.match.concurrency)
                if plan != replace(record.plan, match=match):
                    raise FileError(f"{path} holds a run with other settings; give another file")
            method = method or record.plan.make()
            if record.states:
                method.restore(record.states[-1])
            if plan:
                finished = play(plan, method, record)
    except (SettingsError, FileError) as error:
        print(f"numoku tune: {error}", file=sys.stderr)
        return 2
    except (EngineFault, KernelError) as error:
        print(f"numoku tune: {error}", file=sys.stderr)
        return 1
    is_patch = options.show and options.patch
    print(patch(method.best) if is_patch else f"{summary(record.plan, method)}\n", end="")
    if options.page:
        write_whole(options.page, html_page(record, method))
    if not finished:
        print("the same command goes on", file=sys.stderr)
    return 0 if finished else INTERRUPTED
