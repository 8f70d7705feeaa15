"""Measure the solver on the puzzle files: how many it solves, with how many nodes, how fast.

``python -m lab.measure_threats --set vcf --sample 200 --limit 1 --out FILE``. The oracle replays
every claimed win. With ``--out`` a run can be interrupted and continued.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import thread_time
from typing import Any

from lab import Journal
from pbrain_engine.commands.solve import game_of
from pbrain_engine.game.game import Game
from pbrain_engine.game.result import Result
from pbrain_engine.solver import Solver
from tests.oracle.replay import complaint_about_line, complaint_about_tree
from tests.oracle.rules import board_of
from tests.puzzles import DATA

# Name of a set: its file, and the kind of search.
SETS: dict[str, tuple[str, str]] = {
    "vcf": ("vcf", "fours"),
    "vcf-long": ("vcf", "fours"),
    "vcf-freestyle": ("vcf_freestyle", "fours"),
    "vcf-standard": ("vcf_standard", "fours"),
    "no-vcf": ("novcf", "fours"),
    "defend": ("defend", "rescues"),
    "vct": ("vct", "threats"),
    "vct-open": ("vct", "threats"),
    "quintet": ("vct", "threats"),
    "win": ("win", "threats"),
    "win-open": ("win", "threats"),
    "no-vcf-vct": ("novcf", "threats"),
}
LONG = 15  # winner's stones of a long win by fours


def belongs(name: str, puzzle: dict[str, Any]) -> bool:
    """Return whether a puzzle of a file belongs to a set."""
    proven = puzzle.get("source") == "quintet" or "quintet" in puzzle["id"]
    if name == "quintet":
        return proven
    if name == "vcf-long":
        return (puzzle.get("own_moves") or 0) >= LONG
    if name in ("vct", "win"):
        return bool(puzzle.get("verified")) and not proven
    if name in ("vct-open", "win-open"):
        return not puzzle.get("verified") and not proven
    return True


def puzzles_of(name: str, sample: int, seed: int) -> list[dict[str, Any]]:
    """Return a reproducible random sample of a set."""
    with (DATA / f"puzzles_{SETS[name][0]}.jsonl").open(encoding="utf-8") as file:
        puzzles = [puzzle for puzzle in map(json.loads, file) if belongs(name, puzzle)]
    if sample and sample < len(puzzles):
        puzzles = random.Random(seed).sample(puzzles, sample)
    return puzzles


def complaint(solver: Solver, puzzle: dict[str, Any], game: Game, proof: Result) -> str:
    """Return the oracle's objection to a win, or an empty string."""
    board = board_of(puzzle["size"], puzzle["rule"], puzzle["black"], puzzle["white"])
    side = 0 if puzzle["to_move"] == "black" else 1
    if proof.claim == "vcf":
        return complaint_about_line(board, side, proof.line)
    tree = solver.tree(game)
    return complaint_about_tree(board, side, tree) if tree else "no tree"


def ask(solver: Solver, question: str, puzzle: dict[str, Any], options: Any) -> dict[str, Any]:
    """Solve one puzzle and return its record."""
    game = game_of(puzzle)
    start = thread_time()
    record: dict[str, Any] = {"id": puzzle["id"]}
    if question == "rescues":
        rescue = solver.rescues(game, time=options.limit, nodes=options.nodes)
        record["claim"] = "open" if rescue.unknown else "defend"
        record["nodes"] = rescue.nodes
        expected = {tuple(move) for move in puzzle["best"]}
        record["missing"] = len(expected - set(rescue.moves))
        record["loses"] = len(set(rescue.moves) - expected)
        record["found"] = not record["missing"] and not record["loses"] and not rescue.unknown
    else:
        search = solver.fours if question == "fours" else solver.threats
        proof = search(game, time=options.limit, nodes=options.nodes)
        record["claim"], record["nodes"], record["length"] = proof.claim, proof.nodes, proof.length
        record["found"] = proof.wins
        record["search_ms"] = proof.time * 1000
        record["known"] = puzzle.get("own_moves") or puzzle.get("vct_attacks")
    record["ms"] = (thread_time() - start) * 1000
    if question != "rescues" and record["found"] and options.check:
        record["fault"] = complaint(solver, puzzle, game, proof)
    return record


def quantile(values: Sequence[float], part: float) -> float:
    """Return a quantile of the values, 0.0 without any."""
    return sorted(values)[min(int(len(values) * part), len(values) - 1)] if values else 0.0


def summary(name: str, records: list[dict[str, Any]]) -> str:
    """Return a table row: set, puzzles, found, median and 90 % of nodes and ms of the found."""
    found = [record for record in records if record["found"]]
    basis = found if name not in ("no-vcf", "no-vcf-vct") else records
    nodes = [record["nodes"] for record in basis]
    times = [record["ms"] for record in basis]
    claims = dict(Counter(record["claim"] for record in records))
    faults = [record for record in records if record.get("fault")]
    return (
        f"| {name} | {len(records)} | {len(found)} ({100 * len(found) / len(records):.1f} %) "
        f"| {quantile(nodes, 0.5):.0f} | {quantile(nodes, 0.9):.0f} "
        f"| {quantile(times, 0.5):.2f} | {quantile(times, 0.9):.2f} | {claims} "
        f"| faults {len(faults)} {faults[:3]}"
    )


def make_parser(prog: str, about: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options for measuring on puzzles."""
    parser = argparse.ArgumentParser(prog=prog, description=about)
    parser.add_argument("--set", choices=list(SETS), required=True)
    parser.add_argument("--sample", type=int, default=0, help="how many puzzles (0: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=1.0, help="seconds per puzzle")
    parser.add_argument("--out", type=Path, help="file of records, one JSON object per line")
    parser.add_argument("--open", action="store_true", help="list puzzles not found or proven")
    return parser


def end(records: list[dict[str, Any]], missed: list[dict[str, Any]]) -> int:
    """List missed puzzles; return 1 if the oracle objects to anything."""
    for record in missed:
        print(record)
    return 1 if any(record.get("fault") for record in records) else 0


def main(arguments: Sequence[str]) -> int:
    """Measure; return 1 if the oracle objects to anything."""
    parser = make_parser("measure_threats", __doc__)
    parser.add_argument("--nodes", type=int, help="node limit of a search")
    parser.add_argument("--memory", type=int, default=100, help="megabytes for the tables")
    parser.add_argument("--no-check", dest="check", action="store_false")
    options = parser.parse_args(arguments)
    name = options.set
    records = Journal(options.out)
    done = {record["id"] for record in records}
    with Solver(options.memory * 1_000_000) as solver:
        for puzzle in puzzles_of(name, options.sample, options.seed):
            if puzzle["id"] in done:
                continue
            records.add(ask(solver, SETS[name][1], puzzle, options))
    print(summary(name, records), flush=True)
    return end(records, [record for record in records if options.open and not record["found"]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
