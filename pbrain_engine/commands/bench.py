"""``numoku bench``: how fast the engine is, and a signature of everything it decides.

The signature is the number of nodes that fixed positions take to a fixed depth with one
thread. It is the same on every machine, so a change of it is a change of play.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from ..engine.engine import DEFAULT_WEIGHTS, MCTS, Engine, Limit
from ..game.game import Game
from ..notation.cells import parse_moves
from ..options import Parser, positive
from ..position.rules import Rule
from ..values import format_value
from . import setup, signature, view
from .bench_positions import PAIR_POSITIONS, POSITIONS, SHORT, BenchPosition

DEPTH = 13
SHORT_DEPTH = 4
VISITS = 4000  # of a Monte Carlo search
SHORT_VISITS = 60
TABLE_BYTES = 16 << 20  # fixed, because what the table forgets changes the nodes
PAIR_ROUNDS = 1000
PAIR_REPEATS = 5


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku bench",
        description="Search fixed positions in every rule to a fixed depth. The sum of their "
        "nodes is the signature of the search; `pairs` are stones put and taken back a second.",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    parser.add_argument("--level", help="instruction set of the kernel: v2, v3 or v4")
    parser.add_argument("--depth", type=positive, help=f"depth in plies (default: {DEPTH})")
    parser.add_argument(
        "--weights", default=DEFAULT_WEIGHTS, metavar="W", help="built-in name or file"
    )
    setup.add_search_option(parser)
    parser.add_argument("--visits", type=positive, help=f"of a mcts search (default: {VISITS})")
    parser.add_argument("--threads", type=positive, default=1, help="more than one: no signature")
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"one position of each rule, to depth {SHORT_DEPTH} or with {SHORT_VISITS} visits, "
        "and no pairs",
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the bench and print its figures."""
    options = make_parser().parse_args(arguments)
    positions = SHORT if options.short else POSITIONS
    limit, told = limit_of(options)
    with Engine(
        hash_size=TABLE_BYTES,
        threads=options.threads,
        level=options.level,
        weights=options.weights,
        search=options.search,
    ) as engine:
        runs = []
        for position in positions:
            runs.append(run(engine, position, limit))
            if not options.json:
                print(run_line(runs[-1]), flush=True)
        document = summary(engine, runs, told)
        if not options.short:
            document["pairs"] = pairs_per_second(engine)
        is_signature = limit.depth == DEPTH and options.weights == DEFAULT_WEIGHTS
        if not options.short and is_signature and engine.threads == 1:
            signature.note(engine.weights.key, document["nodes"])
    if options.json:
        print(json.dumps({**document, "positions": runs}))
    else:
        print()
        print("\n".join(f"{name:10} {figure(value)}" for name, value in document.items()))
    return 0


def limit_of(options: argparse.Namespace) -> tuple[Limit, dict[str, Any]]:
    """Return the limit of each search, and how it is told."""
    if options.search == MCTS:
        visits = options.visits or (SHORT_VISITS if options.short else VISITS)
        return Limit(nodes=visits), {"search": MCTS}
    depth = options.depth or (SHORT_DEPTH if options.short else DEPTH)
    return Limit(depth=depth), {"depth": depth}


def run(engine: Engine, position: BenchPosition, limit: Limit) -> dict[str, Any]:
    """Search one position from an empty table; return what it took."""
    engine.new_game(position.size, rule=position.rule)
    engine.clear_hash()
    for move in parse_moves(position.moves, position.size):
        engine.play(*move)
    thought = engine.think(limit)
    return {
        "rule": position.rule.name.lower(),
        "size": position.size,
        "stones": engine.game.ply,
        "nodes": thought.nodes,
        **({"visits": thought.visits} if engine.search == MCTS else {}),
        "time": round(thought.time, 4),
        "depth": thought.depth,
        "value": thought.value,
        "move": list(thought.move),
    }


def summary(engine: Engine, runs: list[dict[str, Any]], told: dict[str, Any]) -> dict[str, Any]:
    """Return the sums, and what they were measured with; ``told``: search and limit."""
    nodes = sum(run["nodes"] for run in runs)
    seconds = sum(run["time"] for run in runs)
    document = {"nodes": nodes, "nps": round(nodes / max(seconds, 1e-9))}
    if engine.search == MCTS:
        visits = sum(run["visits"] for run in runs)
        document["visits"] = visits
        document["visits_per_second"] = round(visits / max(seconds, 1e-9))
    return {
        **document,
        "time": round(seconds, 3),
        **told,
        "threads": engine.threads,
        "level": engine.library.level,
        "kernel": engine.library.digest,
        "weights": engine.weights.key,
        "network": engine.weights.id if engine.weights.streams else None,
    }


def pairs_per_second(engine: Engine) -> int:
    """Return how many stones a second can be put and taken back, all state kept up to date."""
    games = []
    for position in PAIR_POSITIONS:
        game = Game(
            position.size, rule=Rule.FREESTYLE, library=engine.library, weights=engine.weights
        )
        for move in parse_moves(position.moves, position.size):
            game.play(*move)
        games.append(game)
    speeds = []
    for _ in range(PAIR_REPEATS):
        began = perf_counter()
        pairs = sum(
            engine.library.game_pairs(game.address, game.tables, PAIR_ROUNDS) for game in games
        )
        speeds.append(pairs / (perf_counter() - began))
    return round(sorted(speeds)[PAIR_REPEATS // 2])


def run_line(run: dict[str, Any]) -> str:
    """Return one line about a position."""
    speed = view.format_count(run["nodes"] / max(run["time"], 1e-9))
    return (
        f"{run['rule']:10} {run['size']}x{run['size']} {run['stones']:3} stones "
        f"{run['nodes']:10,} nodes {run['time']:7.2f} s {speed:>7}/s  "
        f"value {format_value(run['value'])}"
    )


def figure(value: Any) -> str:
    """Return a figure with its thousands apart."""
    return f"{value:,}" if isinstance(value, int) else str(value)
