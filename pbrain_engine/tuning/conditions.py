"""The options of ``tune`` and ``ablate`` that say under which conditions games are played."""

from __future__ import annotations

import argparse
from typing import Any

from ..arena.commands.arguments import is_generator
from ..arena.openings import read_lines
from ..arena.settings import parse_board, parse_rule
from ..options import not_below_zero, positive, whole

DEFAULT_NODES = 5000


def add_conditions(parser: argparse.ArgumentParser, games: int, *, each: str, seed: str) -> None:
    """Add the options; ``games`` is the default, ``each`` and ``seed`` what these two count for."""
    add = parser.add_argument
    add("--games", type=positive, default=games, metavar="N", help=f"{each} ({games})")
    add("--nodes", type=whole, metavar="N", help=f"nodes a move ({DEFAULT_NODES} without --turn)")
    add("--turn", type=not_below_zero, default=0.0, metavar="S", help="seconds a move")
    add("--rule", default="freestyle", metavar="R", help="name or code of the rule (freestyle)")
    add("--board", "--size", default="15", metavar="N", help="side of the board, or WxH (15)")
    add("--openings", default="balanced", metavar="F", help="as in numoku match (balanced)")
    add("--seed", type=int, default=1, metavar="N", help=f"of {seed} (1)")
    add("--concurrency", type=positive, default=1, metavar="N", help="games at the same time (1)")


def conditions_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of ``MatchSettings`` that the options ask for.

    Raises:
        SettingsError: they make no sense.
    """
    width, height = parse_board(options.board)
    nodes = options.nodes if options.nodes is not None or options.turn else DEFAULT_NODES
    lines = () if is_generator(options.openings) else read_lines(options.openings)
    return {
        "games": options.games,
        "width": width,
        "height": height,
        "rule": parse_rule(options.rule),
        "turn": options.turn,
        "nodes": nodes or 0,
        "openings": options.openings,
        "opening_lines": lines,
        "seed": options.seed,
        "concurrency": options.concurrency,
    }
