"""Makes the puzzles of the board's trainer from games of the engine against itself.

usage: python build/puzzles.py OUT.jsonl [--count N] [--seed S]

A position becomes a puzzle where the side to move has a forced win that the solver proves,
and had none the move before; in every other game only wins by fours count. Short and long
ones are mixed, and each rule has its share.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.game import Game
from pbrain_engine.game.result import Result
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.solver.solver import Solver

SHARES = {Rule.FREESTYLE: 0.4, Rule.RENJU: 0.3, Rule.STANDARD: 0.15, Rule.CARO: 0.15}
NODES = 1_500  # of the engine for a move, so that it misses wins
FOURS_NODES, THREATS_NODES = 20_000, 40_000
LENGTHS = range(3, 16)  # the winner's stones
OPENING_STONES = 5
REACH = 3  # of the opening's stones from the centre
MOST_OF_A_KIND = 0.2  # of a rule's puzzles, of one kind and length


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    found: list[dict[str, Any]] = []
    with Engine(hash_size=8 << 20) as engine, Solver(16_000_000) as solver:
        for rule, share in SHARES.items():
            wanted = round(options.count * share)
            found += choose(puzzles(engine, solver, rule, chance), wanted)
    lines = [json.dumps(puzzle, separators=(",", ":")) for puzzle in found]
    options.out.write_text("\n".join(lines) + "\n", encoding="ascii")
    print(f"{len(found)} puzzles, {options.out.stat().st_size:,} bytes")


def choose(candidates: Iterator[dict[str, Any]], wanted: int) -> list[dict[str, Any]]:
    """Return `count` puzzles, not too many of a kind and length, the shortest first."""
    kept: list[dict[str, Any]] = []
    counts: Counter[tuple[str, int]] = Counter()
    for puzzle in candidates:
        sort = puzzle["kind"], puzzle["own_moves"]
        if counts[sort] < max(1, wanted * MOST_OF_A_KIND):
            counts[sort] += 1
            kept.append(puzzle)
        if len(kept) == wanted:
            break
    kept.sort(key=lambda puzzle: (puzzle["own_moves"], puzzle["kind"]))
    return kept


def puzzles(
    engine: Engine, solver: Solver, rule: Rule, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield one puzzle at most of each of an endless row of games."""
    for number in range(1_000_000):
        engine.new_game(15, rule=rule)
        place_opening(engine.game, chance)
        while not engine.game.is_over:
            proof = win_of(solver, engine.game, by_threats=number % 2 == 0)
            if proof is not None:
                if proof.length in LENGTHS:
                    yield puzzle_of(engine.game, proof, number)
                break
            engine.play(*engine.think(Limit(nodes=NODES)).move)


def place_opening(game: Game, chance: random.Random) -> None:
    """Put some stones at random near the centre."""
    while game.ply < OPENING_STONES:
        x, y = (7 + chance.randint(-REACH, REACH) for _ in range(2))
        if game.at(x, y) is Side.EMPTY and not game.is_forbidden(x, y):
            game.play(x, y)


def win_of(solver: Solver, game: Game, by_threats: bool) -> Result | None:
    """Return the proof of a win of the side to move, by fours or also by threats."""
    proof = solver.fours(game, nodes=FOURS_NODES)
    if not proof.wins and by_threats:
        proof = solver.threats(game, nodes=THREATS_NODES)
    return proof if proof.wins else None


def puzzle_of(game: Game, proof: Result, number: int) -> dict[str, Any]:
    """Return a position as a puzzle, in the format that `numoku solve` reads."""
    stones = {
        side.name.lower(): [list(stone.move) for stone in game.history if stone.side is side]
        for side in (Side.BLACK, Side.WHITE)
    }
    return {
        "id": f"{game.rule.name.lower()}-{number}",
        "size": game.width,
        "rule": game.rule.name.lower(),
        **stones,
        "to_move": game.to_move.name.lower(),
        "kind": proof.claim,
        "best": [list(proof.line[0])],
        "own_moves": proof.length,
    }


if __name__ == "__main__":
    main()
