"""Assess the 26 openings of renju by searches of the engine, as a table in Markdown.

``python -m lab.assess_openings --nodes 30000000``: each opening is searched with white to move, and
the position after white's best fourth stone once more, with several of black's fifth stones. If
black offers N fifth stones and white chooses, black gets the N-th best; so the table has black's
chance with one, two, three, five and eight offered stones.
"""

from __future__ import annotations

import argparse

from pbrain_engine import Engine, Limit, Rule
from pbrain_engine.game.cells import cell_name, format_moves
from pbrain_engine.game.opening_rules import openings

OFFERS = (1, 2, 3, 5, 8)


def main() -> None:
    """Search the openings and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=30_000_000, help="nodes per opening")
    options = parser.parse_args()
    offers = " | ".join(f"{number} fifth{'s' * (number > 1)}" for number in OFFERS)
    print(f"| opening | stones | white's fourth | {offers} |")
    print("|---|---|---|" + "---|" * len(OFFERS))
    with Engine(hash_size=1 << 28) as engine:
        for opening in openings().values():
            engine.new_game(15, rule=Rule.RENJU)
            for x, y in opening.stones:
                engine.play(x, y)
            fourth = engine.think(Limit(nodes=options.nodes // 2)).move
            engine.play(*fourth)
            lines = engine.think_lines(Limit(nodes=options.nodes // 2), max(OFFERS))
            chances = sorted((line.chance for line in lines), reverse=True)
            row = " | ".join(f"{100 * chances[number - 1]:.0f} %" for number in OFFERS)
            stones = format_moves(opening.stones, " ")
            print(f"| {opening} | {stones} | {cell_name(*fourth)} | {row} |", flush=True)


if __name__ == "__main__":
    main()
