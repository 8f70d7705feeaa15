"""Make the puzzles of the board's trainer from games of the engine against itself.

usage: python build/puzzles.py OUT.jsonl [--count N] [--seed S]

A puzzle is the first position of a game with a proven forced win, or a later position in the line
of that win with one to five moves left; or a position where the opponent threatens to win by fours
and few moves stop that. Each rule has a share of the puzzles, and each length a share of those.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pbrain_engine.board.proofs import difficulty_of
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.documents import DEFEND
from pbrain_engine.game.game import Game
from pbrain_engine.game.result import BY_FOURS, Result
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.solver import Solver

SHARES = {Rule.FREESTYLE: 0.4, Rule.RENJU: 0.3, Rule.STANDARD: 0.15, Rule.CARO: 0.15}
NODES = 1_500  # of the engine for a move, so that it misses wins
FOURS_NODES, THREATS_NODES = 20_000, 40_000
SHORT, LONGEST = 5, 15  # the winner's stones
# Of a rule's puzzles: those of each short length, longer ones, and defences.
PARTS: dict[int | str, float] = {
    **dict.fromkeys(range(1, SHORT + 1), 0.14), SHORT + 1: 0.1, DEFEND: 0.2,
}  # fmt: skip
MOST_RESCUES = 5  # moves that stop the opponent
OPENING_STONES = 5
REACH = 3  # of the opening's stones from the centre


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
    """Return ``wanted`` puzzles, by the shares of the parts, easiest first."""
    left = {part: round(wanted * share) for part, share in PARTS.items()}
    kept: list[dict[str, Any]] = []
    for puzzle in candidates:
        if left[part := part_of(puzzle)]:
            left[part] -= 1
            kept.append(puzzle)
        if not any(left.values()):
            break
    return sorted(kept, key=difficulty_of)


def part_of(puzzle: dict[str, Any]) -> int | str:
    """Return the part to which a puzzle belongs."""
    return DEFEND if puzzle["kind"] == DEFEND else min(puzzle["own_moves"], SHORT + 1)


def puzzles(
    engine: Engine, solver: Solver, rule: Rule, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Yield at most one puzzle per game, endlessly."""
    for number in range(1_000_000):
        engine.new_game(15, rule=rule)
        game = engine.game
        place_opening(game, chance)
        while not game.is_over:
            proof = win_of(solver, game, by_threats=number % 2 == 0)
            if proof is None and number % 3 == 2:
                rescue = solver.rescues(game, nodes=FOURS_NODES)
                is_threat = rescue.claim == BY_FOURS and not rescue.unknown
                if is_threat and 1 <= len(rescue.moves) <= MOST_RESCUES:
                    yield puzzle_of(game, rescue._replace(claim=DEFEND), number)
                    break
            if proof is not None:
                if proof.length <= LONGEST and (later := later_in(solver, game, proof, chance)):
                    yield puzzle_of(game, later, number)
                break
            engine.play(*engine.think(Limit(nodes=NODES)).move)


def later_in(solver: Solver, game: Game, proof: Result, chance: random.Random) -> Result | None:
    """Play the line of a win until a random number of moves is left; return the win from there."""
    wanted = chance.randint(1, min(proof.length, SHORT + 1))
    if wanted > SHORT:
        return proof
    for move in proof.line[: 2 * (proof.length - wanted)]:
        game.play(*move)
    later = win_of(solver, game, by_threats=True)
    return later if later is not None and later.length == wanted else None


def place_opening(game: Game, chance: random.Random) -> None:
    """Put some random stones near the centre."""
    while game.ply < OPENING_STONES:
        x, y = (7 + chance.randint(-REACH, REACH) for _ in range(2))
        if game.at(x, y) is Side.EMPTY and not game.is_forbidden(x, y):
            game.play(x, y)


def win_of(solver: Solver, game: Game, by_threats: bool) -> Result | None:
    """Return a proven win of the side to move, by fours or, if asked, also by threats."""
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
        "best": [list(move) for move in proof.moves or proof.line[:1]],
        **({"best_complete": True} if proof.claim == DEFEND else {}),
        "own_moves": proof.length,
    }


if __name__ == "__main__":
    main()
