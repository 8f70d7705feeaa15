"""Measure the cost of a large RenLib library: ``python -m lab.measure_library [NODES] [FOLDER]``.

Makes a library of NODES nodes (1,000,000), with comments, marks, texts on cells and transpositions;
reads it, adds it to a database, walks it, looks up random positions under all symmetries, and
exports it. The export must equal the original. The table has a row for each step: processor
seconds, and the peak memory of the process so far.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pbrain_engine.database import sources
from pbrain_engine.database.lines import Filter, images, look_up, read_trees
from pbrain_engine.database.sources import SourceOptions, add_items, read_source
from pbrain_engine.database.store import Database
from pbrain_engine.game.position import Position
from pbrain_engine.game.tree import GameTree, TreeNode
from pbrain_engine.notation.renlib import format_renlib, parse_renlib
from pbrain_engine.position.geometry import transform
from pbrain_engine.position.rules import Rule, Side

SIDE = 15
LINE = 60  # most moves of a line
EARLY = 12  # moves within which new lines branch off
NEAR = 10  # cells for the first moves, few so that they transpose
LOOK_UPS = 1_000


class Step(NamedTuple):
    """The cost of one step."""

    name: str
    seconds: float  # of the processor
    memory: int  # peak bytes of the process so far


def grow_library(nodes: int, seed: int = 1) -> GameTree:
    """Return a tree with ``nodes`` moves and texts on cells."""
    chance = random.Random(seed)
    middle = SIDE // 2
    cells = [(x, y) for x in range(SIDE) for y in range(SIDE)]
    cells.sort(key=lambda cell: max(abs(cell[0] - middle), abs(cell[1] - middle)))
    tree = GameTree()
    early: list[tuple[TreeNode, int, int]] = [(tree.root, 0, 0)]  # node, occupied cells, depth
    parent, taken, depth = early[0]
    left = count = 0
    while count < nodes:
        if left == 0:  # a new line
            parent, taken, depth = chance.choice(early)
            left = chance.randint(1, LINE)
        left -= 1
        number = chance.randrange(NEAR + 2 * depth) % len(cells)
        cell, bit = cells[number], 1 << number
        if taken & bit or any(child.cell == cell for child in parent.children):
            continue
        is_move = depth == 0 or chance.random() < 0.97
        node = TreeNode(cell, is_move)
        parent.children.append(node)
        count += 1
        if not is_move or chance.random() < 0.05:
            node.text = chance.choice(("A", "b", "12", "好", "!?"))
        if chance.random() < 0.2:
            node.title = chance.choice(("", f"line {count}", "Ünsicher"))
            node.comment = chance.choice(("", f"note {count}\nand more", "五目"))
        node.is_marked = chance.random() < 0.02
        node.is_start = chance.random() < 0.0001
        if is_move:
            parent, taken, depth = node, taken | bit, depth + 1
            if depth < EARLY:
                early.append((parent, taken, depth))
    return tree


def measure(nodes: int, folder: Path) -> list[Step]:
    """Take a library of ``nodes`` nodes through a round trip; return the cost of each step.

    Raises:
        AssertionError: something was lost on the way.
    """
    steps: list[Step] = []

    @contextmanager
    def step(name: str) -> Iterator[None]:
        began = time.process_time()
        yield
        steps.append(Step(name, time.process_time() - began, _memory()))

    with step("made"):
        tree = grow_library(nodes)
    with step("written as a library"):
        data, losses = format_renlib(tree)
    assert not losses
    (folder / "in.lib").write_bytes(data)
    with step("read"):
        again = parse_renlib(data)
    assert again == tree and again.count() == nodes
    del again
    with Database(folder / "large.db", create=True) as database:
        with step("added to a database"):
            added = add_items(database, read_source(str(folder / "in.lib"), SourceOptions()))
        assert added.nodes == nodes
        with step("walked in the database"):
            (stored,) = read_trees(database)
            keys = {image.key for node, _, image in images(stored) if node.is_move}
        assert stored.count() == nodes
        assert len(keys) < nodes  # there are transpositions
        del stored
        ways = _ways(tree, LOOK_UPS)
        with step(f"{len(ways):,} positions looked up"):
            for number, (way, comment) in enumerate(ways):
                moves = transform(way, number % 8, SIDE, SIDE)
                black, white = (tuple(sorted(moves[side::2])) for side in (0, 1))
                turn = Side(len(moves) % 2)
                entry = look_up(database, Position(Rule.RENJU, SIDE, SIDE, turn, black, white))
                assert entry is not None
                assert not comment or any(comment in note.comment for note in entry.notes)
        with step("exported"):
            losses = sources.export(database, folder / "out.lib", Filter())
        assert not losses
    assert (folder / "out.lib").read_bytes() == data
    return steps


def _ways(tree: GameTree, count: int) -> list[tuple[list[tuple[int, int]], str]]:
    """Return the moves to some nodes of a tree, spread over it, with their comments."""
    every = max(tree.count() // count, 1)
    ways, way = [], list[tuple[int, int]]()
    for number, (node, depth) in enumerate(tree.walk()):
        del way[max(depth - 1, 0) :]
        if depth and node.cell is not None and node.is_move:
            way.append(node.cell)
            if number % every == 0:
                ways.append(([*way], node.comment))
    return ways


def _memory() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(words: list[str]) -> int:
    """Print the table."""
    nodes = int(words[0]) if words else 1_000_000
    with TemporaryDirectory(dir=words[1] if len(words) > 1 else None) as name:
        folder = Path(name)
        steps = measure(nodes, folder)
        size, stored = ((folder / file).stat().st_size for file in ("in.lib", "large.db"))
    print(
        f"{nodes:,} nodes: a library of {size / 1e6:,.1f} MB, a database of {stored / 1e6:,.0f} MB"
    )
    print("| step | seconds | memory |")
    print("|---|---|---|")
    for step in steps:
        print(f"| {step.name} | {step.seconds:,.1f} | {step.memory / 1e6:,.0f} MB |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
