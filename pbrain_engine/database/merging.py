"""One database taken over into another: games once each, the better findings, all lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..notation.canonical import Image
from ..notation.sgf import parse_sgf
from .adding import BATCH, Tell
from .book.build import settle
from .lines import add_tree, read_trees
from .store import FINDING_COLUMNS, OPEN, Added, Database, Known, StoredGame


def merge(into: Database, other: Database, tell: Tell = lambda done: None) -> Added:
    """Take everything over; ``tell`` is called whenever a batch is stored."""
    done = Added()
    games = _games(other)
    while batch := list(islice(games, BATCH)):
        with into.writing():
            done += into.add_games(batch)
        tell(done)
    findings = _findings(other)
    while known := list(islice(findings, BATCH * 10)):
        with into.writing():
            done += Added(positions=into.add_findings(known))
        tell(done)
    for tree in read_trees(other):
        with into.writing():
            done += add_tree(into, tree)
        tell(done)
    with into.writing():
        done += Added(pages=_take_book(into, other))
    return done


def _games(database: Database) -> Iterator[StoredGame]:
    for result, text in database.connection.stream("SELECT result, record FROM game ORDER BY id"):
        yield StoredGame(parse_sgf(text), counts=result != OPEN)


def _findings(database: Database) -> Iterator[Known]:
    for key, *columns in database.connection.stream(
        f"SELECT key, {FINDING_COLUMNS} FROM position WHERE rank IS NOT NULL ORDER BY id"
    ):
        image = Image(bytes(key), 0)
        finding = database.read_finding(image, columns)
        if finding is not None:
            yield Known(image, finding)


def _take_book(into: Database, other: Database) -> int:
    """Take over the book's positions that are not in the own book; return how many.

    Afterwards the positions before them are worth what these say.
    """
    taken = []
    for key, value, moves, crc in other.connection.stream(
        "SELECT key, book.value, book.moves, book.crc FROM book "
        "JOIN position ON position.id = book.position ORDER BY position.id"
    ):
        if into.connection.run(
            "INSERT INTO book (position, value, moves, crc) VALUES (:position, :value, :moves, "
            ":crc) ON CONFLICT (position) DO NOTHING",
            {"position": into.position_number(bytes(key)), "value": value, "moves": moves,
             "crc": crc},
        ):  # fmt: skip
            taken.append(bytes(key))
    settle(into, taken)
    return len(taken)
