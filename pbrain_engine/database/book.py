"""Growing a book: the next position is searched, its values go up to the root, and again.

Every page is stored before it counts, so the same command continues a book that was interrupted.
Several may grow the same one at once: each announces in the file what it searches.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import time
from typing import NamedTuple

from ..engine.engine import Engine, Limit, Move, Thought
from ..notation.canonical import HEAD, Image, read_key
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..workers import ClusterPool, ProcessPool
from .finding import Author, Finding, checksum
from .graph import DROP, BookMove, Graph, Page, doubles, pack_book, unpack_book
from .store import Database, Known

SET_PAGE = """INSERT INTO book (position, value, moves, crc)
    VALUES (:position, :value, :moves, :crc)
    ON CONFLICT (position) DO UPDATE SET value = excluded.value, moves = excluded.moves,
    crc = excluded.crc"""
STORED_PAGE = """SELECT book.moves FROM book JOIN position ON position.id = book.position
    WHERE position.key = :key"""
AT = "search "  # before the name of a searched position in ``meta``, with when it is free again
ANNOUNCE = """INSERT INTO meta (name, value) VALUES (:name, :until)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value"""
LEAST_SECONDS = 30  # after a builder was killed, its positions are free after so long
SLOWEST = 20_000  # nodes a second
HASH_BYTES = 32 << 20  # of the engine that searches a position

_own = threading.local()


class BookPlan(NamedTuple):
    """How a book is grown."""

    positions: int  # pages below the root in the end
    lines: int  # moves that a page compares
    nodes: int  # of a search
    weights: str
    author: Author


def load_graph(database: Database, root: bytes, drop: int = DROP) -> Graph:
    """Return the book that is stored, of the rule and board of a root; within ``writing()``.

    Pages that another program or a merge has put there may be worth what those before them do not
    say yet: that is set right.
    """
    graph = Graph(root, drop)
    stored: dict[bytes, tuple[int, bytes]] = {
        bytes(key): (value, bytes(moves))
        for key, value, moves in database.connection.stream(
            "SELECT key, book.value, book.moves FROM book "
            "JOIN position ON position.id = book.position"
        )
        if bytes(key)[: HEAD - 1] == root[: HEAD - 1]
    }
    for key in sorted(stored, key=lambda key: -read_key(key).stones):  # children before parents
        graph.put(key, unpack_book(stored[key][1], root[1]))
    pages = graph.pages.values()
    save_pages(
        database,
        graph,
        [page for page in pages if (page.value, _packed(graph, page)) != stored[page.key]],
    )
    return graph


def settle(database: Database, keys: Iterable[bytes]) -> None:
    """Set the values of the books right to which positions belong; within ``writing()``."""
    for root in {key[: HEAD - 1]: key for key in keys}.values():
        load_graph(database, root)


def save_pages(database: Database, graph: Graph, pages: Iterable[Page]) -> None:
    """Store pages as they are now."""
    for page in pages:
        moves = _packed(graph, page)
        database.connection.run(
            SET_PAGE,
            {
                "position": database.position_number(page.key),
                "value": page.value,
                "moves": moves,
                "crc": checksum(page.key, page.value, moves),
            },
        )


def _packed(graph: Graph, page: Page) -> bytes:
    return pack_book(graph.moves(page), page.key[1])


def finding_of(result: Result, author: Author) -> Known:
    """Return the finding of a search, in the orientation of its key."""
    finding = Finding(
        result.value, depth=result.depth, nodes=result.nodes,
        moves=tuple(move for move, _ in result.moves[:1]), line=result.line, proof=result.proof,
        author=author,
    )  # fmt: skip
    return Known(Image(result.key, 0), finding)


def grow(
    database: Database,
    graph: Graph,
    plan: BookPlan,
    workers: ProcessPool[BookJob, Result] | ClusterPool[BookJob, Result],
    tell: Callable[[Graph], None],
) -> None:
    """Search until the book has its positions, or everything in it is decided."""
    running: set[bytes] = set()
    try:
        while len(graph.below) < plan.positions:
            while len(running) < min(workers.capacity, plan.positions - len(graph.below)):
                with database.writing():
                    leaf = _take_leaf(database, graph, running, plan.nodes)
                if leaf is None:
                    break
                running.add(leaf)
                workers.submit(BookJob(leaf, plan.lines, plan.nodes, plan.weights))
            if not running:
                return
            result = workers.wait()
            changed = graph.put(result.key, result.moves)
            with database.writing():
                if result.moves:
                    database.add_findings([finding_of(result, plan.author)])
                save_pages(database, graph, changed)
                _give_back(database, [result.key])
            running.remove(result.key)
            tell(graph)
    finally:
        if running:
            with database.writing():
                _give_back(database, running)


def _take_leaf(database: Database, graph: Graph, running: set[bytes], nodes: int) -> bytes | None:
    """Return the position to search next, and announce it to other builders of this file.

    What they have stored is taken over, and what they search is left to them, unless nothing else
    is left.
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
        moves = unpack_book(stored[0][0], leaf[1])
        save_pages(database, graph, graph.put(leaf, moves))
    return None


def _give_back(database: Database, keys: Iterable[bytes]) -> None:
    database.connection.run_many(
        "DELETE FROM meta WHERE name = :name", [{"name": AT + key.hex()} for key in keys]
    )


# One position -----------------------------------------------------------------------


class BookJob(NamedTuple):
    """What is to be searched and how; the result depends on nothing else."""

    key: bytes
    lines: int  # moves that differ by more than symmetry
    nodes: int
    weights: str


class Result(NamedTuple):
    """What was found: moves with values for the side to move, best first."""

    key: bytes
    moves: tuple[BookMove, ...]
    value: int
    depth: int
    nodes: int
    line: tuple[Coordinates, ...]
    proof: str


def search_position(job: BookJob) -> Result:
    """Search a position with the engine of this thread, which forgets everything before."""
    engine: Engine | None = getattr(_own, "engine", None)
    if engine is None or _own.weights != job.weights:
        if engine is not None:
            engine.close()
        engine = _own.engine = Engine(hash_size=HASH_BYTES, weights=job.weights)
        _own.weights = job.weights
    position = read_key(job.key)
    engine.new_game(position.width, position.height, position.rule)
    engine.clear_hash()
    for side, cells in (
        (Side.BLACK, position.black), (Side.WHITE, position.white), (Side.WALL, position.walls),
    ):  # fmt: skip
        for x, y in cells:
            engine.place(x, y, side)
    engine.set_to_move(position.to_move)
    if engine.game.is_over:
        return Result(job.key, (), 0, 0, 0, (), "")
    exclude = [Move(x, y) for x, y in doubles(job.key)]
    thoughts: dict[int, Thought] = {}

    def listen(thought: Thought) -> None:
        if thought.multipv == 1:  # those of the next depth begin
            thoughts.clear()
        thoughts[thought.multipv] = thought

    limit = Limit(nodes=job.nodes)
    best = engine.think(limit, on_iteration=listen, multipv=job.lines, exclude=exclude)
    thoughts.setdefault(1, best)
    ranked = sorted(thoughts.values(), key=lambda thought: -thought.value)
    moves = {tuple(thought.move): thought.value for thought in reversed(ranked)}
    ordered = sorted(moves.items(), key=lambda pair: -pair[1])
    return Result(
        job.key,
        tuple(((x, y), value) for (x, y), value in ordered),
        ranked[0].value,
        ranked[0].depth,
        best.nodes,
        tuple((x, y) for x, y in ranked[0].pv),
        ranked[0].proof or ("search" if ranked[0].mate is not None else ""),
    )
