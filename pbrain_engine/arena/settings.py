"""What a match is: engines, limits and conditions, as plain values that a journal can hold."""

from __future__ import annotations

import os
import re
import shutil
import sys
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from ..methods import METHODS
from ..options import split_command
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from ..protocol import serve
from ..search.parameters import PARAMETERS

UNLIMITED_MS = 2_147_483_647  # what the protocol sends where there is no limit
DEFAULT_TURN = 1.0
DEFAULT_MEMORY = 367_001_600  # what tournaments allow

MAX_LABEL = 24

# The largest hypotheses by model: much further out no distribution of few results is found.
MOST_ELO = {"normalised": 200.0, "logistic": 1000.0}

Pair = tuple[int, int]  # engines by their number

# Options of a built-in engine that clients set by INFO, where some have another name.
INFO_KEYS = {
    "threads": "thread_num",
    "hash_size": "hash_size",
    "hash": "hash_size",  # its name in older journals
    "nodes": "max_node",
    "depth": "max_depth",
    "memory": "max_memory",
    "strength": "strength",
    "seed": "seed",
}

LIMITS = ("turn", "nodes", "depth")  # which an engine may have of its own
METHOD_OPTIONS = (*LIMITS, "seed")  # of the methods of the textbooks
OPTIONS = ("turn", *INFO_KEYS, *serve.OPTIONS, *serve.NUMBERS)

# Programs that run the file which comes after them.
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|lua|node|java|mono|dotnet|wine|bash|dash|sh|env|nice|taskset)"
    r"w?[0-9.-]*(\.exe)?",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")  # of at most 64 bits
_NAMED = re.compile(r"([A-Za-z][\w.+-]*)=(.+)", re.DOTALL)


class SettingsError(ArgumentTypeError, ValueError):
    """A match that cannot be played as it was asked for."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One contestant: how it is called, how it is started, and its own options.

    ``turn``, ``nodes`` and ``depth`` among the options replace the match's limits for
    this engine alone; all options travel to it as ``INFO key value``.
    """

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    builtin: str = ""  # "numoku", "method" or "random"; empty for a foreign engine
    title: str = ""  # name and version as it tells them
    is_named: bool = False  # the user chose the name

    def option(self, key: str) -> str | None:
        """Return an option's text, or None."""
        return dict(self.options).get(key)

    def number(self, key: str, default: float) -> float:
        """Return an option as a number, or the default where it is not set."""
        return float(self.option(key) or default)

    @property
    def home(self) -> str | None:
        """The folder of the program that is run, in which it expects its own files."""
        if self.builtin:
            return None
        files = [path for path in map(Path, self.command) if path.is_absolute() and path.is_file()]
        programs = [
            path
            for path in files
            if str(path) != sys.executable and not _INTERPRETER.fullmatch(path.name)
        ]
        return next((str(path.parent) for path in programs + files), None)

    @property
    def environment(self) -> dict[str, str]:
        """What is set for the process: a built-in is a module of this very package."""
        if not self.builtin:
            return {}
        search = [str(Path(__file__).absolute().parents[2]), os.environ.get("PYTHONPATH", "")]
        return {"PYTHONPATH": os.pathsep.join(filter(None, search))}

    @property
    def label(self) -> str:
        """A short name for tables: the user's, the engine's own, or the file that is run."""
        if self.title and not self.is_named:
            return self.title
        if self.builtin or self.is_named or len(self.name) <= MAX_LABEL:
            return self.name
        words = [word for word in self.command if not word.startswith("-")]
        stem = Path(words[-1] if words else self.name).stem
        return stem.removeprefix("pbrain-")[:MAX_LABEL] or self.name[:MAX_LABEL]


