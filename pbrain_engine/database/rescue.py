"""Damaged databases: find the faults, and save the readable rows in a new file."""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..engine.engine import EngineError
from ..game.cells import NotationError
from ..game.position import image_of, read_key
from ..notation.sgf import parse_sgf
from .connection import Row
from .lines import MOVE, NO_PARENT, START, TEXT, cell_of, node_checksum
from .sources import merge
from .store import FINDING_COLUMNS, OPEN, RESULTS, Database, checksum, digest_of, finding_checksum


def find_faults(database: Database) -> Iterator[str]:
    """Yield one message per fault; nothing if the database is intact."""
    damage = database.connection.faults()
    if damage:
        yield from (f"the file is damaged: {text}" for text in damage)
        return
    counts: Counter[tuple[bytes, str]] = Counter()  # of positions and results
    yield from _check_games(database, counts)
    yield from _check_positions(database, counts)
    yield from _check_nodes(database)
    for position, value, moves, crc, key in database.connection.stream(
        "SELECT book.position, book.value, book.moves, book.crc, key FROM book "
        "LEFT JOIN position ON position.id = book.position"
    ):
        if key is None:
            yield f"the book has a missing position {position}"
        elif not _agrees(crc, checksum, key, value, moves):
            yield f"the book's entry for position {position} does not match its checksum"


@contextmanager
def damage_told(database: Database) -> Iterator[None]:
    """Raise EngineError with the first fault of a database for an error that its rows cause."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, struct.error):
        fault = next(find_faults(database), None)
        if fault is None:
            raise
        raise EngineError(f"{database.name} is damaged: {fault}") from None


def _check_games(database: Database, counts: Counter[tuple[bytes, str]]) -> Iterator[str]:
    """Check the games, and count the results that their positions should have."""
    for number, digest, result, text in database.connection.stream(
        "SELECT id, digest, result, record FROM game"
    ):
        if not _agrees(digest, digest_of, text):
            yield f"game {number} does not match its checksum"
            continue
        try:
            images = list(parse_sgf(text).images())
        except (NotationError, ValueError) as error:
            yield f"game {number} cannot be read: {error}"
            continue
        if result in RESULTS:
            counts.update((image.key, result) for image in images)
        elif result != OPEN:
            yield f"game {number} has the result {result!r}"


def _check_positions(database: Database, counts: Counter[tuple[bytes, str]]) -> Iterator[str]:
    authors = {number for (number,) in database.connection.stream("SELECT id FROM author")}
    for number, key, black, white, draws, *columns in database.connection.stream(
        f"SELECT id, key, black_wins, white_wins, draws, {FINDING_COLUMNS} FROM position"
    ):
        try:
            if image_of(read_key(key)).key != key:
                yield f"position {number} is not in its least orientation"
        except ValueError as error:
            yield f"position {number} has {error}"
        except TypeError:
            yield f"position {number} has no key"
        if [black, white, draws] != [counts.pop((key, result), 0) for result in RESULTS]:
            yield f"position {number} has result counts that differ from its games"
        if any(column is not None for column in columns):
            if not _agrees(columns[-1], finding_checksum, key, columns[:-1]):
                yield f"the finding about position {number} does not match its checksum"
            if columns[-2] not in authors:
                yield f"position {number}: unknown author"
    if counts:
        yield f"positions of games that are missing: {len({key for key, _ in counts})}"


def _check_nodes(database: Database) -> Iterator[str]:
    """Check the lines, and that every node leads to its position."""
    below: dict[int, list[tuple[int, int, int, bytes | None]]] = defaultdict(list)
    total = 0
    for number, parent, kind, cell, key, crc, *notes in database.connection.stream(
        "SELECT node.id, parent, kind, cell, key, node.crc, title, comment, text, marks "
        "FROM node LEFT JOIN position ON position.id = node.position"
    ):
        if not _agrees(crc, node_checksum, kind, cell, *notes):
            yield f"node {number} does not match its checksum"
            continue
        total += 1
        below[parent].append((number, kind, cell, key))
    reached = 0
    for number, kind, _, key in below[NO_PARENT]:
        reached += 1
        try:
            start = read_key(key if kind == START and key is not None else b"")
        except (TypeError, ValueError):
            yield f"node {number} has no start position"
            continue
        stack = [(start, *child) for child in below[number]]
        while stack:
            before, node, kind, cell, key = stack.pop()
            reached += 1
            if kind == TEXT:
                continue
            position = before.after(cell_of(cell, before.width))
            if kind != MOVE or image_of(position).key != key:
                yield f"node {node} does not lead to its position"
            stack += [(position, *child) for child in below[node]]
    if reached != total:
        yield f"nodes that no line reaches: {total - reached}"


def _agrees(stored: object, sum_of: Callable[..., object], *parts: object) -> bool:
    """Return whether a checksum matches its parts; damaged parts may have any type."""
    try:
        return sum_of(*parts) == stored
    except (AttributeError, TypeError, ValueError):
        return False


# Rescue ---------------------------------------------------------------------------------

BLOCK = 1024  # rows read at once; halved where that fails
EMPTY_BLOCKS = 8  # in succession end a table whose last row number cannot be read

_COLUMNS = {  # of each table, the row number first
    "author": "id, version, weights",
    "position": f"id, key, {FINDING_COLUMNS}",
    "game": "id, digest, result, record",
    "node": "id, parent, kind, cell, position, marks, title, comment, text, crc",
    "book": "position, value, moves, crc",
}
NUMBERED = ("game", "position", "node")  # numbered from 1 without gaps, so losses can be counted


class Rescued(NamedTuple):
    """How many rows of a table were kept and lost.

    If the end of the table cannot be read, ``lost`` is only a lower bound.
    """

    kept: int
    lost: int
    knows_end: bool


def rescue(path: Path, target: Path) -> dict[str, Rescued]:
    """Copy all readable rows with valid checksums to a new file; return counts by table.

    EngineError if the new file exists already, or nothing in the old one can be read.
    """
    if target.exists():
        raise EngineError(f"{target} already exists")
    if not path.is_file():
        raise EngineError(f"there is no database {path}")
    try:
        link = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        link.execute("PRAGMA writable_schema = ON")  # reads files that are cut off, too
        link.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.Error as error:
        raise EngineError(f"nothing in {path} can be read: {error}") from None
    with TemporaryDirectory(dir=target.parent) as folder:
        copy = Path(folder, "copy.db")
        with Database(copy, create=True) as readable:
            last = _copy(link, readable)
            link.close()
            with Database(target, create=True) as new:
                merge(new, readable)
                kept = {table: new.count(table) for table in NUMBERED}
    return {
        table: Rescued(count, max(last[table][0] - count, 0), last[table][1])
        for table, count in kept.items()
    }


def _copy(link: sqlite3.Connection, copy: Database) -> dict[str, tuple[int, bool]]:
    """Copy the intact rows of all tables to an empty database; return each table's end."""
    last: dict[str, tuple[int, bool]] = {}
    keys: dict[int, bytes] = {}  # of the positions
    for table, columns in _COLUMNS.items():
        rows, last[table] = _read(link, table, columns)
        rows = list(_good(table, rows, keys))
        if table == "position":
            keys = {row[0]: row[1] for row in rows}
        names = columns.split(", ")
        values = ", ".join(f":{name}" for name in names)
        with copy.transaction():
            copy.connection.run(
                f"INSERT INTO {table} ({columns}) VALUES ({values})",
                [dict(zip(names, row, strict=True)) for row in rows],
            )
    return last


