"""The command line of ``numoku match``: from words to settings.

An option that is called as a field of the settings holds the value of that field.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from ..options import (
    SHARED,
    CommandLine,
    Option,
    above_zero,
    integer,
    not_below_zero,
    number,
    positive,
    whole,
)
from .openings import GENERATORS, read_lines
from .processes import usable_cores
from .settings import (
    DEFAULT_TURN,
    LIMITS,
    MOST_ELO,
    Adjudication,
    EngineSpec,
    MatchSettings,
    SettingsError,
    Sprt,
    format_engine,
    name_apart,
    parse_engine,
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
        found.append(parse_engine(f"{name}={format_engine(options)}"))
    return found


DEFAULT_GAMES = 10
SPRT_GAMES = 40_000  # enough for any test to decide
VIEWS = ("auto", "live", "plain", "quiet")

# What a match that goes on may do otherwise, beside the number of its games, and what is not its.
MAY_CHANGE = ("concurrency", "pin", "cluster", "log")
NOT_OF_THE_MATCH = ("engines", "resume", "games", "json", "view")

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


BEGINNING = (  # of a match: what tuning asks for, too
    SHARED["size"]._replace(default="15", about="side of the board, 5 to 22, or WxH"),
    SHARED["rule"]._replace(
        default="freestyle",
        about="freestyle, standard, renju, caro, caro-exact, or the protocol's code",
    ),
    Option("--openings", str, "balanced", "F",
           "a file (offsets from the centre or h8i9, one opening a line), or balanced, random "
           "(both with :STONES), none; each opening is played with both colours"),
    SHARED["seed"],
)  # fmt: skip


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


COMMAND = CommandLine(
    "numoku match",
    "Play engines against each other and measure their strength.",
    (
        Option("engines", metavar="ENGINE", about="two or more, see below", more={"nargs": "*"}),
        "the match:",
        Option("--games", positive, None, "N",
               f"games per pair of engines ({DEFAULT_GAMES}; at most {SPRT_GAMES} with --sprt)"),
        Option("--gauntlet", None, False, None, "the first engine against all others only"),
        Option("--without", str, "", "A,B,...",
               "the engine against itself without each of these parts of its search, or all"),
        *BEGINNING,
        Option("--transform", None, False, None, "turn and mirror openings at random"),
        "limits:",
        SHARED["turn"]._replace(
            default=None, about=f"seconds a move ({DEFAULT_TURN:g} if no limit)"
        ),
        Option("--match", not_below_zero, 0.0, "S", "seconds a game and engine"),
        Option("--increment", not_below_zero, 0.0, "S", "seconds added after a move"),
        Option("--nodes", whole, 0, "N", "nodes a move, sent as max_node"),
        Option("--depth", whole, 0, "N", "depth of a move, sent as max_depth"),
        Option("--memory", lambda text: int(not_below_zero(text) * 1024 * 1024), "350", "MB",
               "private memory of an engine and its children; 0: not limited"),
        Option("--tolerance", not_below_zero, 1.0, "S",
               "an answer is late after the limit plus this, as in tournaments"),
        Option("--patience", above_zero, 60.0, "S",
               "how long a move is awaited where time is not limited"),
        Option("--start-timeout", above_zero, 10.0, "S",
               "how long the OK after START is awaited"),
        "when games and matches end:",
        Option("--draw-after", whole, 0, "N", "a draw at this many stones"),
        Option("--resign", integer, None, ("VALUE", "MOVES"),
               "end a game that both engines call won by this for that many moves (never)"),
        Option("--draw", integer, None, ("VALUE", "MOVES", "FROM"),
               "call it a draw where both stay this close to 0 from that stone on (never)"),
        Option("--sprt", number, None, ("ELO0", "ELO1"),
               "stop when it is decided which of the two differences is the likelier"),
        Option("--sprt-model", tuple(MOST_ELO), "normalised", None, "the Elo that --sprt means"),
        Option("--alpha", number, 0.05, "P", "how often ELO1 is accepted wrongly"),
        Option("--beta", number, 0.05, "P", "how often ELO0 is accepted wrongly"),
        "running it:",
        "concurrency",
        Option("--pin", parse_cores, (), "CORES",
               "bind each game to cores of its own: a list such as 0-3,8, or all"),
        Option("--judge", None, False, None,
               "as the tournament does: freeze engines after START and between moves, BOARD "
               "first, start-up on the clock, memory checked after each move, stderr read as an "
               "answer"),
        Option("--keep", None, False, None, "keep engines running from game to game"),
        Option("--in-process", None, False, None,
               "play numoku:... configurations inside this process: no pipes, many games"),
        SHARED["cluster"]._replace(default=""),
        "records and display:",
        Option("--journal", Path, None, "FILE",
               "where the games are written (a new file of your own)"),
        Option("--no-journal", None, False, None, "write no journal"),
        Option("--resume", Path, None, "FILE",
               "continue the match of a journal; --games may grow, --concurrency, --pin, "
               "--cluster and --log may change"),
        Option("--log", lambda text: text and str(Path(text).absolute()), "", "FOLDER",
               "write what engines hear and answer, a file each"),
        SHARED["json"]._replace(about="one JSON document on stdout, progress on stderr"),
        Option("--view", VIEWS, VIEWS[0], None, "boards, lines or nothing while it runs"),
    ),
    EPILOG,
)  # fmt: skip


def settings_of(options: argparse.Namespace) -> MatchSettings:
    """Return the settings that the options ask for.

    Raises:
        SettingsError: they cannot be played.
    """
    words = vars(options)
    values = {
        field.name: words[field.name] for field in fields(MatchSettings) if field.name in words
    }
    engines = [parse_engine(text) for text in options.engines]
    if options.without:
        engines += without(engines[0], options.without)
        values["gauntlet"] = True
    if options.turn is None:
        limited = options.match or options.nodes or options.depth
        limited = limited or all(any(engine.number(key, 0) for key in LIMITS) for engine in engines)
        values["turn"] = 0.0 if limited else DEFAULT_TURN
    won = zip(("win_value", "win_moves"), options.resign or (), strict=False)
    drawn = zip(("draw_value", "draw_moves", "draw_from"), options.draw or (), strict=False)
    test = [*(options.sprt or ()), options.alpha, options.beta, options.sprt_model]
    is_generated = options.openings.partition(":")[0] in GENERATORS
    values.update(
        engines=name_apart(engines),
        games=options.games or (SPRT_GAMES if options.sprt else DEFAULT_GAMES),
        width=options.size[0],
        height=options.size[1],
        opening_lines=() if is_generated else read_lines(options.openings),
        adjudication=Adjudication(**dict([*won, *drawn])),
        sprt=Sprt(*test) if options.sprt else None,
    )
    return MatchSettings(**values)


def resumed_settings(settings: MatchSettings, options: argparse.Namespace) -> MatchSettings:
    """Return a journal's settings with what the options may change when a match goes on.

    Raises:
        SettingsError: the games cannot be numbered on.
    """
    changes = {name: getattr(options, name) for name in MAY_CHANGE if name in options.given}
    if changes.get("cluster"):
        changes.setdefault("pin", ())  # cores of this machine
    if options.games is not None and options.games != settings.games:
        if options.games < settings.games or settings.games % 2:
            raise SettingsError("--games can only grow, and from an even number, in a match")
        changes["games"] = options.games
    return replace(settings, **changes)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options, with those ``given`` by words; exits with a message on nonsense."""
    top = COMMAND.parser()
    options = top.parse_args(argv)
    absent = object()  # what is there already gives way to words alone, not to what is usual
    blank = argparse.Namespace(**dict.fromkeys(vars(options), absent))
    words = vars(top.parse_args(argv, blank))
    options.given = {name for name, word in words.items() if word is not absent}
    if options.without and len(options.engines) != 1:
        top.error("--without takes one engine")
    if not (options.resume or options.without) and len(options.engines) < 2:
        top.error("give two engines or more, or --resume FILE (try: numoku random)")
    if options.resume:
        if options.engines:
            top.error("--resume takes the engines from the journal")
        if fixed := options.given.difference(MAY_CHANGE, NOT_OF_THE_MATCH):
            names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(fixed))
            top.error(f"--resume goes without {names}: the match goes on as it began")
        if not options.resume.is_file():
            top.error(f"there is no journal {options.resume}")
    return options
