"""Measures what the levels of ``numoku play`` are worth: neighbours play each other.

``python build/levels.py 1 7 --games 40`` plays level 1 against 2, 2 against 3 and so on, each
opening with both colours, and prints Elo with its 95 % interval, level 1 as 0. Up to level 9 a
level is a number of nodes, so the result does not depend on the machine.
"""

from __future__ import annotations

import argparse
import random
import sys

from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.settings import MatchSettings, parse_engine
from pbrain_engine.arena.statistics.ladder import Meeting, rate
from pbrain_engine.commands.levels import LEVELS, choose
from pbrain_engine.engine.engine import Engine
from pbrain_engine.position.geometry import Coordinates
from pbrain_engine.position.rules import Rule, Side

PATIENCE = 600.0  # seconds: more than any level below the last takes for its nodes
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


def duel(low: int, high: int, games: int, seed: int) -> Meeting:
    """Return what the higher level scored against the lower."""
    contestant = parse_engine("numoku")
    openings = Openings(MatchSettings((contestant, contestant), seed=seed))
    engines = {level: Engine(hash_size=TABLE) for level in (low, high)}
    points = 0.0
    for number in range(games):
        opening = openings[number // 2]
        if number % 2:
            points += 1 - play(engines, opening, low, high)
        else:
            points += play(engines, opening, high, low)
        print(f"{high} - {low}: {points:g}/{number + 1}", file=sys.stderr, flush=True)
    for engine in engines.values():
        engine.close()
    return f"level {high}", f"level {low}", points, games


def main() -> int:
    """Play the ladder and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lowest", type=int, choices=LEVELS)
    parser.add_argument("highest", type=int, choices=LEVELS)
    parser.add_argument("--games", type=int, default=40, help="a pair of neighbours (40)")
    parser.add_argument("--seed", type=int, default=1, help="of the openings (1)")
    options = parser.parse_args()
    steps = range(options.lowest, options.highest)
    meetings = [duel(level, level + 1, options.games, options.seed) for level in steps]
    for high, low, points, games in meetings:
        print(f"{high} - {low}: {points:g} of {games}")
    for rating in rate(meetings, {f"level {options.lowest}": 0.0}):
        print(f"{rating.name:9} {rating.elo:+6.0f} +- {rating.error:.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
