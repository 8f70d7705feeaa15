"""``numoku bench``: the speed of the engine, and the signature of its search.

The signature is the number of nodes of fixed positions, to a fixed depth with one thread. It is the
same on every machine, so another number means other play. The last signature is stored in the
kernel's folder and shown by `numoku --version` until a module is edited; a shipped kernel has that
of its build.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from glob import iglob
from time import perf_counter
from typing import NamedTuple

from ..app import view
from ..engine.engine import DEFAULT_WEIGHTS, Engine, Limit
from ..files import Document, write_whole
from ..game.cells import parse_moves
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..native.load.store import PACKAGE, is_shipped, kernel_folder
from ..options import SHARED, CommandLine, Option
from ..position.rules import Rule
from ..search.parameters import MAX_DEPTH
from ..values import format_value

DEPTH = 13
SHORT_DEPTH = 4
TABLE_BYTES = 16 << 20  # fixed, because replaced entries change the nodes
PAIRS = 100_000
PAIR_REPEATS = 15  # a tenth of a second each; the best counts, since other load only slows
FILE = "SIGNATURE"  # in the folder of the kernel


TABLE = """\
freestyle 15 h8i9i7g9
freestyle 15 h9g11i7h7k9j8k8i9h10k10
freestyle 15 k5k9k11k7j9l7l10j8i9h8j7k6k8i6j12i13
freestyle 20 i9j12i13j13j10k15j15k16k14i16l16j17l12k11l14m14l15l13k18f13h15m11
freestyle 20 i14l14m11i12l13j13k14m12i16j15j16i15j11k12h16g16
standard 15 h8h7j8i6
standard 15 e7f11i11j8f9e9e11k10h10f8g7h7j9k9k11l10i7m11n12h11m10k6
standard 15 h5f9g9j8e5h7g8f5i8g6f8g10h11h8h6e7
standard 20 n14i12j11k14l15i14i13h12h14j12
standard 20 n9n10i8m13m11l11m9m8k8j8l9k9h6i6f5h5
renju 15 h8i7j9h10i10
renju 15 e5f8g8e6e9e11f9d9j11h9
renju 15 e11i5k6j5h5j4i6l5k5j6j7k8j2h4g4f3k7k3h6e7g3g6i7h7g5f4f5e6
renju 20 l8i8h8n8e9e6f5g9f11i9i10j9h9j11k10h10j8j12i11m9l9m10
renju 20 j13m9i8l14k11l11j14j16k15i13l12k12i15k13j11j12
caro 15 j9j11e7f5k11k8i5h6g8e10
caro 15 k9h9g5f9e9g11f11k10d7i10g8g7h10i11i8e8
caro 20 h11j9l8h10k10m7n9o8n10n7o7l10j8m9m6p11i11k11i13i12k5p8q8e11p10g13d10p5
caro_exact 15 h7g7j10i9j11k10g5j12k8i11
caro_exact 15 h7h8g10h11i9k9j11j7e9k8g9k10k7g8j8h10
caro_exact 20 k10k12j12l9i14j14h16k16e16f16
caro_exact 20 j14k8i10m13k16l16j11j12k14m14m12l13l14k17o13i14
"""
POSITIONS = tuple(
    GameRecord(int(size), int(size), Rule.parse(rule), tuple(parse_moves(moves, int(size))))
    for rule, size, moves in map(str.split, TABLE.splitlines())
)
SHORT = tuple(next(p for p in POSITIONS if p.rule is rule and p.width == 15) for rule in Rule)

# For timing make and undo: freestyle middle games on 15x15.
PAIR_POSITIONS = tuple(p for p in POSITIONS[1:] if p.rule is Rule.FREESTYLE and p.width == 15)


COMMAND = CommandLine(
    "numoku bench",
    "Search fixed positions in every rule to a fixed depth. The sum of their nodes is the "
    "signature of the search; `pairs` is the number of stones put and taken back per second.",
    (
        "weights", "search", "threads", "json",
        Option("--level", metavar="L", about="instruction set of the kernel: v2, v3 or v4"),
        SHARED["depth"]._replace(about=f"depth in plies, 1 to {MAX_DEPTH} ({DEPTH})"),
        Option("--short", None, False, None,
               f"one position of each rule, to depth {SHORT_DEPTH}, and no pairs"),
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run the bench and print its figures."""
    options = COMMAND.parse(arguments)
    positions = SHORT if options.short else POSITIONS
    limit = Limit(depth=options.depth or (SHORT_DEPTH if options.short else DEPTH))
    given = {"threads": options.threads, "level": options.level, "weights": options.weights}
    with Engine(hash_size=TABLE_BYTES, **given) as engine:
        runs = []
        for position in positions:
            runs.append(run(engine, position, limit))
            if not options.json:
                _show(runs[-1])
        document = summary(engine, runs, limit)
        if not options.short:
            document["pairs"] = pairs_per_second(engine)
        is_signature = limit.depth == DEPTH and options.weights == DEFAULT_WEIGHTS
        if not options.short and is_signature and engine.threads == 1:
            note(engine.weights.key, sum(run.nodes for run in runs))
    if options.json:
        print(json.dumps({**document, "positions": [run._asdict() for run in runs]}))
    else:
        print()
        for name, value in document.items():
            is_quantity = isinstance(value, int) and name != "nodes"  # copied to commits as it is
            print(f"{name:10} {value:,}" if is_quantity else f"{name:10} {value}")
    return 0