def parse_engine(text: str) -> EngineSpec:
    """Return the engine that a user means by ``numoku:threads=2``, ``random``, a path, a command.

    ``method:uct,nodes=500`` is a method of the textbooks. ``NAME=COMMAND`` gives a name of its
    own.
    """
    name, body = text, text
    named = _NAMED.fullmatch(text)
    if named:
        name, body = named[1], named[2]
    head, _, tail = body.partition(":")
    if head in ("numoku", "random", "method"):
        method, allowed = head, OPTIONS
        if head == "method":
            method, _, tail = tail.partition(",")
            allowed = METHOD_OPTIONS
            if method not in METHODS:
                raise SettingsError(f"{text!r}: there are the methods {', '.join(METHODS)}")
        options = _parse_options(tail, text, allowed)
        command = _builtin_command(head, method, options)
        return EngineSpec(name, command, options, head, is_named=bool(named))
    try:
        words = split_command(body)
    except ValueError as error:
        raise SettingsError(str(error)) from None
    if not words:
        raise SettingsError(f"no engine in {text!r}")
    if len(words) == 1 and words[0].endswith(".py"):
        words = [sys.executable, words[0]]
    for place, word in enumerate(words):  # engines run in other folders
        path = Path(word)
        # A program on the search path keeps its name, whatever lies in the current folder.
        is_bare = place == 0 and path.name == word and path.suffix not in (".py", ".exe")
        if path.is_file() and not (is_bare and shutil.which(word)):
            words[place] = str(path.absolute())
    return EngineSpec(name, tuple(words), is_named=bool(named))


