"""The command line of ``numoku match``, and its settings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields, replace

from ..errors import SettingsError
from ..files import user_path
from ..game.opening_rules import RULES
from ..options import SHARED, CommandLine, Option
from ..position.rules import Rule
from .openings import GENERATORS, NONE, read_lines
from .settings import (
    LIMITS,
    SPRT_GAMES,
    Adjudication,
    EngineSpec,
    MatchSettings,
    Sprt,
    format_engine,
    name_apart,
    option_rows,
    parse_engine,
)

NEVER = 1_000_000  # a depth, margin or count that no search reaches

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
    """Return the engine without each of ``A,B,...`` or ``all``; SettingsError if one is unknown."""
    names = list(ITEMS) if items == "all" else list(dict.fromkeys(filter(None, items.split(","))))
    found = []
    for name in names:
        if name not in ITEMS:
            raise SettingsError(f"unknown item {name}; known are {', '.join(ITEMS)}")
        options = {**dict(engine.options), **ITEMS[name]}  # the switch wins
        found.append(parse_engine(f"{name}={format_engine(options)}"))
    return found


VIEWS = ("auto", "live", "plain", "quiet")

EPILOG = """\
engines:
  numoku                      this engine; numoku:threads=2,weights=FILE,nodes=5000 sets options
  random                      random moves
  method:uct                  a textbook method (docs/methods.md)
  path/to/pbrain-engine       a program that speaks the Gomocup protocol; quoted if it has
  "python3 my_engine.py"      spaces or arguments; NAME=COMMAND gives it a name

examples:
  numoku match numoku random --games 4
  numoku match numoku ./pbrain-other --games 100 --turn 0.5 --concurrency 4
  numoku match new=./pbrain-new old=./pbrain-old --turn 0.2 --games 20000 --sprt 0 10
  numoku match numoku --without futility,singular --in-process --nodes 5000 --games 400
  numoku match numoku a b c --gauntlet --judge --rule renju --turn 5 --match 120

The result table gives Elo with its 95 % interval: while the interval contains 0, nothing is
proven yet. Every game is written to a journal; numoku report JOURNAL makes a page of it.
"""


SETTABLE = {row.dest for row in option_rows() if isinstance(row, Option)}
CHANGING = [known.name for known in fields(MatchSettings) if known.metadata.get("may_change")]
COMMAND = CommandLine(
    "numoku match",
    "Play engines against each other and measure their strength.",
    (
        Option("engines", metavar="ENGINE", about="two or more, see below", more={"nargs": "*"}),
        Option("--without", str, "", "A,B,...",
               "play one engine against itself without each of these parts of its search, or all"),
        *option_rows(),
        "records and display:",
        Option("--journal", user_path, None, "FILE",
               "file for the games (a new file in your folder)"),
        Option("--no-journal", None, False, None, "write no journal"),
        Option("--resume", user_path, None, "FILE",
               "continue the match of a journal; these may change, --games only grow: "
               + ", ".join(f"--{name}" for name in CHANGING)),
        SHARED["json"]._replace(about="one JSON document on stdout, progress on stderr"),
        Option("--view", VIEWS, VIEWS[0], None, "show boards, lines or nothing during the match"),
    ),
    EPILOG,
)  # fmt: skip


def settings_of(options: argparse.Namespace) -> MatchSettings:
    """Return the settings for the options; SettingsError if they are invalid."""
    words = vars(options)
    values = {known.name: words[known.name] for known in fields(MatchSettings)
              if known.name in words}  # fmt: skip
    engines = [parse_engine(text) for text in options.engines]
    if options.without:
        engines += without(engines[0], options.without)
        values["gauntlet"] = True
    if "turn" not in values and (
        any(values.get(name) for name in ("match", "nodes", "depth"))
        or all(any(engine.number(key, 0) for key in LIMITS) for engine in engines)
    ):
        values["turn"] = 0.0
    if "size" in words:
        values["width"], values["height"] = words["size"]
    won = zip(("win_value", "win_moves"), words.get("resign", ()), strict=False)
    drawn = zip(("draw_value", "draw_moves", "draw_from"), words.get("draw", ()), strict=False)
    values["adjudication"] = Adjudication(**dict([*won, *drawn]))
    if "sprt" in words:
        names = {"alpha": "alpha", "beta": "beta", "sprt_model": "model"}
        rates = {names[word]: words[word] for word in names if word in words}
        values["sprt"] = Sprt(*words["sprt"], **rates)
        values.setdefault("games", SPRT_GAMES)
    source = values.get("openings", NONE)
    if source in RULES:
        values.setdefault("rule", RULES[source].rule or Rule.FREESTYLE)
    elif source.partition(":")[0] not in GENERATORS:
        values["opening_lines"] = read_lines(source)
    return MatchSettings(**{**values, "engines": name_apart(engines)})


def resumed_settings(settings: MatchSettings, options: argparse.Namespace) -> MatchSettings:
    """Return a journal's settings, with those that a resumed match may change.

    SettingsError if the new number of games would change the numbering.
    """
    changes = {name: value for name, value in vars(options).items() if name in CHANGING}
    if changes.get("cluster"):
        changes.setdefault("pin", ())  # cores of this machine
    games = changes.get("games", settings.games)
    if games < settings.games or games > settings.games and settings.games % 2:
        raise SettingsError("--games of a resumed match can only grow, and from an even number")
    return replace(settings, **changes)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options, those of the match only if given; exit with a message on errors."""
    top = COMMAND.parser()
    options = top.parse_args(argv)
    if options.without and len(options.engines) != 1:
        top.error("--without takes one engine")
    if not (options.resume or options.without) and len(options.engines) < 2:
        top.error("give two engines or more, or --resume FILE (try: numoku random)")
    if options.journal and options.no_journal:
        top.error("--journal and --no-journal exclude each other")
    if options.resume:
        if options.engines:
            top.error("--resume takes the engines from the journal")
        of_the_run = {"engines", "resume", "json", "view", *CHANGING}
        fixed = {name for name, word in vars(options).items() if word or name in SETTABLE}
        if fixed := fixed.difference(of_the_run):
            names = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(fixed))
            top.error(f"--resume excludes {names}: the match continues as it began")
    return options
