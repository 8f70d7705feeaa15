"""Measure the strength of the levels of ``numoku play`` by matches between neighbours.

``python build/levels.py 1 7 --games 40`` plays level 1 against 2, 2 against 3 and so on, each
opening with both colours, and prints the Elo of each step with its 95 % interval. Up to level 9
a level is a number of nodes, so the result does not depend on the machine.
"""

from __future__ import annotations

import argparse
import random
import sys

from pbrain_engine.app.thinking import LEVELS, choose
from pbrain_engine.arena.elo import MeanScore
from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.settings import MatchSettings, parse_engine
from pbrain_engine.arena.standings import format_estimate
from pbrain_engine.engine.engine import Engine
from pbrain_engine.position.geometry import Coordinates
from pbrain_engine.position.rules import Rule, Side

PATIENCE = 600.0  # seconds; more than any level below the last needs for its nodes
TABLE = 16_000_000  # bytes


def play(engines: dict[int, Engine], opening: list[Coordinates], black: int, white: int) -> float:
    """Play a game; return the points of black."""
    players = {Side.BLACK: black, Side.WHITE: white}
    chance = random.Random(f"{black} {white} {opening}")
    for engine in engines.values():
        engine.new_game(15, rule=Rule.FREESTYLE)
        engine.clear_hash()
        for x, y in opening:
            engine.play(x, y)
    game = engines[black].game
    while not game.is_over:
        level = players[game.to_move]
        move = choose(engines[level], LEVELS[level], PATIENCE, chance).move
        for engine in engines.values():
            engine.play(*move)
    if game.winner is None:
        return 0.5
    return float(game.winner is Side.BLACK)


def duel(low: int, high: int, games: int, seed: int) -> list[int]:
    """Return in how many openings the higher level scored 0, 1/2, 1, 3/2 and 2 points."""
    contestant = parse_engine("numoku")
    openings = Openings(MatchSettings((contestant, contestant), seed=seed))
    engines = {level: Engine(hash_size=TABLE) for level in (low, high)}
    results = [0] * 5
    for number in range(games // 2):
        opening = openings[number]
        points = play(engines, opening, high, low) + 1 - play(engines, opening, low, high)
        results[round(2 * points)] += 1
        print(f"{high} - {low}: {results}", file=sys.stderr, flush=True)
    for engine in engines.values():
        engine.close()
    return results


def main() -> int:
    """Play all pairs of neighbours and print their Elo differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lowest", type=int, choices=LEVELS)
    parser.add_argument("highest", type=int, choices=LEVELS)
    parser.add_argument("--games", type=int, default=40, help="a pair of neighbours (40)")
    parser.add_argument("--seed", type=int, default=1, help="of the openings (1)")
    options = parser.parse_args()
    for level in range(options.lowest, options.highest):
        results = duel(level, level + 1, options.games, options.seed)
        points = sum(count * half / 2 for half, count in enumerate(results))
        step = format_estimate(MeanScore.of(results).elo)
        print(f"{level + 1} against {level}: {points:g} of {2 * sum(results)}, {step}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
