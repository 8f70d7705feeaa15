"""Opening books: searched positions, the values of their moves, and which to search next.

The value of a position is that of its best move. A move to another position of the book takes its
value from there; any other move keeps the value of this position's own search. Drop-out expansion
(T. R. Lincke, "Strategies for the Automatic Construction of Opening Books", 2000) chooses what to
search next: a move costs one step, plus its drop in value from the best move; the position outside
the book with the lowest cost from the root is searched, its value is propagated to the root, and
so on.

Every page is stored before it counts, so an interrupted build resumes with the same command.
Several builders may share a file: each announces there which positions it searches.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from functools import partial
from heapq import heappop, heappush
from time import time
from typing import NamedTuple

from ..engine.engine import Engine, Limit
from ..game.position import BOARD, BookMove, Image, image_of, pack_book, read_key
from ..game.record import GameRecord
from ..game.result import Author, Known, Result
from ..position.geometry import Coordinates, transform
from ..values import WIN_BAND
from ..workers import Pool, ThreadCache
from .store import Database, checksum

DROP = 40  # a drop of this many value units costs one step


class Edge(NamedTuple):
    """A move, in the orientation of its position's key, and the key of the position after it."""

    move: Coordinates
    estimate: int  # from the search of the position before the move
    child: bytes


class Page:
    """A position of the book; ``parents`` are the keys of the pages with a move to it."""

    __slots__ = ("key", "edges", "value", "parents")

    def __init__(self, key: bytes, moves: Iterable[BookMove], parents: set[bytes]) -> None:
        """Keep the moves of a search, only the first of symmetric ones."""
        position, edges = read_key(key), dict[bytes, Edge]()
        for move, value in moves:
            child = image_of(position.after(move)).key
            edges.setdefault(child, Edge(move, value, child))
        self.key, self.parents = key, parents
        self.edges = tuple(edges.values())
        self.value = 0  # of the best move, once the page is in the book


def doubles(key: bytes) -> list[Coordinates]:
    """Return the empty cells that are equivalent to another by a symmetry of the position.

    One cell of each equivalent set is left out, to represent the others.
    """
    position = read_key(key)
    size, own = (position.width, position.height), position.own_symmetries()
    return [
        cell
        for cell in position.empty_cells
        if any(transform([cell], number, *size)[0] < cell for number in own)
    ]