class BenchRun(NamedTuple):
    """The figures of one search; ``time`` in seconds."""

    rule: str
    size: int
    stones: int
    nodes: int
    time: float
    depth: int
    value: int
    move: Move


def run(engine: Engine, position: GameRecord, limit: Limit) -> BenchRun:
    """Search one position from an empty table."""
    engine.new_game(*position.board)
    engine.clear_hash()
    engine.game.become(position)
    thought = engine.think(limit)
    rule, seconds = engine.game.rule.name.lower(), round(thought.time, 4)
    return BenchRun(
        rule, position.width, engine.game.ply, thought.nodes, seconds, thought.depth, thought.value,
        thought.move,
    )  # fmt: skip


def _per_second(nodes: int, seconds: float) -> int:
    return round(nodes / max(seconds, 1e-9))


def summary(engine: Engine, runs: list[BenchRun], limit: Limit) -> Document:
    """Return the totals and the conditions of the measurement."""
    nodes = sum(run.nodes for run in runs)
    seconds = sum(run.time for run in runs)
    return {
        "nodes": nodes,
        "nps": _per_second(nodes, seconds),
        "time": round(seconds, 3),
        "depth": limit.depth,
        "threads": engine.threads,
        "level": engine.library.level,
        "kernel": engine.library.digest,
        "weights": engine.weights.key,
        "network": engine.weights.id if engine.weights.streams else None,
    }


def pairs_per_second(engine: Engine) -> int:
    """Return how many stones per second can be put and taken back, with all state updated."""
    games = []
    for position in PAIR_POSITIONS:
        game = Game(*position.board, library=engine.library, weights=engine.weights)
        game.become(position)
        games.append(game)
    speeds = []
    for _ in range(PAIR_REPEATS):
        began = perf_counter()
        pairs = sum(engine.library.game_pairs(game.address, game.tables, PAIRS) for game in games)
        speeds.append(pairs / (perf_counter() - began))
    return round(max(speeds))


def _show(run: BenchRun) -> None:
    speed = view.format_count(_per_second(run.nodes, run.time))
    print(
        f"{run.rule:10} {run.size}x{run.size} {run.stones:3} stones {run.nodes:10,} nodes "
        f"{run.time:7.2f} s {speed:>7}/s  value {format_value(run.value)}",
        flush=True,
    )


# The last signature ----------------------------------------------------------------------


def note(weights: str, nodes: int) -> None:
    """Store the signature measured with some weights, if the kernel's folder can be written."""
    try:
        if not is_shipped():
            from pathlib import Path  # saves 10 ms at start

            write_whole(Path(kernel_folder(), FILE), line(weights, nodes))
    except OSError:  # a read-only installation
        pass


def line(weights: str, nodes: int) -> str:
    """Return the contents of the signature file."""
    return f"{nodes} {weights}\n"


def recall(weights: str) -> int | None:
    """Return the stored signature for these weights, or None if it is missing or outdated."""
    try:
        path = os.path.join(kernel_folder(), FILE)
        with open(path, encoding="ascii") as file:
            nodes, _, measured_with = file.read().strip().partition(" ")
        modules = iglob(os.path.join(PACKAGE, "**", "*.py"), recursive=True)
        is_known = is_shipped() or max(map(os.path.getmtime, modules)) <= os.path.getmtime(path)
        return int(nodes) if is_known and measured_with == weights else None
    except (OSError, ValueError):  # missing or damaged
        return None
