"""The settings of a match: engines, limits and conditions, as plain values for a journal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from argparse import SUPPRESS
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from ..errors import SettingsError
from ..files import check_kinds
from ..game.cells import NotationError
from ..game.opening_rules import RULES, OpeningPlay, OpeningRule
from ..methods import METHODS
from ..options import (
    SHARED,
    Option,
    Value,
    above_zero,
    integer,
    not_below_zero,
    number,
    number_type,
    positive,
    search,
    split_command,
    whole,
    within,
)
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from ..protocol import serve
from ..search.parameters import MAX_DEPTH, PARAMETERS
from .process import usable_cores

UNLIMITED_MS = 2_147_483_647  # sent by the protocol for no limit
DEFAULT_TURN = 1.0
DEFAULT_GAMES = 10
SPRT_GAMES = 40_000  # enough for any test to decide
DEFAULT_MEMORY = 367_001_600  # bytes, as in tournaments

MAX_LABEL = 24
SIMPLE = (bool, int, float, str)  # kinds of JSON that need no conversion

# The largest hypotheses by model; the fit fails for few results far beyond them.
MOST_ELO = {"normalised": 200.0, "logistic": 1000.0}

Board = tuple[int, int, Rule]  # width, height and rule
Pair = tuple[int, int]  # engines by their number

# Options of a built-in engine that clients set by INFO, and their names there.
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

LIMITS = ("turn", "nodes", "depth")  # that an engine can override
METHOD_OPTIONS = (*LIMITS, "seed")  # of textbook methods
OPTIONS = ("turn", *INFO_KEYS, *serve.OPTIONS, *serve.NUMBERS)

_LARGEST = (1 << 63) - 1
_integer, _natural = within(-_LARGEST, _LARGEST), within(0, _LARGEST)
KINDS: dict[str, Callable[[str], object]] = {  # of the options whose values are not just texts
    "turn": number_type(
        float, f"a number from 0 to {UNLIMITED_MS // 1000}", lambda s: 0 <= s <= UNLIMITED_MS / 1000
    ),
    "threads": positive,
    **dict.fromkeys(("hash_size", "hash", "nodes", "memory", "strength"), _natural),
    "depth": within(0, MAX_DEPTH),
    **dict.fromkeys(("seed", *serve.NUMBERS, *PARAMETERS), _integer),
    "search": search,
}

# Programs that run another file.
_INTERPRETER = re.compile(
    r"(python|pypy|perl|ruby|lua|node|java|mono|dotnet|wine|bash|dash|sh|env|nice|taskset)"
    r"w?[0-9.-]*(\.exe)?",
    re.IGNORECASE,
)
_NAMED = re.compile(r"([A-Za-z][\w.+-]*)=(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine of a match: its name, command and options.

    ``turn``, ``nodes`` and ``depth`` among the options override the limits of the match for this
    engine; all options are sent as ``INFO key value``.
    """

    name: str
    command: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    builtin: str = ""  # "numoku", "method" or "random"; empty for other programs
    title: str = ""  # name and version from ABOUT
    is_named: bool = False  # whether the user chose the name

    def number(self, key: str, default: float) -> float:
        """Return an option as a number, or the default if it is not set."""
        return float(dict(self.options).get(key) or default)

    @property
    def home(self) -> str | None:
        """The folder of the program, where it expects its own files; None for a built-in."""
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
        """Environment variables to set: built-ins are modules of this package."""
        if not self.builtin:
            return {}
        search = [str(Path(__file__).absolute().parents[2]), os.environ.get("PYTHONPATH", "")]
        return {"PYTHONPATH": os.pathsep.join(filter(None, search))}

    @property
    def label(self) -> str:
        """A short name for tables: the user's, the engine's own, or that of its file."""
        if self.title and not self.is_named:
            return self.title
        if self.builtin or self.is_named or len(self.name) <= MAX_LABEL:
            return self.name
        words = [word for word in self.command if not word.startswith("-")]
        stem = Path(words[-1] if words else self.name).stem
        return stem.removeprefix("pbrain-")[:MAX_LABEL] or self.name[:MAX_LABEL]


