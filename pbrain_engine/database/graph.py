"""A book in memory: searched positions, what their moves are worth, and which to search next.

The value of a position is that of its best move: of a move into the book what the position after
it is worth, of any other what the search of this position has said. Which position comes next is
decided by drop-out expansion (T. R. Lincke, "Strategies for the Automatic Construction of
Opening Books", 2000): a move costs one step, and as much more as it is worse than the best one;
the position outside of the book that costs the least from the root comes next.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from struct import iter_unpack, pack
from typing import NamedTuple

from ..notation.canonical import Symmetries, line_of, read_key
from ..position.geometry import Coordinates
from ..values import WIN_BAND

DROP = 40  # units of value that cost as much as one step
CERTAIN = WIN_BAND


class Edge(NamedTuple):
    """A move of a position in the orientation of its key, and the key of what comes after."""

    move: Coordinates
    estimate: int  # by the search of the position before the move
    child: bytes


class Page:
    """A position of the book."""

    __slots__ = ("key", "edges", "value", "parents")

    def __init__(self, key: bytes, edges: Sequence[Edge]) -> None:
        """Take what a search has found."""
        self.key = key
        self.edges = tuple(edges)
        self.value = max((edge.estimate for edge in edges), default=0)
        self.parents: set[bytes] = set()


def make_edges(key: bytes, moves: Iterable[BookMove]) -> list[Edge]:
    """Return moves with the keys they lead to; of moves that are alike only the first."""
    line = line_of(read_key(key))
    edges: dict[bytes, Edge] = {}
    for move, value in moves:
        line.play(*move)
        child = line.image().key
        line.undo(*move)
        edges.setdefault(child, Edge(move, value, child))
    return list(edges.values())


def doubles(key: bytes) -> list[Coordinates]:
    """Return the empty cells to which another one is alike by a symmetry of the position.

    Of each set of moves that are alike one is left out, which stands for them.
    """
    position = read_key(key)
    board = Symmetries.of(position.width, position.height)
    held = [frozenset(cells) for cells in (position.black, position.white, position.walls)]
    own = [
        number
        for number in range(len(board.tables))
        if all(frozenset(board.move(cells, number)) == cells for cells in held)
    ]
    taken = frozenset().union(*held)
    return [
        (x, y)
        for y in range(position.height)
        for x in range(position.width)
        if (x, y) not in taken and any(board.move([(x, y)], number)[0] < (x, y) for number in own)
    ]


class Graph:
    """The pages of a book; ``below`` are those to which its moves lead from the root."""

    def __init__(self, root: bytes, drop: int = DROP) -> None:
        """Begin without a page."""
        self.root = root
        self.pages: dict[bytes, Page] = {}
        self.below: set[bytes] = set()
        self._drop = drop
        self._waiting: dict[bytes, set[bytes]] = {}  # parents of positions without a page

    def put(self, key: bytes, moves: Iterable[BookMove]) -> list[Page]:
        """Add a page; return it and all others whose moves have other values now."""
        page = Page(key, make_edges(key, moves))
        page.parents = self._waiting.pop(key, set())
        self.pages[key] = page
        for edge in page.edges:
            child = self.pages.get(edge.child)
            (child.parents if child else self._waiting.setdefault(edge.child, set())).add(key)
        if key == self.root or not self.below.isdisjoint(page.parents):
            self._reach(key)
        page.value = self.best(page)
        changed = {key: page}
        queue = list(page.parents)
        while queue:
            parent = self.pages[queue.pop()]
            changed[parent.key] = parent
            value = self.best(parent)
            if value != parent.value:
                parent.value = value
                queue += parent.parents
        return list(changed.values())

    def _reach(self, key: bytes) -> None:
        """Note that a page, and those after it, can be reached from the root."""
        stack = [key]
        while stack:
            key = stack.pop()
            if key in self.pages and key not in self.below:
                self.below.add(key)
                stack += [edge.child for edge in self.pages[key].edges]

    def worth(self, edge: Edge) -> int:
        """Return what a move is worth to its side."""
        child = self.pages.get(edge.child)
        return edge.estimate if child is None else -_further(child.value)

    def best(self, page: Page) -> int:
        """Return what the best move of a page is worth."""
        return max(map(self.worth, page.edges), default=0)

    def moves(self, page: Page) -> list[BookMove]:
        """Return the moves of a page with their values, the best first."""
        found = [(edge.move, self.worth(edge)) for edge in page.edges]
        return sorted(found, key=lambda pair: -pair[1])

    def next_leaf(self, busy: Container[bytes] = ()) -> bytes | None:
        """Return the position to search next, None where everything is decided.

        ``busy``: those that are being searched already.
        """
        if self.root not in self.pages:
            return None if self.root in busy else self.root
        heap: list[tuple[float, bytes]] = [(0.0, self.root)]
        done: set[bytes] = set()
        while heap:
            cost, key = heappop(heap)
            if key in done:
                continue
            done.add(key)
            page = self.pages.get(key)
            if page is None:
                if key not in busy:
                    return key
                continue
            if abs(page.value) >= CERTAIN:
                continue
            for edge in page.edges:
                worth = self.worth(edge)
                if abs(worth) < CERTAIN and edge.child not in done:
                    heappush(heap, (cost + 1 + (page.value - worth) / self._drop, edge.child))
        return None

    def line(self, key: bytes | None = None) -> Iterator[tuple[bytes, int]]:
        """Yield the pages of the best line from the root, with their values."""
        key = self.root if key is None else key
        while (page := self.pages.get(key)) is not None:
            yield key, page.value
            if not page.edges:
                return
            key = max(page.edges, key=self.worth).child


def _further(value: int) -> int:
    """Return a forced win or loss as it is one ply earlier."""
    if value >= CERTAIN:
        return value - 1
    return value + 1 if value <= -CERTAIN else value


BookMove = tuple[Coordinates, int]


def pack_book(moves: Iterable[BookMove], width: int) -> bytes:
    """Return moves and values as bytes, in their order."""
    return b"".join(pack(">Hh", y * width + x, value) for (x, y), value in moves)


def unpack_book(packed: bytes, width: int) -> list[BookMove]:
    """Return the moves that :func:`pack_book` packed."""
    return [
        ((cell % width, cell // width), value) for cell, value in iter_unpack(">Hh", bytes(packed))
    ]
