"""Random middle games for the solver: the oracle checks every win that it claims.

``python -m lab.fuzz_claims --count 20000 --out FILE``. The oracle tries every legal defence
at each threat. With ``--out`` a run can be interrupted and continued.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from lab import Journal
from lab.fuzz_rules import game_of
from pbrain_engine.game.result import BY_FOURS, BY_THREATS
from pbrain_engine.solver import Solver
from tests.oracle.replay import complaint_about_line, complaint_about_tree
from tests.oracle.rules import RULES, Board, winners

SIZES = (15, 15, 15, 11, 19)
FEWEST, MOST = 8, 40  # stones
PINNED = Path(__file__).parents[1] / "tests" / "golden" / "claims.txt"


def middle_game(chance: random.Random) -> tuple[Board, int]:
    """Return a position without a winner, its stones scattered around a few spots, and a side."""
    while True:
        size = chance.choice(SIZES)
        board = Board(size, size, chance.choice(RULES))
        spots = [(chance.gauss(size / 2, size / 7), chance.gauss(size / 2, size / 7))] * 2
        spots.append((chance.gauss(size / 2, size / 5), chance.gauss(size / 2, size / 5)))
        wanted = chance.randint(FEWEST, MOST)
        number = 0
        while number < wanted:
            x, y = chance.choice(spots)
            cell = (round(chance.gauss(x, 2.2)), round(chance.gauss(y, 2.2)))
            if cell in board.cells and board.at(cell) == 2:
                board.put(cell, number % 2)
            number += 1
        if not winners(board):
            return board, chance.randint(0, 1)


def examine(solver: Solver, seed: int, nodes: int) -> dict[str, Any]:
    """Let the solver search the position of a seed; return its claims, and any fault."""
    board, side = middle_game(random.Random(seed))
    game = game_of(board, side)
    stones = sum(held < 2 for held in board.cells.values())
    record: dict[str, Any] = {"seed": seed, "rule": board.rule, "size": board.width,
                              "stones": stones}  # fmt: skip
    proof = solver.fours(game, nodes=nodes)
    spent = [proof.nodes]
    if proof.wins:
        record["fault"] = complaint_about_line(board, side, proof.line)
    else:
        proof = solver.threats(game, nodes=nodes)
        spent.append(proof.nodes)
        if proof.wins:
            tree = solver.tree(game)
            record["fault"] = complaint_about_tree(board, side, tree) if tree else "no tree"
    rescue = solver.rescues(game, nodes=nodes)
    record["rescues"] = len(rescue.moves), len(rescue.unknown)
    record["claim"], record["length"] = proof.claim, proof.length
    record["nodes"] = [*spent, rescue.nodes]
    return record


def pinned(records: list[dict[str, Any]]) -> str:
    """Return a line per record: seed, rule, claim and length, rescues, nodes.

    Rescues are the numbers of safe and undecided moves; nodes are those of each search.
    """
    lines = []
    for found in records:
        words = [found["seed"], found["rule"], found["claim"], found["length"]]
        lines.append(" ".join(map(str, [*words, *found["rescues"], *found["nodes"]])))
    return "\n".join([*lines, ""])


def table(records: list[dict[str, Any]]) -> str:
    """Return the claims under each rule, and the lengths of the wins."""
    lines = []
    for rule in RULES:
        of = [record for record in records if record["rule"] == rule]
        claims = Counter(record["claim"] for record in of)
        lines.append(f"{rule:<11} {len(of):6} positions: {dict(sorted(claims.items()))}")
    for kind in (BY_FOURS, BY_THREATS):
        lengths = sorted(r["length"] for r in records if r["claim"] == kind and "length" in r)
        if lengths:
            median, most = lengths[len(lengths) // 2], lengths[-1]
            lines.append(f"{kind}: {median} own stones in the median, {most} at most")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Examine positions; return 1 if a claim is false."""
    parser = argparse.ArgumentParser(prog="fuzz_claims", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first position")
    parser.add_argument("--nodes", type=int, default=3_000, help="node limit of a search")
    parser.add_argument("--out", type=Path, help="file of records, one JSON object per line")
    parser.add_argument("--pin", action="store_true", help="write the claims that a test expects")
    options = parser.parse_args(arguments)
    records = Journal(options.out)
    done = {record["seed"] for record in records}
    with Solver(8_000_000) as solver:
        for seed in range(options.first, options.first + options.count):
            if seed not in done:
                records.add(examine(solver, seed, options.nodes))
    if options.pin:
        PINNED.write_text(pinned(records), encoding="utf-8")
    print(table(records))
    faults = [record for record in records if record.get("fault")]
    print(f"{len(records)} positions, {len(faults)} false claims {faults[:3]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