def _builtin_command(
    builtin: str, method: str, options: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the command of a built-in engine, with the options that INFO cannot carry."""
    if builtin != "numoku":
        return (sys.executable, "-m", "pbrain_engine.arena.textbook", method)
    own = [f"{key}={value}" for key, value in options if key not in ("turn", *INFO_KEYS)]
    return (sys.executable, "-m", "pbrain_engine", *own)


def _parse_options(tail: str, text: str, allowed: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Split ``threads=2,weights=hand``; where all options are allowed, parameters are, too."""
    options = []
    for item in filter(None, tail.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key or not value:
            raise SettingsError(f"{text!r}: options are written key=value, not {item!r}")
        if key not in allowed and not (allowed is OPTIONS and key in PARAMETERS):
            more = ", ..." if allowed is OPTIONS else ""
            raise SettingsError(f"{text!r}: there is no option {key}; {', '.join(allowed)}{more}")
        if key not in serve.OPTIONS and (problem := _problem_of(key, value)):
            raise SettingsError(f"{text!r}: {key} takes {problem}, not {value[:20]!r}")
        if key in serve.FILES and Path(value).is_file():
            value = str(Path(value).absolute())
        options.append((key, value))
    return tuple(options)


def _problem_of(key: str, value: str) -> str:
    """Return what a numeric option takes, if this is no such number."""
    if key == "turn":
        with suppress(ValueError):
            if 0 <= float(value) <= UNLIMITED_MS / 1000:
                return ""
        return "seconds"
    if not _WHOLE.fullmatch(value):
        return "a whole number"
    is_signed = key == "seed" or key not in INFO_KEYS
    return "" if is_signed or not value.startswith("-") else "a number from 0 on"


def format_engine(options: Mapping[str, object]) -> str:
    """Return ``numoku:key=value,...``, which ``parse_engine`` reads."""
    words = ",".join(f"{key}={value}" for key, value in options.items())
    return f"numoku:{words}" if words else "numoku"


def name_apart(engines: Iterable[EngineSpec]) -> tuple[EngineSpec, ...]:
    """Return the engines with names that differ: the second ``X`` becomes ``X#2``."""
    seen, apart = Counter[str](), []
    for engine in engines:
        seen[engine.name] += 1
        number = f"#{seen[engine.name]}" if seen[engine.name] > 1 else ""
        apart.append(replace(engine, name=engine.name + number))
    return tuple(apart)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential test: its two hypotheses, their model and the error rates."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "normalised"  # or "logistic"

    def __post_init__(self) -> None:
        """Refuse hypotheses out of order or reach, and rates that are none."""
        most = MOST_ELO.get(self.model, 0.0)
        are_rates = all(0 < rate < 0.5 for rate in (self.alpha, self.beta))
        if not -most <= self.elo0 < self.elo1 <= most or not are_rates:
            raise SettingsError(
                f"--sprt takes ELO0 below ELO1, {self.model} ones from {-most:g} to {most:g}; "
                "--alpha and --beta lie in 0 to 0.5"
            )


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When agreed values end a game early; the counts are in moves of both sides."""

    win_value: int = 0  # 0: never
    win_moves: int = 6
    draw_value: int = -1  # -1: never
    draw_moves: int = 20
    draw_from: int = 60  # stones on the board


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Everything that decides what is played; two equal values play the same match."""

    engines: tuple[EngineSpec, ...]
    games: int = 10  # per pair of engines
    gauntlet: bool = False
    width: int = 15
    height: int = 15
    rule: Rule = Rule.FREESTYLE
    turn: float = DEFAULT_TURN  # seconds; 0: no limit
    match: float = 0.0
    increment: float = 0.0
    tolerance: float = 1.0
    patience: float = 60.0  # how long a move is awaited where time is not limited
    start_timeout: float = 10.0  # how long the OK after START is awaited
    nodes: int = 0
    depth: int = 0
    memory: int = DEFAULT_MEMORY  # bytes; 0: not limited
    openings: str = "balanced"
    opening_lines: tuple[str, ...] = ()  # a file's lines, so that a resumed match needs no file
    transform: bool = False
    seed: int = 1
    draw_after: int = 0  # stones; 0: the board must be full
    adjudication: Adjudication = Adjudication()
    sprt: Sprt | None = None
    judge: bool = False
    in_process: bool = False
    keep: bool = False
    concurrency: int = 1
    pin: tuple[int, ...] = ()
    cluster: str = ""
    log: str = ""  # a folder for the dialogues

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        for side in (self.width, self.height):
            if not MIN_BOARD <= side <= MAX_BOARD:
                raise SettingsError(f"board sides go from {MIN_BOARD} to {MAX_BOARD}, not {side}")
        if len(self.engines) < 2:
            raise SettingsError("a match needs two engines or more")
        if self.in_process and any(engine.builtin != "numoku" for engine in self.engines):
            raise SettingsError("only numoku and numoku:... play in-process")
        if self.pin and self.cluster:
            raise SettingsError("--pin names cores of this machine, not those of a cluster")
        if self.sprt and len(self.engines) != 2:
            raise SettingsError("an SPRT compares exactly two engines")
        limits = [
            [engine.number(key, getattr(self, key)) for key in LIMITS] for engine in self.engines
        ]
        if not self.match and not all(map(any, limits)):
            raise SettingsError("no limit: give --turn, --match, --nodes or --depth")

    @property
    def labels(self) -> dict[str, str]:
        """Short names for tables, by name."""
        short = {engine.name: engine.label for engine in self.engines}
        counts = Counter(short.values())
        return {name: label if counts[label] == 1 else name for name, label in short.items()}

    @property
    def draw_stones(self) -> int:
        """The number of stones at which a game is drawn."""
        cells = self.width * self.height
        if self.draw_after:
            return min(self.draw_after, cells)
        if self.judge and self.rule == Rule.RENJU:
            return max(1, cells - 25)
        return cells

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MatchSettings:
        """Return the settings of which these are the values, as JSON has them."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        engines = []
        for item in data["engines"]:
            options = tuple((key, value) for key, value in item["options"])
            command, builtin = tuple(item["command"]), item.get("builtin", "")
            if builtin:  # where it lies may have changed since
                method = command[-1] if builtin == "method" else builtin
                command = _builtin_command(builtin, method, options)
            engines.append(EngineSpec(**{**item, "command": command, "options": options}))
        values["engines"] = tuple(engines)
        values["rule"] = Rule(data["rule"])
        values["adjudication"] = Adjudication(**data["adjudication"])
        values["sprt"] = None
        with suppress(SettingsError):  # older versions took any hypotheses
            values["sprt"] = data["sprt"] and Sprt(**data["sprt"])
        for key in ("opening_lines", "pin"):
            values[key] = tuple(data[key])
        return cls(**values)


def pairs(settings: MatchSettings) -> list[Pair]:
    """Return the pairs of engines that meet: all, or the first with each other."""
    count = len(settings.engines)
    if settings.gauntlet:
        return [(0, other) for other in range(1, count)]
    return list(combinations(range(count), 2))


def total_games(settings: MatchSettings) -> int:
    """Return the number of games of the whole match."""
    return settings.games * len(pairs(settings))
