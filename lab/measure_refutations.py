"""When searches see that a move loses: ``python -m lab.measure_refutations FILE [--nodes N]``.

Each line of FILE is a JSON object: ``size``, ``rule``, ``moves`` (the position, such as ``h8i9``)
and ``lost_by``, the losing move; ``lab.measure_losses`` prints such lines. Each position is
searched from empty tables. The search is fooled as long as it chooses that move with a winning
chance of FAIR or more. The figure is the nodes of the first iteration after the last fooled one; a
search that has not been fooled for long is stopped, and one still fooled after N nodes counts as N.
Versions are compared by the geometric mean.

The kind of a position comes from the file: ``answer`` (a proven refutation, with its plies),
``holds`` (a move that would have held), ``missed`` (an own win), or ``why`` of
``lab.measure_losses``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NamedTuple

from lab.measure_losses import FAIR
from pbrain_engine.engine.engine import DEFAULT_WEIGHTS, Engine, Limit, Thought
from pbrain_engine.game.cells import cell_name, parse_moves

NODES = 4_000_000
TABLE = 64 << 20
KINDS = ("answer", "missed", "holds")
PATIENCE, LEAST = 4, 200_000  # factor and least number of nodes without being fooled, to stop


class Seen(NamedTuple):
    """The nodes after which a search saw that a move loses."""

    kind: str
    lost_by: str
    nodes: int
    is_seen: bool  # False: still fooled at the end


def read_positions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the positions of a file that have a losing move."""
    for line in path.read_text(encoding="utf-8").splitlines():
        position = json.loads(line)
        if position.get("lost_by"):
            yield position


def kind_of(position: dict[str, Any]) -> str:
    """Return the kind of a losing move."""
    return next((kind for kind in KINDS if kind in position), position.get("why", "other"))


def see(engine: Engine, position: dict[str, Any], nodes: int = NODES) -> Seen:
    """Search a position until the search sees that the move loses."""
    size = position.get("size", 15)
    engine.new_game(size, rule=position.get("rule", "freestyle"))
    engine.clear_hash()
    for x, y in parse_moves(position["moves"], size, size):
        engine.play(x, y)
    lost_by = position["lost_by"]
    fooled, seen = True, 0

    def listen(thought: Thought) -> bool:
        nonlocal fooled, seen
        before, fooled = fooled, cell_name(*thought.move) == lost_by and thought.chance >= FAIR
        if before and not fooled:
            seen = thought.nodes
        return not fooled and thought.nodes > max(LEAST, PATIENCE * seen)

    last = engine.think(Limit(nodes=nodes), on_iteration=listen)
    listen(last)
    return Seen(kind_of(position), lost_by, nodes if fooled else max(seen, 1), not fooled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--nodes", type=int, default=NODES, help="at most (%(default)s)")
    parser.add_argument("--weights", default=DEFAULT_WEIGHTS, help="by name or file")
    options = parser.parse_args()
    found = []
    with Engine(hash_size=TABLE, weights=options.weights) as engine:
        for position in read_positions(options.file):
            found.append(see(engine, position, options.nodes))
            kind, lost_by, nodes, is_seen = found[-1]
            print(f"{kind:10} {lost_by:4} {nodes:12,}{'' if is_seen else ' not seen'}", flush=True)
    print()
    for kind, group in groupby(sorted(found), lambda each: each.kind):
        nodes = [each.nodes for each in group]
        print(f"{kind:10} {len(nodes):4} {geometric_mean(nodes):12,.0f}")
    if found:
        seen, mean = sum(each.is_seen for each in found), geometric_mean(e.nodes for e in found)
        print(f"{'all':10} {len(found):4} {mean:12,.0f}, {seen} seen")


if __name__ == "__main__":
    main()
