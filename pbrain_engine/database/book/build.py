"""Growing a book: the next position is searched, its values go up to the root, and again.

Every page is stored before it counts, so the same command continues a book that was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ...notation.canonical import HEAD, Image, read_key
from ..finding import Author, Finding, checksum
from ..store import Database, Known
from .entry import pack_book, unpack_book
from .graph import Graph, Page
from .search import Job, Result
from .workers import Workers

SET_PAGE = """INSERT INTO book (position, value, moves, crc)
    VALUES (:position, :value, :moves, :crc)
    ON CONFLICT (position) DO UPDATE SET value = excluded.value, moves = excluded.moves,
    crc = excluded.crc"""


class Plan(NamedTuple):
    """How a book is grown."""

    positions: int  # pages in the end
    lines: int  # moves that a page compares
    nodes: int  # of a search
    weights: str
    author: Author


def load_graph(database: Database, root: bytes, drop: int) -> Graph:
    """Return the book that is stored, below a root of its rule and board."""
    graph = Graph(root, drop)
    pages: dict[bytes, bytes] = {
        bytes(key): bytes(moves)
        for key, moves in database.connection.stream(
            "SELECT key, book.moves FROM book JOIN position ON position.id = book.position"
        )
        if bytes(key)[: HEAD - 1] == root[: HEAD - 1]
    }
    for key in sorted(pages, key=lambda key: -read_key(key).stones):  # children before parents
        _, width, height = key[:3]
        graph.put(key, unpack_book(pages[key], width, height))
    return graph


def save_pages(database: Database, graph: Graph, pages: Iterable[Page]) -> None:
    """Store pages as they are now."""
    for page in pages:
        moves = pack_book(graph.moves(page), page.key[1])
        database.connection.run(
            SET_PAGE,
            {
                "position": database.position_number(page.key),
                "value": page.value,
                "moves": moves,
                "crc": checksum(page.key, page.value, moves),
            },
        )


def finding_of(result: Result, author: Author) -> Known:
    """Return the finding of a search, in the orientation of its key."""
    finding = Finding(
        result.value, depth=result.depth, nodes=result.nodes,
        moves=tuple(move for move, _ in result.moves[:1]), line=result.line, proof=result.proof,
        author=author,
    )  # fmt: skip
    return Known(Image(result.key, 0), finding)


def grow(
    database: Database, graph: Graph, plan: Plan, workers: Workers, tell: Callable[[Graph], None]
) -> None:
    """Search until the book has its positions, or everything in it is decided."""
    while len(graph.pages) < plan.positions:
        room = min(workers.capacity, plan.positions - len(graph.pages)) - len(workers.running)
        for _ in range(room):
            leaf = graph.next_leaf(workers.running)
            if leaf is None:
                break
            workers.submit(Job(leaf, plan.lines, plan.nodes, plan.weights))
        if not workers.running:
            return
        result = workers.next()
        changed = graph.put(result.key, result.moves)
        with database.writing():
            if result.moves:
                database.add_findings([finding_of(result, plan.author)])
            save_pages(database, graph, changed)
        tell(graph)
