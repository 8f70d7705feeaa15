"""``numoku tune``: better search parameters, found by games.

The file of a run has one JSON object per line: the plan, then the state after every batch. A line
is on disk before the next batch begins; a truncated line is dropped when the run continues.

The method is SPSA, simultaneous perturbation stochastic approximation (Spall): it perturbs all
parameters at once and moves them toward the side that wins. In a duel, the values plus a random
step in every parameter play the values minus that step; the result times the step is a noisy
estimate of the gradient of strength. Every duel of a batch has its own steps.
"""

from __future__ import annotations

import argparse
import difflib
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from .arena import arguments
from .arena.openings import Openings
from .arena.pool import LocalGames
from .arena.process import EngineFault
from .arena.referee import GameTask
from .arena.settings import MatchSettings, format_engine, option_rows
from .arena.standings import conditions, table
from .errors import INTERRUPTED, FileError, SettingsError
from .files import Document, check_target, user_path, write_whole
from .notation.journal import LineFile, check_settings
from .options import CommandLine, Option, above_zero, positive, whole
from .pages import Curve, html_document, html_table, line_chart
from .progress import Progress
from .search import parameters
from .search.parameters import PARAMETERS

Point = dict[str, int]  # a parameter set


class Duel(NamedTuple):
    """Two parameter sets that play one opening with both colours."""

    opening: int
    first: Point
    second: Point


STEP_SHARE = 1 / 12  # the step, as a share of a parameter's range
LEAST_STEP = 0.5  # smaller steps would hardly ever change a whole number
STEP_FADE = 0.101  # steps decay with this power of the duel's number
RATE_FADE = 0.602  # the learning rate decays with this power
SETTLING = 0.1  # share of all duels before the rate decays noticeably
RATE = 0.2  # final learning rate, in steps, times the root of the number of duels
BATCH = 8