def parse_engine(text: str) -> EngineSpec:
    """Return the engine for ``numoku:threads=2``, ``random``, a path or a command.

    ``method:uct,nodes=500`` is a textbook method; ``NAME=COMMAND`` names the engine.
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
                raise SettingsError(f"{text!r}: the methods are {', '.join(METHODS)}")
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
        # A program on the search path keeps its name, even if a file here has the same name.
        is_bare = place == 0 and path.name == word and path.suffix not in (".py", ".exe")
        if path.is_file() and not (is_bare and shutil.which(word)):
            words[place] = str(path.absolute())
    return EngineSpec(name, tuple(words), is_named=bool(named))


def _builtin_command(
    builtin: str, method: str, options: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """Return the command of a built-in engine, with the options that INFO cannot set."""
    if builtin != "numoku":
        return (sys.executable, "-m", "pbrain_engine.arena.textbook", method)
    own = [f"{key}={value}" for key, value in options if key not in ("turn", *INFO_KEYS)]
    return (sys.executable, "-m", "pbrain_engine", *own)


def _parse_options(tail: str, text: str, allowed: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Parse ``threads=2,weights=hand``; with all ``OPTIONS``, search parameters are allowed."""
    options = []
    for item in filter(None, tail.split(",")):
        key, equals, value = item.partition("=")
        if not equals or not key or not value:
            raise SettingsError(f"{text!r}: options are written key=value, not {item!r}")
        if key not in allowed and not (allowed is OPTIONS and key in PARAMETERS):
            more = ", ..." if allowed is OPTIONS else ""
            known = f"known are {', '.join(allowed)}{more}"
            raise SettingsError(f"{text!r}: unknown option {key}; {known}")
        try:
            KINDS.get(key, str)(value)
        except ValueError as error:
            raise SettingsError(f"{text!r}: {key}: {error}") from None
        if key in serve.FILES and Path(value).is_file():
            value = str(Path(value).absolute())
        options.append((key, value))
    return tuple(options)


def format_engine(options: Mapping[str, object]) -> str:
    """Return ``numoku:key=value,...`` for ``parse_engine``."""
    words = ",".join(f"{key}={value}" for key, value in options.items())
    return f"numoku:{words}" if words else "numoku"


def name_apart(engines: Iterable[EngineSpec]) -> tuple[EngineSpec, ...]:
    """Return the engines with unique names: the second ``X`` becomes ``X#2``."""
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
        """Refuse hypotheses out of order or range, and impossible error rates."""
        most = MOST_ELO.get(self.model, 0.0)
        are_rates = all(0 < rate < 0.5 for rate in (self.alpha, self.beta))
        if not -most <= self.elo0 < self.elo1 <= most or not are_rates:
            raise SettingsError(
                f"--sprt takes ELO0 below ELO1, for {self.model} Elo within {-most:g} to "
                f"{most:g}; --alpha and --beta are between 0 and 0.5"
            )


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When values on which both engines agree end a game early; moves of both sides count."""

    win_value: int = 0  # 0: never
    win_moves: int = 6
    draw_value: int = -1  # -1: never
    draw_moves: int = 20
    draw_from: int = 60  # stones on the board


_CORES = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


def parse_cores(text: str) -> tuple[int, ...]:
    """Return the cores in a list such as ``0-3,8``; ``all`` stands for all usable cores."""
    if not text:
        return ()
    if text == "all":
        return usable_cores()
    cores: list[int] = []
    for part in text.split(","):
        ends = _CORES.fullmatch(part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if first > last:
            raise ValueError(f"cores {text!r}: a list such as 0-3,8, or all")
        cores += range(first, last + 1)
    return tuple(cores)


def setting(
    default: Value, about: object, kind: object = None, metavar: object = None, **more: object
) -> Value:
    """Return a field of a match, set by the option of its name with the help text ``about``.

    ``about`` may instead be a tuple of options that together set the field.

    ``group``: begins a group of options with this title; ``shown``: words for a value other than 0;
    ``may_change``: a resumed match may change it; ``read``: converts the value from JSON.
    """
    facts = {"about": about, "kind": kind, "metavar": metavar, **more}
    return field(default=default, metadata=facts)


def _read_engines(items: Iterable[Mapping[str, Any]]) -> tuple[EngineSpec, ...]:
    engines = []
    for item in items:
        options = tuple((key, value) for key, value in item["options"])
        command, builtin = tuple(item["command"]), item.get("builtin", "")
        if builtin:  # the package may have moved since
            method = command[-1] if builtin == "method" else builtin
            command = _builtin_command(builtin, method, options)
        engines.append(EngineSpec(**{**item, "command": command, "options": options}))
    return tuple(engines)


def _check_fields(kind: type, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what JSON says of a dataclass; ValueError if a value is of another kind."""
    for name, said in get_type_hints(kind).items():
        if name in data and said in SIMPLE:
            check_kinds(data, {name: said})
        elif name in data and get_origin(said) is tuple and (item := get_args(said)[0]) in SIMPLE:
            if {*map(type, data[name])} - {item}:
                raise ValueError(f"{name!r} is not a list of its kind")
    return data


