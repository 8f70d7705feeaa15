"""The command line of ``numoku match``: from words to settings."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..options import Parser, above_zero, add_value, add_view, not_below_zero, positive, whole
from .openings import GENERATORS, read_lines
from .processes import usable_cores
from .settings import (
    DEFAULT_TURN,
    MOST_ELO,
    Adjudication,
    EngineSpec,
    MatchSettings,
    SettingsError,
    Sprt,
    name_apart,
    parse_board,
    parse_engine,
    parse_rule,
)

NEVER = 1_000_000  # a depth, margin or count that no search comes to

ITEMS: dict[str, dict[str, int | str]] = {
    "futility": {"futility_depth": 0},
    "razoring": {"razor_depth": 0},
    "count-pruning": {"count_base": NEVER},
    "count-pv": {"count_pv": NEVER},
    "shaped-moves": {"shaped_depth": 0},
    "reductions": {"reduction_base": -NEVER},
    "reduction-pv": {"reduction_pv": 0},
    "reduction-worse": {"reduction_worse": 0},
    "reduction-cut": {"reduction_cut": 0},
    "reduction-history": {"reduction_history": NEVER},
    "reduction-threat": {"reduction_threat": 0},
    "fail-high": {"fail_high_margin": -NEVER},
    "block-extension": {"extend_block": 0},
    "singular": {"singular_depth": NEVER},
    "stale-table": {"stale_pv": 0},
    "no-table-move": {"no_move_pv": 0},
    "alpha-raise": {"alpha_raise": 0},
    "aspiration": {"aspiration": NEVER},
    "delta": {"delta": NEVER},
    "history": {"history_bonus": 0},
    "counter-move": {"counter_score": 0},
    "solver": {"threat_share": 0},
    "policy": {"policy_depth": NEVER},
    "policy-reduction": {"policy_reduce": 0},
    "network-margin": {"network_margin": NEVER},
    "network": {"weights": "learned"},
    "learned-weights": {"weights": "hand"},
}


def without(engine: EngineSpec, items: str) -> list[EngineSpec]:
    """Return the engine without each of these items in turn, ``A,B,...`` or ``all``.

    Raises:
        SettingsError: there is no such item.
    """
    names = list(ITEMS) if items == "all" else list(dict.fromkeys(filter(None, items.split(","))))
    found = []
    for name in names:
        if name not in ITEMS:
            raise SettingsError(f"there is no item {name}; there are {', '.join(ITEMS)}")
        options = {**dict(engine.options), **ITEMS[name]}  # the switch wins
        words = ",".join(f"{key}={value}" for key, value in options.items())
        found.append(parse_engine(f"{name}=numoku:{words}"))
    return found


DEFAULT_GAMES = 10
SPRT_GAMES = 40_000  # enough for any test to decide

# Settings that are what the option of their name says.
TAKEN_OVER = (
    "gauntlet", "match", "increment", "tolerance", "patience", "start_timeout", "nodes", "depth",
    "openings", "transform", "seed", "draw_after", "judge", "in_process", "keep",
)  # fmt: skip

# What may be said of a match that goes on; the engines are looked at by themselves.
MAY_CHANGE = {
    "engines", "resume", "games", "concurrency", "pin", "cluster", "log", "json", "view",
}  # fmt: skip

_CORES = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")

EPILOG = """\
engines:
  numoku                      this engine; numoku:threads=2,weights=FILE,nodes=5000 sets options
  random                      random moves
  method:uct                  a method of the textbooks (docs/methods.md)
  path/to/pbrain-engine       a program that speaks the Gomocup protocol; with blanks or
  "python3 my_engine.py"      arguments in quotes; NAME=COMMAND gives it a name

examples:
  numoku match numoku random --games 4
  numoku match numoku ./pbrain-other --games 100 --turn 0.5 --concurrency 4
  numoku match new=./pbrain-new old=./pbrain-old --turn 0.2 --games 20000 --sprt 0 10
  numoku match numoku --without futility,singular --in-process --nodes 5000 --games 400
  numoku match numoku a b c --gauntlet --judge --rule renju --turn 5 --match 120

