"""Measure a book: ``python -m lab.measure_book BOOK [GAMES [NODES [WEIGHTS]]]``.

The engine with the book plays against itself without, from the empty board, in pairs with colours
swapped. A move has NODES nodes, varied by up to a fifth from pair to pair, so that games differ;
the result does not depend on the machine or its load.
"""

from __future__ import annotations

import sys
import time
from random import Random
from statistics import mean

from pbrain_engine.arena.elo import MeanScore
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.cells import format_moves
from pbrain_engine.position.rules import Side

HASH = 16 << 20
MOST = 2000  # limit of a value, so that forced wins do not dominate the mean
SPREAD = 0.2  # relative variation of the nodes between pairs


class Played:
    """A game: half points of the engine with the book, its number of book moves, and the moves."""

    def __init__(self, with_book: Engine, without: Engine, book_side: Side, nodes: int) -> None:
        for engine in (with_book, without):
            engine.new_game(15)
            engine.clear_hash()
        self.in_book = 0
        self.left: int | None = None  # value at its first move after the book
        game = with_book.game
        while not game.is_over:
            engine = with_book if game.to_move is book_side else without
            thought = engine.think(Limit(nodes=nodes))
            if engine is with_book:
                if thought.depth == 0:
                    self.in_book += 1
                elif self.left is None:
                    self.left = thought.value
            for player in (with_book, without):
                player.play(*thought.move)
        winner = game.winner
        self.half_points = 1 if winner is None else 2 * (winner is book_side)
        self.moves = format_moves(game.moves)
        self.by_black = winner is Side.BLACK


def main() -> None:
    path, *more = sys.argv[1:]
    games = int(more[0]) if more else 100
    nodes = int(more[1]) if more[1:] else 10_000
    weights = more[2] if more[2:] else "network"
    pairs = [0] * 5
    sides: dict[Side, list[Played]] = {Side.BLACK: [], Side.WHITE: []}
    began, cpu = time.perf_counter(), time.process_time()
    with (
        Engine(hash_size=HASH, weights=weights, book=path, book_seed=1) as with_book,
        Engine(hash_size=HASH, weights=weights) as without,
    ):
        for pair in range(games // 2):
            limit = round(nodes * Random(pair).uniform(1 - SPREAD, 1 + SPREAD))
            points = 0
            for side, played in sides.items():
                game = Played(with_book, without, side, limit)
                played.append(game)
                points += game.half_points
            pairs[points] += 1
            if "--moves" in sys.argv:
                for played in sides.values():
                    print(played[-1].half_points, played[-1].in_book, played[-1].moves, flush=True)
    every = [game for played in sides.values() for game in played]
    found = MeanScore.of(pairs)
    score, rating = found.interval, found.elo
    print(f"{len(every)} games, {len({game.moves for game in every})} different, {nodes} nodes")
    low, high = f"[{score.low:.1%}, {score.high:.1%}]", f"[{rating.low:+.0f}, {rating.high:+.0f}]"
    print(f"with the book {score.value:.1%} {low}, Elo {rating.value:+.0f} {high}, pairs {pairs}")
    for side, played in sides.items():
        left = [max(-MOST, min(MOST, game.left)) for game in played if game.left is not None]
        points = sum(game.half_points for game in played) / 2
        depth = mean(game.in_book for game in played)
        after = mean(left) if left else 0
        print(f"as {side.name.lower()}: {points:.1f} of {len(played)}, {depth:.1f} moves of the "
              f"book, then value {after:+.0f}")  # fmt: skip
    cpu, seconds = time.process_time() - cpu, time.perf_counter() - began
    won = sum(game.by_black for game in every)
    print(f"black won {won} of {len(every)}; {cpu:.0f} s of processor, {seconds:.0f} s")


if __name__ == "__main__":
    main()
