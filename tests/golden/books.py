"""What books hold, play and say: ``python -m tests.golden.books`` records it anew.

A session (see ``records``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from pbrain_engine.commands import book as command
from pbrain_engine.database import book as growth
from pbrain_engine.database.store import Database
from pbrain_engine.engine.book import Book
from pbrain_engine.game import documents
from pbrain_engine.game.cells import cell_name, format_moves, parse_moves
from pbrain_engine.game.game import Game
from pbrain_engine.game.position import Position, image_of, read_key
from pbrain_engine.position.rules import Rule, Side
from tests.golden import texts
from tests.golden.commands import BOARD, stones
from tests.golden.records import Record, numoku, session, stage

EMPTY = Position(Rule.FREESTYLE, 15, 15, Side.BLACK, (), ())


class Here:
    """Workers that search in this thread."""

    def __init__(self, search: Any, processes: int) -> None:
        self.search, self.capacity, self.jobs = search, lambda: processes, list[bytes]()

    def submit(self, job: bytes) -> None:
        self.jobs.append(job)

    def wait(self) -> growth.Searched:
        found: growth.Searched = self.search(self.jobs.pop(0))
        return found

    def close(self) -> None:
        assert not self.jobs


def key_of(moves: str) -> bytes:
    return image_of(reduce(Position.after, parse_moves(moves), EMPTY)).key


def sides(key: bytes) -> str:
    """Return the stones of a position, as its key has them."""
    position = read_key(key)
    return f"x{format_moves(position.black)} o{format_moves(position.white)}"


def store(database: Database, graph: growth.Graph, moves: str, values: dict[str, int],
          nodes: int | None = None, start: Position = EMPTY) -> None:  # fmt: skip
    """Store a page, its moves by name as they are after these moves."""
    image = image_of(reduce(Position.after, parse_moves(moves), start))
    cells = image.turn([parse_moves(name)[0] for name in values])
    growth.save_pages(
        database, graph, graph.put(image.key, zip(cells, values.values(), strict=True))
    )
    row = {"key": image.key, "nodes": nodes}
    database.connection.run("UPDATE position SET nodes = :nodes WHERE key = :key", row)


def shown(graph: growth.Graph) -> Iterator[str]:
    """Yield the pages of a book with their values, and what would be searched next."""
    for key, page in sorted(graph.pages.items()):
        moves = " ".join(f"{cell_name(*cell)}={value:+}" for cell, value in graph.moves(page))
        reached = "" if key in graph.below else ", not reached"
        yield f"{sides(key)}: {page.value:+} by {moves}{reached}"
    busy: set[bytes] = set()
    told: list[str] = []
    while len(busy) < 6 and (leaf := graph.next_leaf(busy)) is not None:
        busy.add(leaf)
        told.append(f"next {sides(leaf)}")
    yield from texts.joined(told, "next ")


def page(name: str, moves: str, values: dict[str, int], nodes: int | None = None) -> Iterator[str]:
    """Put a page into the book of the empty board, and yield what it holds then."""
    with Database(name, create=True) as database, database.transaction():
        graph = growth.load_graph(database, key_of(""))
        store(database, graph, moves, values, nodes)
    return shown(graph)


def plays(name: str, moves: str, seed: int | None = None, effort: int = 0, rule: int = 0,
          stones: int = 3) -> Iterator[str]:  # fmt: skip
    """Yield what a book has of a position, and what it plays."""
    book, game = Book(name, seed), Game(15, 15, Rule(rule))
    for cell in parse_moves(moves):
        game.play(*cell)
    yield " ".join(f"{cell_name(*move)}={value:+}" for move, value in book.moves(game))
    chosen = [book.move(game, effort) for _ in range(1 if seed is None else 12)]
    yield "plays " + " ".join(cell_name(*known[0]) if known else "-" for known in chosen)
    yield f"balanced {[format_moves(cells) for cells in book.balanced(game, stones)]}"
    book.close()


def run(words: str, _: str) -> str:
    return BOARD.sub(stones, numoku(words))


@Record("books")
def books(record: str) -> str:
    """Return the record of all steps, of which another one has what is done."""
    with stage() as patch:
        patch.setattr(command, "ProcessPool", Here)
        patch.setattr(documents, "__version__", "9")
        return session(record, dict(globals()), run)
