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
from .graph import DROP, Graph, Page
from .search import Job, Result
from .workers import Workers

SET_PAGE = """INSERT INTO book (position, value, moves, crc)
    VALUES (:position, :value, :moves, :crc)
    ON CONFLICT (position) DO UPDATE SET value = excluded.value, moves = excluded.moves,
    crc = excluded.crc"""


class Plan(NamedTuple):
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
    _, width, height = root[:3]
    stored: dict[bytes, tuple[int, bytes]] = {
        bytes(key): (value, bytes(moves))
        for key, value, moves in database.connection.stream(
            "SELECT key, book.value, book.moves FROM book "
            "JOIN position ON position.id = book.position"
        )
        if bytes(key)[: HEAD - 1] == root[: HEAD - 1]
    }
    for key in sorted(stored, key=lambda key: -read_key(key).stones):  # children before parents
        graph.put(key, unpack_book(stored[key][1], width, height))
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
    database: Database, graph: Graph, plan: Plan, workers: Workers, tell: Callable[[Graph], None]
) -> None:
    """Search until the book has its positions, or everything in it is decided."""
    while len(graph.below) < plan.positions:
        room = min(workers.capacity, plan.positions - len(graph.below)) - len(workers.running)
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
