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
from pbrain_engine.arena.match import tasks
from pbrain_engine.arena.openings import Openings
from pbrain_engine.arena.players import InprocessPlayer
from pbrain_engine.arena.referee import Clock, PlayedMove, Thinking, play_game
from pbrain_engine.arena.settings import MatchSettings, parse_engine
from pbrain_engine.arena.standings import Standings, summary
from pbrain_engine.game.game import Game

PATIENCE = 600.0  # seconds; more than any level below the last needs for its nodes
NAME = "level-"


class LevelPlayer(InprocessPlayer):
    """The level whose number ends the name of the engine."""

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Return the move of this level, the same each time in a game."""
        level = LEVELS[int(self.spec.name.removeprefix(NAME))]
        thought = choose(self.engine_at(game), level, PATIENCE, random.Random(f"{game.moves}"))
        return PlayedMove(*thought.move, 0.0, Thinking())


def duel(levels: tuple[int, int], games: int, seed: int) -> Standings:
    """Play two levels against each other."""
    engines = tuple(parse_engine(f"{NAME}{level}=numoku") for level in levels)
    settings = MatchSettings(engines, games=games, seed=seed, in_process=True)
    players, standings = [LevelPlayer(each, settings) for each in engines], Standings(settings)
    for task in tasks(settings, Openings(settings)):
        sides = players[task.black], players[task.white]
        standings.add(play_game(task, settings, sides, lambda played: None))
        print(f"{standings.games} of {games} games", file=sys.stderr, flush=True)
    return standings


def main() -> int:
    """Play all pairs of neighbours and print their Elo differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lowest", type=int, choices=LEVELS)
    parser.add_argument("highest", type=int, choices=LEVELS)
    parser.add_argument("--games", type=int, default=40, help="a pair of neighbours (40)")
    parser.add_argument("--seed", type=int, default=1, help="of the openings (1)")
    options = parser.parse_args()
    for level in range(options.lowest, options.highest):
        print(summary(duel((level + 1, level), options.games, options.seed)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