def _read_sprt(data: Mapping[str, Any] | None) -> Sprt | None:
    with suppress(SettingsError):  # older versions took any hypotheses
        return Sprt(**_check_fields(Sprt, data)) if data else None
    return None


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Everything that determines a match; equal settings play the same match.

    The metadata of a field describe its option, how it is read from a journal and shown, and
    whether a resumed match may change it.
    """

    # fmt: off
    engines: tuple[EngineSpec, ...] = field(metadata={"read": _read_engines})
    games: int = setting(
        DEFAULT_GAMES, f"games per pair of engines; with --sprt at most {SPRT_GAMES}",
        positive, "N", group="the match", may_change=True)
    gauntlet: bool = setting(False, "the first engine against all others only")
    width: int = setting(15, (SHARED["size"]._replace(
        default="15", about="side of the board, 5 to 22, or WxH"),))
    height: int = 15
    rule: Rule = setting(Rule.FREESTYLE, (SHARED["rule"]._replace(
        default="freestyle",
        about="freestyle, standard, renju, caro, caro-exact, or the protocol's code"),), read=Rule)
    openings: str = setting(
        "balanced", "a file (offsets from the centre or h8i9, one opening per line), balanced, "
        "random (both with :STONES) or none, each played with both colours; or an opening rule "
        f"that the engines play: {', '.join(RULES)}", str, "F")
    opening_lines: tuple[str, ...] = setting((), (), read=tuple)  # of a file, to resume without it
    transform: bool = setting(False, "turn and mirror openings at random")
    seed: int = setting(1, (SHARED["seed"],))
    turn: float = setting(
        DEFAULT_TURN, "seconds per move, unless there is another limit", not_below_zero, "S",
        group="limits", shown="{:g} s a move")
    match: float = setting(
        0.0, "seconds per game and engine", not_below_zero, "S", shown="{:g} s a game")
    increment: float = setting(
        0.0, "seconds added after a move", not_below_zero, "S", shown="{:g} s increment")
    nodes: int = setting(
        0, "nodes per move, sent as max_node", whole, "N", shown="{} nodes a move")
    depth: int = setting(
        0, f"depth of a move, 1 to {MAX_DEPTH}, sent as max_depth", within(1, MAX_DEPTH), "N",
        shown="depth {}")
    memory: int = setting(DEFAULT_MEMORY, (Option(
        "--memory", lambda text: int(not_below_zero(text) * 1024 * 1024), "350", "MB",
        "private memory of an engine and its children; 0: no limit"),))
    tolerance: float = setting(
        1.0, "grace period after the time limit, as in tournaments", not_below_zero, "S")
    patience: float = setting(
        60.0, "longest wait for a move if time is not limited", above_zero, "S")
    start_timeout: float = setting(
        10.0, "longest wait for the OK after START", above_zero, "S")
    draw_after: int = setting(
        0, "end a game as a draw at this many stones", whole, "N",
        group="when games and matches end")
    adjudication: Adjudication = setting(Adjudication(), (
        Option("--resign", integer, None, ("VALUE", "MOVES"),
               "end a game if both engines see the same side ahead by VALUE for MOVES moves "
               "(never)"),
        Option("--draw", integer, None, ("VALUE", "MOVES", "FROM"),
               "end a game as a draw if both engines stay within VALUE of 0 for MOVES moves, from "
               "stone FROM on (never)"),
    ), read=lambda data: Adjudication(**_check_fields(Adjudication, data)))
    sprt: Sprt | None = setting(None, (
        Option("--sprt", number, None, ("ELO0", "ELO1"),
               "stop once a sequential test has decided between the two Elo differences"),
        Option("--sprt-model", tuple(MOST_ELO), "normalised", None, "the kind of Elo in --sprt"),
        Option("--alpha", number, 0.05, "P", "probability of wrongly accepting ELO1"),
        Option("--beta", number, 0.05, "P", "probability of wrongly accepting ELO0"),
    ), read=_read_sprt)
    concurrency: int = setting(1, (SHARED["concurrency"],), group="running it", may_change=True)
    pin: tuple[int, ...] = setting(
        (), "bind each game to its own cores: a list such as 0-3,8, or all",
        parse_cores, "CORES", may_change=True, read=tuple)
    judge: bool = setting(
        False, "as in tournaments: freeze engines after START and between moves, BOARD "
        "first, start-up on the clock, memory checked after each move, stderr read as an answer",
        shown="judged as in tournaments")
    keep: bool = setting(False, "keep engines running from game to game")
    in_process: bool = setting(
        False, "play numoku:... configurations inside this process: no pipes, many games")
    cluster: str = setting("", (SHARED["cluster"],), may_change=True)
    log: str = setting(
        "", "log every dialogue in this folder, one file per game and side",
        lambda text: text and str(Path(text).absolute()), "FOLDER", may_change=True)
    # fmt: on

    def __post_init__(self) -> None:
        for side in (self.width, self.height):
            if not MIN_BOARD <= side <= MAX_BOARD:
                raise SettingsError(f"a board side is {MIN_BOARD} to {MAX_BOARD}, not {side}")
        if len(self.engines) < 2:
            raise SettingsError("a match needs two engines or more")
        if self.in_process and any(engine.builtin != "numoku" for engine in self.engines):
            raise SettingsError("only numoku and numoku:... play in-process")
        if self.in_process and (self.judge or self.log):
            raise SettingsError("--judge and --log are for engines in processes of their own")
        if self.pin and self.cluster:
            raise SettingsError("--pin is for cores of this machine, not of a cluster")
        if opening := self.opening_rule:
            if opening.rule not in (None, self.rule):
                raise SettingsError(f"{opening.title} is played by the rule {opening.rule.label}")
            if self.transform:
                raise SettingsError(
                    f"--transform turns given openings, not those of {opening.title}"
                )
            try:
                OpeningPlay(opening, self.width, self.height)
            except NotationError as error:
                raise SettingsError(str(error)) from None
        if self.sprt and len(self.engines) != 2:
            raise SettingsError("an SPRT compares exactly two engines")
        limits = [
            [engine.number(key, getattr(self, key)) for key in LIMITS] for engine in self.engines
        ]
        if not self.match and not all(map(any, limits)):
            raise SettingsError("no limit: give --turn, --match, --nodes or --depth")

    @property
    def board(self) -> Board:
        """Width, height and rule."""
        return self.width, self.height, self.rule

    @property
    def opening_rule(self) -> OpeningRule | None:
        """The rule by which the engines play the openings, None if openings are given."""
        return None if self.opening_lines else RULES.get(self.openings)

    @property
    def labels(self) -> dict[str, str]:
        """Short names for tables, by name."""
        short = {engine.name: engine.label for engine in self.engines}
        counts = Counter(short.values())
        return {name: label if counts[label] == 1 else name for name, label in short.items()}

    @property
    def draw_stones(self) -> int:
        """The number of stones that ends a game as a draw."""
        cells = self.width * self.height
        if self.draw_after:
            return min(self.draw_after, cells)
        if self.judge and self.rule == Rule.RENJU:
            return max(1, cells - 25)
        return cells

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MatchSettings:
        """Return the settings read from JSON; missing fields have their defaults."""
        values = {}
        _check_fields(cls, data)
        for known in fields(cls):
            if known.name in data:
                read = known.metadata.get("read")
                values[known.name] = read(data[known.name]) if read else data[known.name]
        return cls(**values)


def option_rows(*names: str) -> Iterator[Option | str]:
    """Yield the options of some fields of a match, or of all, with the titles of groups.

    They have no default: the parsed options lack those that were not given.
    """
    for known in fields(MatchSettings):
        facts = known.metadata
        if "about" not in facts or names and known.name not in names:
            continue
        if "group" in facts and not names:
            yield f"{facts['group']}:"
        rows = facts["about"]
        if isinstance(rows, str):
            name = f"--{known.name.replace('_', '-')}"
            rows = [Option(name, facts["kind"], known.default, facts["metavar"], rows)]
        for row in rows:
            yield row._replace(more={"default": SUPPRESS})


def pairs(settings: MatchSettings) -> list[Pair]:
    """Return the pairs of engines that meet: all, or in a gauntlet the first with each other."""
    count = len(settings.engines)
    if settings.gauntlet:
        return [(0, other) for other in range(1, count)]
    return list(combinations(range(count), 2))
