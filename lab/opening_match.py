"""Play openings by a rule, and games from them, to see whether they favour either player.

``python -m lab.opening_match soosorv-8 --games 20 --time 1 --nodes 20000``: the engine plays both
players, with ``--time`` seconds per step of the opening, then ``--nodes`` per move to the end.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from time import perf_counter

from pbrain_engine import Engine, Limit, Rule
from pbrain_engine.engine.opening_choices import decide
from pbrain_engine.engine.swap2 import share_time
from pbrain_engine.game.opening_rules import RULES, OpeningPlay


def play_opening(engine: Engine, name: str, seconds: float, chance: random.Random) -> OpeningPlay:
    """Play one opening to its end, with the engine as both players."""
    rule = RULES[name]
    engine.new_game(15, rule=rule.rule or Rule.STANDARD)
    opening = OpeningPlay(rule)
    while opening.step is not None:
        opening.play(decide(share_time(engine, perf_counter() + seconds), opening, chance))
    return opening


def play_out(engine: Engine, opening: OpeningPlay, nodes: int) -> int | None:
    """Play a game from an opening; return the winning player (0 or 1), or None for a draw."""
    engine.new_game(15, rule=opening.rule.rule or Rule.STANDARD)
    for x, y in opening.stones:
        engine.play(x, y)
    while not engine.game.is_over:
        move = engine.think(Limit(nodes=nodes)).move
        if engine.game.is_forbidden(*move):
            return 1 - opening.black
        engine.play(*move)
    winner = engine.game.winner
    if winner is None:
        return None
    return opening.black if winner.name == "BLACK" else 1 - opening.black


def main() -> None:
    """Play the games and print their winners."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rule", choices=RULES)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--time", type=float, default=1.0)
    parser.add_argument("--nodes", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    results: Counter[str] = Counter()
    with Engine(hash_size=1 << 24) as engine:
        for number in range(options.games):
            opening = play_opening(engine, options.rule, options.time, chance)
            player = play_out(engine, opening, options.nodes)
            names = {0: "first", 1: "second", None: "draw"}
            colour = None if player is None else "black" if player == opening.black else "white"
            results.update([names[player], *([colour] if colour else [])])
            print(number, " ".join(opening.actions), names[player], colour or "", flush=True)
    print(dict(results))


if __name__ == "__main__":
    main()