class Spsa:
    """The state of an SPSA run: the values, and the number of duels done."""

    def __init__(
        self,
        names: Iterable[str],
        start: Mapping[str, int],
        duels: int,
        seed: int,
        step_share: float = STEP_SHARE,
        rate: float | None = None,
        batch: int = BATCH,
    ) -> None:
        """Plan a run of ``duels`` over the named parameters (all by default).

        Parameters not in ``start`` begin at their defaults. ``rate`` is how many steps half a point
        moves a value at the end; by default, chance alone moves a parameter by about a third of a
        step in the whole run, whatever its length. SettingsError if a parameter is unknown or out
        of range, or there is no duel.
        """
        names = tuple(names) or tuple(PARAMETERS)
        for name in (*names, *start):
            if name not in PARAMETERS:
                known = ", ".join(PARAMETERS)
                raise SettingsError(f"unknown parameter {name}; known are {known}")
        if duels < 1 or batch < 1:
            raise SettingsError("too few games, or too small a batch")
        self.start: Point = {name: start.get(name, PARAMETERS[name].default) for name in names}
        self.steps: dict[str, float] = {}
        for name, value in self.start.items():
            low, high = PARAMETERS[name].low, PARAMETERS[name].high
            if not low <= value <= high:
                raise SettingsError(f"{name}={value} is not within {low} to {high}")
            self.steps[name] = max(LEAST_STEP, step_share * (high - low))
        self.duels = duels
        self.done = 0
        self.values: dict[str, float] = {name: float(v) for name, v in self.start.items()}
        self.points = 0  # half points won by the plus sides
        self._seed = seed
        self._rate = RATE / math.sqrt(duels) if rate is None else rate
        self._batch = batch
        self._signs: list[dict[str, int]] = []

    def ask(self) -> list[Duel]:
        """Return the duels of the next batch."""
        self._signs = []
        duels = []
        for number in range(self.done, min(self.done + self._batch, self.duels)):
            chance = random.Random(f"{self._seed}:spsa:{number}")
            signs = {name: chance.choice((-1, 1)) for name in self.start}
            sides: list[Point] = [{}, {}]
            for sign, point in zip((1, -1), sides, strict=True):
                for name, value in self.values.items():
                    value = _clip(name, value + sign * signs[name] * self._step(name, number))
                    whole = math.floor(value)  # rounded at random, to keep the mean
                    point[name] = whole + (chance.random() < value - whole)
            self._signs.append(signs)
            duels.append(Duel(number, *sides))
        return duels

    def tell(self, duels: Sequence[Duel], results: Sequence[int]) -> None:
        """Update the values with the half points won by the plus sides."""
        for number, (signs, points) in enumerate(zip(self._signs, results, strict=True), self.done):
            surplus = points - 2
            settling = SETTLING * self.duels
            fading = (settling + self.duels) / (settling + number + 1)
            gain = self._rate * math.pow(fading, RATE_FADE)  # in steps per half point
            for name in signs if surplus else ():  # avoids inf * 0
                move = gain * self._step(name, number) * signs[name] * surplus
                self.values[name] = _clip(name, self.values[name] + move)
            self.points += points
        self.done += len(duels)

    def _step(self, name: str, number: int) -> float:
        """Return the perturbation of a parameter in a duel; it decays to its step."""
        return self.steps[name] * math.pow(self.duels / (number + 1), STEP_FADE)

    @property
    def best(self) -> Point:
        """The current parameter set, rounded."""
        return {name: round(_clip(name, value)) for name, value in self.values.items()}

    @property
    def remark(self) -> str:
        """The largest change so far, in words."""
        moved = {n: (self.values[n] - before) / self.steps[n] for n, before in self.start.items()}
        farthest = max(moved, key=lambda name: abs(moved[name]))
        return f"farthest {farthest} {moved[farthest]:+.2f} steps"

    def state(self) -> Document:
        """Return the state for ``restore``, in full precision."""
        return {"done": self.done, "points": self.points, "values": dict(self.values)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; SettingsError if it is damaged or has other parameters."""
        try:
            self.done, self.points = int(state["done"]), int(state["points"])
            self.values = {name: float(state["values"][name]) for name in self.start}
            if not all(map(math.isfinite, self.values.values())):
                raise ValueError("a value is not a number")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise SettingsError(f"the run was written by another version: {error}") from None


def _clip(name: str, value: float) -> float:
    """Return the nearest value within the range of a parameter."""
    return min(max(value, float(PARAMETERS[name].low)), float(PARAMETERS[name].high))


# The command ----------------------------------------------------------------------------

SOURCE = Path(parameters.__file__)
SOURCE_NAME = "pbrain_engine/search/parameters.py"
DEFAULT_GAMES = 4000
DEFAULT_NODES = 5000


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """Everything that determines a tuning run; with node limits, equal plans give equal results."""

    match: MatchSettings  # the tuned engine against itself, for all games of the run
    names: tuple[str, ...] = ()
    step_share: float = STEP_SHARE
    rate: float | None = None
    batch: int = BATCH

    def make(self) -> Spsa:
        """Return the method, starting at the engine's options; SettingsError if one is wrong."""
        start = {
            key: int(value)
            for key, value in self.match.engines[0].options
            if key in PARAMETERS and (key in self.names or not self.names)
        }
        duels, seed = self.match.games // 2, self.match.seed
        return Spsa(self.names, start, duels, seed, self.step_share, self.rate, self.batch)


class TuningFile(LineFile):
    """The file of a run: its ``plan``, and the ``states`` after the batches."""

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
        """Read an entry: the plan or a state."""
        if entry.pop("type") == "tune":
            known = {field.name for field in fields(TuningPlan)}
            plan = {key: value for key, value in entry["plan"].items() if key in known}
            plan["names"] = tuple(plan["names"])
            check_settings(plan["match"])
            plan["match"] = MatchSettings.from_json(plan["match"])
            self.plan = TuningPlan(**plan)
        else:
            self.states.append(entry)

    def append(self, state: Document) -> None:
        """Write a state to disk."""
        self.write({"type": "state", **state})
        self.states.append(dict(state))


def play(plan: TuningPlan, method: Spsa, record: TuningFile) -> bool:
    """Play the whole run in this process; return False if the user stopped it.

    The engines are reused from game to game, with new parameters. With a node limit, a duel is
    reproducible on any machine. EngineFault if a game ended by a fault.
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
        if PARAMETERS[name].default != value:
            after = re.sub(rf'("{name}": Parameter\()[^,]+,', rf"\g<1>{value},", after)
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, f"a/{SOURCE_NAME}", f"b/{SOURCE_NAME}"))


def rows(method: Spsa) -> list[list[str]]:
    """Return the parameters with start and outcome as a table with a header."""
    found = [["parameter", "start", "now", "steps", "range"]]
    for name, now in method.best.items():
        start, known = method.start[name], PARAMETERS[name]
        steps, place = (now - start) / method.steps[name], f"{known.low} to {known.high}"
        found.append([name, str(start), str(now), f"{steps:+.2f}", place])
    return found


def summary(plan: TuningPlan, method: Spsa) -> str:
    """Return the table, and the command of a match that measures the change."""
    match, options = plan.match, dict(plan.match.engines[0].options)
    played = f"{2 * method.done} of {2 * method.duels} games; {method.remark}"
    lines = [played, *table(rows(method))]
    if changed := {name: str(v) for name, v in method.best.items() if v != method.start[name]}:
        new = {name: value for name, value in options.items() if name not in changed} | changed
        size = f"{match.width}" if match.width == match.height else f"{match.width}x{match.height}"
        words = [f"numoku match new={format_engine(new)} old={format_engine(options)}"]
        words.append(f"--rule {match.rule.label} --board {size}")
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
        Option("file", user_path, about="file of the run (JSON lines)"),
        Option("--parameters", str, "", "A,B,...", "parameters to tune (all)"),
        Option("--engine", str, "numoku", "E",
               "the engine, such as numoku:weights=FILE,aspiration=20"),
        Option("--games", positive, DEFAULT_GAMES, "N", "games of the whole run"),
        Option("--nodes", whole, None, "N", f"nodes per move ({DEFAULT_NODES} without --turn)"),
        "turn",
        *option_rows("width", "rule", "openings", "seed", "concurrency"),
        Option("--step", above_zero, STEP_SHARE, "SHARE",
               "perturbation of a parameter, as a share of its range"),
        Option("--rate", above_zero, None, "R", "steps per half point at the end of the run"),
        Option("--batch", positive, BATCH, "N", "duels per batch"),
        Option("--page", user_path, None, "FILE", "write a page of charts at the end"),
        Option("--show", None, False, None, "only show the results in a file"),
        Option("--patch", None, False, None,
               "with --show: print the change to the table instead"),
    ),
)  # fmt: skip


def plan_of(options: argparse.Namespace) -> TuningPlan:
    """Return the plan for the options; SettingsError if they are invalid."""
    match = arguments.COMMAND.parse([options.engine] * 2 + ["--in-process"])
    if options.nodes is None:
        options.nodes = 0 if options.turn else DEFAULT_NODES
    vars(match).update(vars(options), engines=match.engines)
    names = tuple(dict.fromkeys(filter(None, options.parameters.split(","))))
    return TuningPlan(
        arguments.settings_of(match), names, options.step, options.rate, options.batch
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune; return 0 or 130 (interrupted)."""
    options = COMMAND.parse(arguments)
    path, finished = options.file, True
    check_target(options.page, [path])
    plan = None if options.show else plan_of(options)
    method = plan.make() if plan else None  # checks the plan before a file is created
    mode = "rb" if options.show else "r+b" if path.exists() else "x+b"
    with closing(TuningFile(path, mode, plan)) as record:
        if plan:
            match = replace(record.plan.match, concurrency=plan.match.concurrency)
            if plan != replace(record.plan, match=match):
                raise FileError(f"{path} has a run with other settings; name another file")
        method = method or record.plan.make()
        if record.states:
            method.restore(record.states[-1])
        if plan:
            finished = play(plan, method, record)
    is_patch = options.show and options.patch
    print(patch(method.best) if is_patch else f"{summary(record.plan, method)}\n", end="")
    if options.page:
        write_whole(options.page, html_page(record, method))
    if not finished:
        print("the same command continues", file=sys.stderr)
    return 0 if finished else INTERRUPTED