class Graph:
    """The pages of a book; ``below`` has the keys of those reachable from the root."""

    def __init__(self, root: bytes, drop: int = DROP) -> None:
        self.root = root
        self.pages: dict[bytes, Page] = {}
        self.below: set[bytes] = set()
        self._drop = drop
        self._waiting: dict[bytes, set[bytes]] = {}  # parents of positions without a page

    def put(self, key: bytes, moves: Iterable[BookMove]) -> list[Page]:
        """Add a page; return it and all pages with a move whose value may have changed."""
        page = self.pages[key] = Page(key, moves, self._waiting.pop(key, set()))
        for edge in page.edges:
            child = self.pages.get(edge.child)
            (child.parents if child else self._waiting.setdefault(edge.child, set())).add(key)
        if key == self.root or not self.below.isdisjoint(page.parents):
            stack = [key]  # newly reachable
            while stack:
                reached = stack.pop()
                if reached in self.pages and reached not in self.below:
                    self.below.add(reached)
                    stack += [edge.child for edge in self.pages[reached].edges]
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

    def worth(self, edge: Edge) -> int:
        """Return the value of a move for the side that makes it."""
        child = self.pages.get(edge.child)
        if child is None:
            return edge.estimate
        later = (child.value <= -WIN_BAND) - (child.value >= WIN_BAND)
        return -child.value - later  # a forced win or loss is one ply farther away

    def best(self, page: Page) -> int:
        """Return the value of the best move of a page."""
        return max(map(self.worth, page.edges), default=0)

    def moves(self, page: Page) -> list[BookMove]:
        """Return the moves of a page with their values, best first."""
        found = [(edge.move, self.worth(edge)) for edge in page.edges]
        return sorted(found, key=lambda pair: -pair[1])

    def next_leaf(self, busy: Container[bytes]) -> bytes | None:
        """Return the key of the position to search next, None if everything is decided.

        ``busy``: the keys of positions being searched already.
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
            if abs(page.value) >= WIN_BAND:
                continue
            for edge in page.edges:
                worth = self.worth(edge)
                if abs(worth) < WIN_BAND and edge.child not in done:
                    heappush(heap, (cost + 1 + (page.value - worth) / self._drop, edge.child))
        return None


# Growing -------------------------------------------------------------------------------

ADD_PAGE = """INSERT INTO book (position, value, moves, crc)
    VALUES (:position, :value, :moves, :crc) ON CONFLICT (position)"""
SET_PAGE = (
    f"{ADD_PAGE} DO UPDATE SET value = excluded.value, moves = excluded.moves, crc = excluded.crc"
)
STORED_PAGE = """SELECT book.moves FROM book JOIN position ON position.id = book.position
    WHERE position.key = :key"""
AT = "search "  # prefix in ``meta`` of a position being searched; the value: when that expires
ANNOUNCE = """INSERT INTO meta (name, value) VALUES (:name, :until)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value"""
LEAST_SECONDS = 30  # the positions of a killed builder are free again after this and the search
SLOWEST = 20_000  # nodes a second
HASH_BYTES = 32 << 20  # of the engine that searches positions

_engines = ThreadCache()


class BookPlan(NamedTuple):
    """How a book is grown."""

    positions: int  # pages to reach, counted from the root
    lines: int  # moves compared on a page
    nodes: int  # per search
    weights: str
    author: Author


def load_graph(database: Database, root: bytes, drop: int = DROP) -> Graph:
    """Return the stored book with the rule and board of a root; within ``transaction()``.

    Values that pages added by another program or by a merge have made outdated are updated.
    """
    graph = Graph(root, drop)
    stored = {
        key: (value, moves) for key, value, moves in database.pages() if key[:BOARD] == root[:BOARD]
    }
    for key in sorted(stored, key=lambda key: -read_key(key).stones):  # children before parents
        graph.put(key, Image(key, 0).unpack_book(stored[key][1]))
    pages = graph.pages.values()
    changed = [page for page in pages if (page.value, _pack(graph, page)) != stored[page.key]]
    save_pages(database, graph, changed)
    return graph


def settle(database: Database, keys: Iterable[bytes]) -> None:
    """Update the values of all books that contain these positions; within ``transaction()``."""
    for root in {key[:BOARD]: key for key in keys}.values():
        load_graph(database, root)


def save_pages(database: Database, graph: Graph, pages: Iterable[Page]) -> None:
    """Store pages with their current values."""
    for page in pages:
        row = page_row(database, page.key, page.value, _pack(graph, page))
        database.connection.run(SET_PAGE, row)


def page_row(database: Database, key: bytes, value: int, moves: bytes) -> dict[str, object]:
    """Return a page, its moves packed, as a row of the table."""
    crc = checksum(key, value, moves)
    return {"position": database.position_number(key), "value": value, "moves": moves, "crc": crc}


def _pack(graph: Graph, page: Page) -> bytes:
    return pack_book(graph.moves(page), page.key[1])


def grow(
    database: Database,
    graph: Graph,
    plan: BookPlan,
    workers: Pool[bytes, Searched],
    tell: Callable[[Graph], None],
) -> None:
    """Search until the book has ``plan.positions`` pages or everything in it is decided."""
    running: set[bytes] = set()
    try:
        while len(graph.below) < plan.positions:
            while len(running) < min(workers.capacity(), plan.positions - len(graph.below)):
                with database.transaction():
                    leaf = _take_leaf(database, graph, running, plan.nodes)
                if leaf is None:
                    break
                running.add(leaf)
                workers.submit(leaf)
            if not running:
                return
            result = workers.wait()
            changed = graph.put(result.key, result.moves)
            with database.transaction():
                if result.finding is not None:
                    database.add_findings([Known(Image(result.key, 0), result.finding)])
                save_pages(database, graph, changed)
                _give_back(database, [result.key])
            running.remove(result.key)
            tell(graph)
    finally:
        if running:
            with database.transaction():
                _give_back(database, running)


def _take_leaf(database: Database, graph: Graph, running: set[bytes], nodes: int) -> bytes | None:
    """Return the position to search next, and announce it to other builders of this file.

    Pages that others have stored are read in; positions they are searching come last.
    """
    announced = database.connection.rows(f"SELECT name, value FROM meta WHERE name LIKE '{AT}%'")
    others = {
        bytes.fromhex(name.removeprefix(AT)) for name, until in announced if int(until) > time()
    }
    while (leaf := graph.next_leaf(running | others) or graph.next_leaf(running)) is not None:
        stored = database.connection.rows(STORED_PAGE, {"key": leaf})
        if not stored:
            until = str(int(time() + LEAST_SECONDS + nodes / SLOWEST))
            database.connection.run(ANNOUNCE, {"name": AT + leaf.hex(), "until": until})
            return leaf
        moves = Image(leaf, 0).unpack_book(stored[0][0])
        save_pages(database, graph, graph.put(leaf, moves))
    return None


def _give_back(database: Database, keys: Iterable[bytes]) -> None:
    database.connection.run(
        "DELETE FROM meta WHERE name = :name", [{"name": AT + key.hex()} for key in keys]
    )


# One position -----------------------------------------------------------------------


class Searched(NamedTuple):
    """The result of a search: moves with values for the side to move, best first."""

    key: bytes
    moves: tuple[BookMove, ...]
    finding: Result | None = None  # None: the game is over there


def search_position(plan: BookPlan, key: bytes) -> Searched:
    """Search a position with the engine of this thread, after clearing its tables.

    The result depends on nothing else.
    """
    make = partial(Engine, hash_size=HASH_BYTES, weights=plan.weights)
    engine = _engines.get(plan.weights, make)
    position = read_key(key)
    engine.new_game(position.width, position.height, position.rule)
    engine.clear_hash()
    engine.game.become(GameRecord.of(position))
    if engine.game.is_over:
        return Searched(key, ())
    thoughts = engine.think_lines(Limit(nodes=plan.nodes), plan.lines, exclude=doubles(key))
    best, *_ = ranked = sorted(thoughts, key=lambda thought: -thought.value)
    finding = best._replace(nodes=thoughts[0].nodes, bound="", time=0.0, author=plan.author)
    return Searched(key, tuple((thought.move, thought.value) for thought in ranked), finding)
