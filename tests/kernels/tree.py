"""An artificial game tree under the real search: every number of a node is given.

The kernel's search is plain Python here, so what it asks of the board is answered from the
tree: its moves, their classes, evaluations, threats and results at a glance. The table, the
frames and the lines are the real ones.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from pbrain_engine.patterns.shapes import MAKES_FIVE, MAKES_WINNING_FOUR, QUIET
from pbrain_engine.position.geometry import MAX_STONES, PADDED_CELLS
from pbrain_engine.position.rules import EMPTY
from pbrain_engine.search.alphabeta import alphabeta
from pbrain_engine.search.alphabeta.table import probe, store
from pbrain_engine.search.alphabeta.worker import STACK_BASE, WORKER
from pbrain_engine.search.parameters import ONE
from pbrain_engine.values import loss_in, win_in
from tests.kernels.memory import plain, shared_block

SEARCH = alphabeta.search
# The search without any technique that may change a value: it returns minimax values.
EXACT_SEARCH = {
    "futility_depth": 0, "razor_depth": 0, "count_base": 500, "reduction_base": -(10**6),
    "singular_depth": 10**6, "stale_pv": 0, "no_move_pv": 0, "alpha_raise": 0, "extend_block": 0,
}  # fmt: skip


@dataclass
class Node:
    """A position: ``static`` is its value for the side to move, as an evaluation or leaf search."""

    static: int = 0
    children: list[Node] = field(default_factory=list)
    blocked: bool = False  # the enemy has a five
    stuck: bool = False  # there are cells, and all of them are forbidden
    threatened: bool = False  # the enemy has a winning four
    result: int = 0  # static result: plies to the win, negative for a loss
    forbidden: bool = False  # the move that leads here
    key: int = 0


class Call(NamedTuple):
    """One call of the search: the moves to its node, and the depth."""

    path: tuple[int, ...]
    depth: int


def chain(*statics: int) -> Node:
    """Return nodes with one move each."""
    first, *rest = statics
    return Node(first, [chain(*rest)] if rest else [])


def random_tree(chance: random.Random, depth: int, most: int = 4, spread: int = 40) -> Node:
    """Return a tree of this depth; its values are small, so that some are equal."""
    count = chance.randint(1, most) if depth else 0
    children = [random_tree(chance, depth - 1, most, spread) for _ in range(count)]
    return Node(chance.randint(-spread, spread), children)


def numbered(node: Node, name: str = "root") -> None:
    """Give every node without a key a unique one."""
    node.key = node.key or zlib.crc32(name.encode()) << 32 | zlib.adler32(name.encode())
    for number, child in enumerate(node.children):
        numbered(child, f"{name} {number}")


class World:
    """The search on a tree; ``calls`` and ``leaves`` record its calls."""

    def __init__(self, patch: pytest.MonkeyPatch, root: Node, **parameters: int) -> None:
        numbered(root)
        self.path: list[Node] = [root]
        self.numbers: list[int] = []
        self.calls: list[Call] = []
        self.leaves: list[tuple[int, ...]] = []  # the moves to each
        self.shared = shared_block(4096, **parameters)
        self.worker = plain(WORKER)
        self.worker.node_limit = 1 << 60
        holds = np.full(PADDED_CELLS, EMPTY, np.uint8)
        self.position = SimpleNamespace(
            side=0, ply=10, width=15, height=15, holds=holds, key=np.uint64(root.key),
            moves=np.zeros(MAX_STONES, np.int16),
        )  # fmt: skip
        self.worker.state = SimpleNamespace(position=self.position)
        for name in ("static_result", "leaf", "list_moves", "count_of", "play", "undo", "search"):
            patch.setattr(alphabeta, name, getattr(self, f"_{name}_"))
        answers: dict[str, Callable[..., Any]] = {
            "judge": lambda *_: self.node.static,
            "judge_near": lambda *_: self.node.static,
            "first_allowed": lambda *_: int(not self.node.stuck),
            "is_forbidden": lambda state, tables, cell: self._child(cell).forbidden,
            "class_at": lambda *_: QUIET,
            "expect": lambda *_: None,
            "key_after": lambda *_: 0,
            "last_move": lambda *_: 1,
        }
        for name, answer in answers.items():
            patch.setattr(alphabeta, name, answer)
        self.tables = SimpleNamespace(
            tables=SimpleNamespace(zobrist=None), network=SimpleNamespace(loaded=0)
        )

    def run(self, alpha: int, beta: int, plies: float, ply: int = 1) -> int:
        """Search the tree, with its root at ``ply``."""
        depth = int(plies * ONE)
        value = alphabeta.search(self.worker, self.tables, self.shared, alpha, beta, depth, ply, 0)
        assert len(self.path) == 1, "every stone is taken back"
        return int(value)

    def know(self, value: int, bound: int, *, move: int = 0, depth: int = 0) -> None:
        """Store an entry for the root of the tree in the table."""
        store(self.shared, np.uint64(self.path[0].key), 1, value, 0, move, depth, bound)

    def known(self) -> Any:
        """Return the table's entry for the root of the tree."""
        return probe(self.shared, np.uint64(self.path[0].key))

    def line(self) -> list[int]:
        """Return the line found by the search, as numbers of children."""
        return [int(c) - 1 for c in self.worker.pv[1, : self.worker.pv_length[1]]]

    def calls_of(self, *path: int) -> list[Call]:
        """Return the calls for the node after these moves."""
        return [call for call in self.calls if call.path == path]

    @property
    def node(self) -> Node:
        """The node that the search is at."""
        return self.path[-1]

    # What the search asks ---------------------------------------------------------------

    def _search_(self, worker, tables, shared, alpha, beta, depth, ply, cut):
        self.calls.append(Call(tuple(self.numbers), int(depth)))
        return SEARCH(worker, tables, shared, alpha, beta, depth, ply, cut)

    def _leaf_(self, worker, tables, shared, alpha, beta, fours, ply):
        worker.pv_length[ply] = 0
        self.leaves.append(tuple(self.numbers))
        return self.node.static

    def _static_result_(self, state: Any, tables: Any, ply: int) -> int:
        plies = self.node.result
        return plies and (win_in(ply + plies) if plies > 0 else loss_in(ply - plies))

    def _list_moves_(self, worker: Any, tables: Any, shared: Any, ply: int, depth: int) -> int:
        frame = worker.stack[ply + STACK_BASE]
        for number in range(len(self.node.children)):
            frame.moves[number] = (1000 - number) * 65536 + number + 1
        return len(self.node.children)

    def _child(self, cell: int) -> Node:
        return self.node.children[int(cell) - 1]

    def _count_of_(self, state: Any, side: int, kind: int) -> int:
        if side == self.position.side:
            return 0
        if kind == MAKES_FIVE:
            return int(self.node.blocked)
        return int(self.node.threatened and kind == MAKES_WINNING_FOUR)

    def _play_(self, state: Any, tables: Any, cell: int) -> None:
        self.numbers.append(int(cell) - 1)
        self.path.append(self._child(cell))
        self._moved(1)

    def _undo_(self, state: Any, tables: Any) -> None:
        self.path.pop()
        self.numbers.pop()
        self._moved(-1)

    def _moved(self, plies: int) -> None:
        self.position.side = 1 - self.position.side
        self.position.ply += plies
        self.position.key = np.uint64(self.node.key)


def windows(chance: random.Random, value: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield windows around a value: below it, above it, and with it inside."""
    for _ in range(count):
        alpha = value + chance.randint(-30, 30)
        yield alpha, alpha + chance.choice((1, 1, 2, 7, 30, 1000))
