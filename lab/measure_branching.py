"""How fast the tree grows: ``python -m lab.measure_branching [--nodes N] [PARAMETER=VALUE ...]``.

Each quiet position of ``tests/positions`` is searched with an empty table. The depth at a number of
nodes is interpolated between completed iterations on a logarithmic scale. The effective branching
factor is the factor in nodes per additional ply, from a sixteenth of the nodes to all of them. It
measures how fast the depth grows, not its strength, which takes matches.
"""

from __future__ import annotations

import argparse
from math import log
from statistics import mean, median

from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.game.record import GameRecord
from pbrain_engine.values import WIN_BAND
from tests.search.test_strength import positions

SPAN = 16  # from the first measured number of nodes to the last
STEPS = 5
TABLE = 64 << 20


def depth_at(course: list[Thought], nodes: float) -> float:
    """Return the fractional depth reached with a number of nodes."""
    before = course[0]
    for thought in course[1:]:
        if thought.nodes >= nodes:
            share = log(nodes / before.nodes) / log(thought.nodes / before.nodes)
            return before.depth + share * (thought.depth - before.depth)
        before = thought
    raise ValueError("the search has fewer nodes")


def measure(engine: Engine, record: GameRecord, marks: list[float]) -> list[float] | None:
    """Return the depths at these numbers of nodes, None if the search decides the position."""
    engine.new_game(*record.board)
    engine.clear_hash()
    engine.game.become(record)
    course: list[Thought] = []

    def listen(thought: Thought) -> bool:
        course.append(thought)
        return thought.nodes >= marks[-1]

    engine.think(Limit(depth=100), on_iteration=listen)
    if abs(course[-1].value) >= WIN_BAND or course[-1].nodes < marks[-1]:
        return None
    return [depth_at(course, mark) for mark in marks]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=4_000_000, help="per search (%(default)s)")
    parser.add_argument("--every", type=int, default=1, help="take every Nth position")
    parser.add_argument("parameters", nargs="*", metavar="PARAMETER=VALUE")
    options = parser.parse_args()
    parameters = {name: int(value) for name, value in (p.split("=") for p in options.parameters)}
    marks = [options.nodes / SPAN ** (1 - step / (STEPS - 1)) for step in range(STEPS)]
    wanted = [p.record for p in positions() if p.sort == "positional"]
    found = []
    with Engine(hash_size=TABLE, parameters=parameters) as engine:
        for record in wanted[:: options.every]:
            depths = measure(engine, record, marks)
            if depths is not None:
                found.append(depths)
    factors = [SPAN ** (1 / (depths[-1] - depths[0])) for depths in found]
    print("nodes (k)  " + " ".join(f"{mark / 1000:7.0f}" for mark in marks))
    print("mean depth " + " ".join(f"{mean(column):7.2f}" for column in zip(*found, strict=True)))
    print(f"{len(found)} positions; effective branching factor {median(factors):.2f} (median)")


if __name__ == "__main__":
    main()
