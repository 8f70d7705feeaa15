"""What can still be read of a damaged file, taken over into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..engine.engine import EngineError
from ..game.position import read_key
from .connection import Row
from .lines import NO_PARENT, START, node_checksum
from .sources import merge
from .store import FINDING_COLUMNS, Database, checksum, digest_of, finding_checksum

BLOCK = 1024  # rows that are read at once, as long as that goes well
EMPTY_BLOCKS = 8  # without a row: the end of a table whose last number cannot be read

_COLUMNS = {  # of the tables, each with the number of its rows first
    "author": "id, version, weights",
    "position": f"id, key, {FINDING_COLUMNS}",
    "game": "id, digest, result, record",
    "node": "id, parent, kind, cell, position, marks, title, comment, text, crc",
    "book": "position, value, moves, crc",
}
NUMBERED = ("game", "position", "node")  # numbered from 1 without a gap: so losses are known


class Rescued(NamedTuple):
    """How many rows of a table are in the new file, and how many of the old one are not.

    Where the end of a table cannot be read, more may be lost than is known.
    """

    kept: int
    lost: int
    knows_end: bool


def rescue(path: Path, target: Path) -> dict[str, Rescued]:
    """Take what can be read of a file, and fits its checksums, into a file that is not there yet.

    Returns the counts of the tables that ``NUMBERED`` names.

    Raises:
        EngineError: the new file is there, or nothing of the old one can be read.
    """
    if target.exists():
        raise EngineError(f"{target} is there already")
    if not path.is_file():
        raise EngineError(f"there is no database {path}")
    try:
        link = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        link.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.Error as error:
        raise EngineError(f"nothing of {path} can be read: {error}") from None
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
    """Put the good rows of all tables into an empty database; return their ends."""
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
    """Return the rows of a table that can be read, the last number, and if it is known to be it."""
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
        ((end,),) = link.execute(f"SELECT COALESCE(MAX({number}), 0) FROM {table}").fetchall()
    rows: list[Row] = []
    low = 1
    empty = 0
    while empty < EMPTY_BLOCKS if end is None else low <= end:
        block = list(between(low, low + BLOCK - 1))
        rows += block
        empty = 0 if block else empty + 1
        low += BLOCK
    found = max([row[0] for row in rows], default=0)
    return rows, (found, False) if end is None else (int(end), True)


def _good(table: str, rows: list[Row], keys: dict[int, bytes]) -> Iterator[Row]:
    """Yield the rows that are what was stored; a position may go without its finding."""
    for row in sorted(rows):
        with suppress(TypeError, ValueError, AttributeError, KeyError):  # other types of values
            if table == "position":
                yield _position(row)
            elif _fits(table, row, keys):
                yield row


def _position(row: Row) -> Row:
    number, key, *finding = row
    read_key(bytes(key))
    if finding[0] is not None and finding_checksum(key, finding[:-1]) != finding[-1]:
        finding = [None] * len(finding)
    return number, key, *finding


def _fits(table: str, row: Row, keys: dict[int, bytes]) -> bool:
    match table:
        case "game":
            _, digest, _, record = row
            return bool(digest_of(record) == digest)
        case "node":
            _, parent, kind, cell, position, marks, title, comment, text, crc = row
            if kind == START and (parent != NO_PARENT or position not in keys):
                return False
            return bool(node_checksum(kind, cell, title, comment, text, marks) == crc)
        case "book":
            position, value, moves, crc = row
            return bool(checksum(keys[position], value, moves) == crc)
    return all(isinstance(text, str) for text in row[1:])
