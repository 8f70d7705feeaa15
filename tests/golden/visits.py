"""What the tree search finds in random middle games: ``python -m tests.golden.visits`` writes it.

A line a search: the seed of the position, the move, its value, nodes and line. Its memory is so
small that nodes are recycled, and it goes on after a move.
"""

from __future__ import annotations

import random
from pathlib import Path

from lab.fuzz_claims import middle_game
from lab.small_boards import put_on
from pbrain_engine.engine.engine import MCTS, Engine, Limit, Thought
from pbrain_engine.game.cells import cell_name
from pbrain_engine.position.rules import Side
from pbrain_engine.search.parameters import PARAMETERS

FILE = Path(__file__).with_suffix(".txt")
COUNT = 60
MEMORY = 1 << 20
VISITS = (6000, 500)
THREES = PARAMETERS["mcts_threes"].default


def line_of(seed: int, thought: Thought) -> str:
    """Return a thought in a line."""
    moves = "".join(cell_name(*cell) for cell in thought.pv)
    return f"{seed} {thought.value} {thought.nodes} {thought.depth} {thought.visits} {moves}"


def found() -> list[str]:
    """Return what is found today."""
    lines = []
    with Engine(search=MCTS, hash_size=MEMORY) as engine:
        for seed in range(COUNT):
            board, to_move = middle_game(random.Random(seed))
            put_on(engine, board, Side(to_move))
            engine.set_parameter("threat_share", 20 * (seed % 2))
            engine.set_parameter("mcts_threes", THREES * (seed % 5 > 0))
            for visits in VISITS:
                thought = engine.think(Limit(nodes=visits), multipv=1 + 2 * (seed % 4 == 2))
                lines.append(line_of(seed, thought))
                if abs(thought.value) > 29_000 or engine.game.is_full:
                    break
                engine.play(*thought.move)
    return lines


if __name__ == "__main__":
    FILE.write_text("\n".join([*found(), ""]), encoding="utf-8")