def _read(link: sqlite3.Connection, table: str, columns: str) -> tuple[list[Row], tuple[int, bool]]:
    """Return the readable rows of a table, its last row number, and whether that is certain."""
    number = columns.split(", ")[0]

    def between(low: int, high: int) -> Iterator[Row]:
        rows = f"SELECT {columns} FROM {table} WHERE {number} BETWEEN ? AND ?"
        try:
            yield from link.execute(rows, (low, high)).fetchall()
        except (sqlite3.Error, OverflowError):
            if low < high:
                middle = (low + high) // 2
                yield from between(low, middle)
                yield from between(middle + 1, high)

    end = None
    with suppress(sqlite3.Error):
        ((size,),) = link.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchall()
        ((last,),) = link.execute(f"SELECT COALESCE(MAX({number}), 0) FROM {table}").fetchall()
        if isinstance(last, int) and last <= size:  # else damaged: the file has no room for so many
            end = last
    rows: list[Row] = []
    low = 1
    empty = 0
    while empty < EMPTY_BLOCKS if end is None else low <= end:
        block = list(between(low, low + BLOCK - 1))
        rows += block
        empty = 0 if block else empty + 1
        low += BLOCK
    found = max([row[0] for row in rows], default=0)
    return rows, (found, False) if end is None else (end, True)


def _good(table: str, rows: list[Row], keys: dict[int, bytes]) -> Iterator[Row]:
    """Yield the intact rows; a position with a damaged finding loses only that."""
    for row in sorted(rows):
        with suppress(KeyError, NotationError, TypeError, ValueError):  # also of wrong types
            match table, row:
                case "position", (number, key, *finding):
                    read_key(key)
                    if not _agrees(finding[-1], finding_checksum, key, finding[:-1]):
                        finding = [None] * len(finding)
                    yield number, key, *finding
                    continue
                case "game", (_, digest, _, record):
                    is_intact = _agrees(digest, digest_of, record)
                    list(parse_sgf(record).images())  # or an error, as of twice the same move
                case "node", (_, parent, kind, cell, position, marks, *texts, crc):
                    is_intact = _agrees(crc, node_checksum, kind, cell, *texts, marks)
                    if kind == START:  # both columns must have the number of its position
                        is_intact &= parent == NO_PARENT and cell == position and cell in keys
                case "book", (position, value, moves, crc):
                    is_intact = _agrees(crc, checksum, keys[position], value, moves)
                case _:
                    is_intact = all(isinstance(text, str) for text in row[1:])
            if is_intact:
                yield row