The result table gives Elo with its 95 % interval: while the interval holds 0, nothing is
shown yet. Every game is written to a journal; numoku report JOURNAL makes a page of it.
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``numoku match``."""
    top = Parser(
        prog="numoku match",
        description="Play engines against each other and measure their strength.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("engines", nargs="*", metavar="ENGINE", help="two or more, see below")
    _add_match(top.add_argument_group("the match"))
    _add_limits(top.add_argument_group("limits"))
    _add_ending(top.add_argument_group("when games and matches end"))
    _add_running(top.add_argument_group("running it"))
    _add_output(top.add_argument_group("records and display"))
    return top


def _add_match(group: argparse._ArgumentGroup) -> None:
    add, value = group.add_argument, partial(add_value, group)
    usual = f"games per pair of engines ({DEFAULT_GAMES}; at most {SPRT_GAMES} with --sprt)"
    value("--games", positive, None, "N", usual)
    add("--gauntlet", action="store_true", help="the first engine against all others only")
    switched = "the engine against itself without each of these parts of its search, or all"
    value("--without", str, None, "A,B,...", switched)
    size = "side of the board, 5 to 22, or WxH (15)"
    add("--board", "--size", default="15", metavar="N", help=size)
    rules = "freestyle, standard, renju, caro, caro-exact, or the protocol's code"
    add("--rule", default="freestyle", metavar="R", help=rules)
    openings = (
        "a file (offsets from the centre or h8i9, one opening a line), or balanced, random "
        "(both with :STONES), none; each opening is played with both colours (balanced:5)"
    )
    add("--openings", default="balanced", metavar="F", help=openings)
    add("--transform", action="store_true", help="turn and mirror openings at random")
    value("--seed", int, 1, "N", "of everything random")


def _add_limits(group: argparse._ArgumentGroup) -> None:
    add = partial(add_value, group)
    usual = f"seconds a move ({DEFAULT_TURN:g} if no limit)"
    add("--turn", not_below_zero, None, "S", usual)
    add("--match", not_below_zero, 0.0, "S", "seconds a game and engine")
    add("--increment", not_below_zero, 0.0, "S", "seconds added after a move")
    add("--nodes", whole, 0, "N", "nodes a move, sent as max_node")
    add("--depth", whole, 0, "N", "depth of a move, sent as max_depth")
    memory = "private memory of an engine and its children; 0: not limited"
    add("--memory", not_below_zero, 350, "MB", memory)
    late = "an answer is late after the limit plus this (1, as in tournaments)"
    group.add_argument("--tolerance", type=not_below_zero, default=1.0, metavar="S", help=late)
    add("--patience", above_zero, 60.0, "S", "how long a move is awaited where time is not limited")
    add("--start-timeout", above_zero, 10.0, "S", "how long the OK after START is awaited")


def _add_ending(group: argparse._ArgumentGroup) -> None:
    add, value = group.add_argument, partial(add_value, group)
    value("--draw-after", whole, 0, "N", "a draw at this many stones")
    won = "end a game that both engines call won by this for that many moves (never)"
    add("--resign", nargs=2, type=int, metavar=("VALUE", "MOVES"), help=won)
    drawn = "call it a draw where both stay this close to 0 from that stone on (never)"
    add("--draw", nargs=3, type=int, metavar=("VALUE", "MOVES", "FROM"), help=drawn)
    test = "stop when it is decided which of the two differences is the likelier"
    add("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"), help=test)
    model = "the Elo that --sprt means (normalised)"
    add("--sprt-model", choices=("normalised", "logistic"), default="normalised", help=model)
    value("--alpha", float, 0.05, "P", "how often ELO1 is accepted wrongly")
    value("--beta", float, 0.05, "P", "how often ELO0 is accepted wrongly")


def _add_running(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--concurrency", type=positive, metavar="N", help="games at the same time (1)")
    pin = "bind each game to cores of its own: a list such as 0-3,8, or all"
    add("--pin", metavar="CORES", help=pin)
    judged = (
        "as the tournament does: freeze engines after START and between moves, BOARD first, "
        "start-up on the clock, memory checked after each move, stderr read as an answer"
    )
    add("--judge", action="store_true", help=judged)
    add("--keep", action="store_true", help="keep engines running from game to game")
    inside = "play numoku:... configurations inside this process: no pipes, many games"
    add("--in-process", action="store_true", help=inside)
    cluster = "play the games on a Dask cluster, such as tcp://host:8786"
    add("--cluster", metavar="ADDRESS", help=cluster)


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--journal", metavar="FILE", help="where the games are written (a new file of your own)")
    add("--no-journal", action="store_true", help="write no journal")
    resume = (
        "continue the match of a journal; --games may grow, --concurrency, --pin, --cluster "
        "and --log may change"
    )
    add("--resume", metavar="FILE", help=resume)
    add("--log", metavar="FOLDER", help="write what engines hear and answer, a file each")
    add("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    add_view(group)


def settings_of(options: argparse.Namespace) -> MatchSettings:
    """Return the settings that the options ask for.

    Raises:
        SettingsError: they cannot be played.
    """
    width, height = parse_board(options.board)
    turn = options.turn
    engines = [parse_engine(text) for text in options.engines]
    if options.without:
        engines += without(engines[0], options.without)
        options.gauntlet = True
    if turn is None:
        limited = options.match or options.nodes or options.depth
        turn = 0.0 if limited or all(e.limits_itself for e in engines) else DEFAULT_TURN
    is_generated = options.openings.partition(":")[0] in GENERATORS
    return MatchSettings(
        engines=name_apart(engines),
        games=options.games or (SPRT_GAMES if options.sprt else DEFAULT_GAMES),
        width=width,
        height=height,
        rule=parse_rule(options.rule),
        turn=turn,
        memory=int(options.memory * 1024 * 1024),
        opening_lines=() if is_generated else read_lines(options.openings),
        adjudication=_adjudication(options),
        sprt=_sprt(options),
        concurrency=1 if options.concurrency is None else options.concurrency,
        pin=parse_cores(options.pin or ""),
        cluster=options.cluster or "",
        log=str(Path(options.log).absolute()) if options.log else "",
        **{name: getattr(options, name) for name in TAKEN_OVER},
    )


def resumed_settings(settings: MatchSettings, options: argparse.Namespace) -> MatchSettings:
    """Return a journal's settings with what the options may change when a match goes on.

    Raises:
        SettingsError: the games cannot be numbered on.
    """
    readers: dict[str, Callable[[Any], Any]] = {
        "concurrency": int, "pin": parse_cores, "cluster": str,
        "log": lambda folder: str(Path(folder).absolute()),
    }  # fmt: skip
    given = {name: getattr(options, name) for name in readers}
    changes = {name: readers[name](word) for name, word in given.items() if word is not None}
    if changes.get("cluster"):
        changes.setdefault("pin", ())  # cores of this machine
    if options.games is not None and options.games != settings.games:
        if options.games < settings.games or settings.games % 2:
            raise SettingsError("--games can only grow, and from an even number, in a match")
        changes["games"] = options.games
    return replace(settings, **changes)


def parse_cores(text: str) -> tuple[int, ...]:
    """Return the cores of ``0-3,8``; all that this process may use for ``all``."""
    if not text:
        return ()
    if text == "all":
        return usable_cores()
    cores: list[int] = []
    for part in text.split(","):
        ends = _CORES.fullmatch(part)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if first > last:
            raise SettingsError(f"cores {text!r}: a list such as 0-3,8, or all")
        cores += range(first, last + 1)
    return tuple(cores)


def _adjudication(options: argparse.Namespace) -> Adjudication:
    values: dict[str, int] = {}
    if options.resign:
        values.update(win_value=options.resign[0], win_moves=max(1, options.resign[1]))
    if options.draw:
        value, moves, start = options.draw
        values.update(draw_value=value, draw_moves=max(1, moves), draw_from=start)
    return Adjudication(**values)


def _sprt(options: argparse.Namespace) -> Sprt | None:
    if not options.sprt:
        return None
    elo0, elo1 = options.sprt
    rates = options.alpha, options.beta
    test = Sprt(elo0, elo1, *rates, model=options.sprt_model)
    if not test.makes_sense:
        most = MOST_ELO[options.sprt_model]
        raise SettingsError(
            f"--sprt takes ELO0 below ELO1, {options.sprt_model} ones from {-most:g} to {most:g}; "
            "--alpha and --beta lie in 0 to 0.5"
        )
    return test


def given_options(argv: Sequence[str] | None) -> set[str]:
    """Return the names of the options that stand on the command line."""
    top = parser()
    absent = object()  # what is there already gives way to words alone, not to what is usual
    options = argparse.Namespace(**dict.fromkeys(vars(top.parse_args([])), absent))
    return {
        name for name, word in vars(top.parse_args(argv, options)).items() if word is not absent
    }


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options; exits with a message where they make no sense."""
    top = parser()
    options = top.parse_args(argv)
    if options.without and len(options.engines) != 1:
        top.error("--without takes one engine")
    if not (options.resume or options.without) and len(options.engines) < 2:
        top.error("give two engines or more, or --resume FILE (try: numoku random)")
    if options.resume and options.engines:
        top.error("--resume takes the engines from the journal")
    fixed = given_options(argv) - MAY_CHANGE if options.resume else ()
    if fixed:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(fixed))
        top.error(f"--resume goes without {names}: the match goes on as it began")
    if options.resume and not Path(options.resume).is_file():
        top.error(f"there is no journal {options.resume}")
    return options
