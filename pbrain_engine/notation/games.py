"""Game files: what was played in self-play, what the search thought of it, and who won.

A file begins like a weight file: the line ``numoku games 1``, one ``key: value`` a line that
says how the games were made, and an empty line. Then one record a game, in the order of their
numbers, all little-endian:

    uint32  number of the game
    uint16  stones played, n
    uint8   rule (its protocol code)
    uint8   width of the board
    uint8   height
    uint8   stones of the opening, which have no value
    int8    result: 1 black won, 0 draw, -1 white won
    uint8   how it ended (``Ending``)
    n times uint16  cell, ``y * width + x``
            int16   value that the search gave the position before this stone, seen by its
                    side (``values.py``); NO_VALUE for the stones of the opening
    uint32  crc32 of everything above

so a position takes four bytes, and sixteen more a game. The branches of a game stand before it,
with its number. In a record of a single position (``SINGLE``) all stones but those of the opening
are moves in it, best first, each with its value. What follows the last whole record is dropped when
a file is continued; damage elsewhere is an error.
"""

from __future__ import annotations

import os
import re
import struct
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from ..errors import FileError
from ..files import read_whole, try_lock
from ..position.geometry import MAX_STONES, Coordinates
from ..position.rules import Rule

MAGIC = "numoku games 1"
NO_VALUE = -32768
MOST_BYTES = 16 << 30  # of a file
MOST_OPENING = 255  # stones that the byte for them counts
GROUPS = 16  # that games are dealt out to ...
HELD_OUT = 1  # ... of which these are held out where no other games are named for that
LABELS = ("fair", "open")  # which positions teach their value: ``Dataset.with_targets``
SYNC_SECONDS = 30.0  # of games that a machine which stops at once may lose

_HEAD = struct.Struct("<IHBBBBbB")
_MOVE = struct.Struct("<Hh")
_CRC = struct.Struct("<I")


class Ending(IntEnum):
    """How a game came to its result."""

    FIVE = 0
    FULL = 1
    PROVEN = 2  # the search found a forced win
    CALM = 3  # a draw: the board is half full and nothing happens
    FOUL = 4  # renju: black had forbidden cells only
    BRANCH = 5  # a position off a game, searched once and not played on; it has no result
    SEARCHED = 6  # a position of a game, with one search; the result is that of the game


SINGLE = (Ending.BRANCH, Ending.SEARCHED)  # records of one position


class Record(NamedTuple):
    """One game: its moves as ``y * width + x`` and the value before each of them.

    The last move of a single position is the best one in it; where others were valued too,
    ``lines`` has them all with their values, best first.
    """

    number: int
    rule: Rule
    width: int
    height: int
    opening: int
    result: int
    ending: Ending
    moves: tuple[int, ...]
    values: tuple[int, ...]
    lines: tuple[tuple[int, int], ...] = ()

    @property
    def cells(self) -> list[Coordinates]:
        """Its moves as ``x, y``."""
        return [(cell % self.width, cell // self.width) for cell in self.moves]


def is_held_out(number: int) -> bool:
    """Return whether a game or branch is held out where no other games are named for that."""
    return (number * 2654435761 >> 16) % GROUPS < HELD_OUT


def encode(record: Record) -> bytes:
    """Return the bytes of a game."""
    number, *facts, moves, values, lines = record
    pairs = [*zip(moves, values, strict=True), *lines[1:]]
    parts = [_HEAD.pack(number, len(pairs), *facts), *(_MOVE.pack(*pair) for pair in pairs)]
    body = b"".join(parts)
    return body + _CRC.pack(zlib.crc32(body))


def decode(data: bytes, start: int = 0) -> tuple[Record, int] | None:
    """Return the game that begins at a place and where the next one begins; None if cut off.

    Raises:
        FileError: the checksum does not fit, or the bytes are no game.
    """
    if start + _HEAD.size > len(data):
        return None
    number, length, rule, width, height, opening, result, ending = _HEAD.unpack_from(data, start)
    if length > MAX_STONES:  # damage, although fewer bytes follow
        raise FileError(f"game at byte {start} is damaged: it has {length} stones")
    moves_at = start + _HEAD.size
    end = moves_at + length * _MOVE.size
    if end + _CRC.size > len(data):
        return None
    if zlib.crc32(data[start:end]) != _CRC.unpack_from(data, end)[0]:
        raise FileError(f"game at byte {start} is damaged: its checksum does not fit")
    pairs = list(_MOVE.iter_unpack(data[moves_at:end]))
    try:
        kind, way = Rule(rule), Ending(ending)
    except ValueError as error:
        raise FileError(f"game {number}: {error}") from None
    lines: tuple[tuple[int, int], ...] = ()
    if way in SINGLE and length > opening + 1:
        lines = tuple(pairs[opening:])
        del pairs[opening + 1 :]
    moves = tuple(cell for cell, _ in pairs)
    values = tuple(value for _, value in pairs)
    record = Record(number, kind, width, height, opening, result, way, moves, values, lines)
    return record, end + _CRC.size


def header(about: dict[str, str]) -> bytes:
    """Return the head of a file that says how its games were made."""
    lines = [MAGIC, *(f"{key}: {value}" for key, value in about.items())]
    return "\n".join(lines).encode("ascii") + b"\n\n"


def split_head(path: Path) -> tuple[dict[str, str], bytes, int]:
    """Return a file's head, bytes, and where records begin; FileError if it is no file of games."""
    try:
        data = read_whole(path, MOST_BYTES, MAGIC.encode())
    except OSError as error:
        raise FileError(f"cannot read games {path}: {error.strerror}") from None
    head, gap, _ = data.partition(b"\n\n")
    lines = head.decode("latin-1").split("\n")
    if not gap or lines[0] != MAGIC:
        raise FileError(f"{path} is not a file of games of this version")
    about = dict(line.partition(": ")[::2] for line in lines[1:])
    return about, data, len(head) + len(gap)


def read_about(path: Path) -> dict[str, str]:
    """Return how the games of a file were made."""
    return split_head(path)[0]


def read_games(path: Path) -> Iterator[Record]:
    """Yield the games of a file, without one cut off at its end; FileError if it is damaged."""
    _, data, at = split_head(path)
    try:
        while (found := decode(data, at)) is not None:
            record, at = found
            yield record
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


class RecordFile(ABC):
    """A file of records that grows, one writer at a time."""

    def __init__(self, path: Path, about: dict[str, str]) -> None:
        """Begin a file, or continue one that was made in the same way.

        Raises:
            FileError: the file cannot be written, holds something else, or another run writes it.
        """
        self.path = path
        self.positions = 0
        self._synced = time.monotonic()
        try:
            self._file = path.open("r+b" if path.exists() else "x+b", 0)
        except OSError as error:
            raise FileError(f"cannot write games {path}: {error.strerror}") from None
        try:
            if not try_lock(self._file):
                raise FileError(f"{path} is being written by another run")
            end = self._take_stock(about) if path.stat().st_size else 0
        except FileError:
            self._file.close()
            raise
        if end:
            self._file.truncate(end)
            self._file.seek(end)
        else:
            self._write(header(about))

    def _take_stock(self, about: dict[str, str]) -> int:
        """Count what a file holds; return where what belongs to its last whole game ends."""
        found, data, end = split_head(self.path)
        for key in sorted({*about, *found}):
            if about.get(key) != found.get(key):
                was, now = found.get(key, "nothing"), about.get(key, "nothing")
                raise FileError(f"{self.path} was made with {key} {was}, not {now}")
        at = end
        while (found_next := decode(data, at)) is not None:
            record, at = found_next
            if self._admit(record):
                end = at
        return end

    @abstractmethod
    def _admit(self, record: Record) -> bool:
        """Count a record of the file; return whether it could end here."""

    def _write(self, data: bytes) -> None:
        """Hand bytes to the system, where they outlive this process; now and then to the disk."""
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                self._sync()
        except OSError as error:
            raise FileError(f"cannot write games {self.path}: {error.strerror}") from None

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Put everything on the disk and close the file."""
        self._sync()
        self._file.close()


class GameFile(RecordFile):
    """A file of games by their numbers, the branches of each before it."""

    def __init__(self, path: Path, about: dict[str, str]) -> None:
        self.games = 0
        self._waiting: list[Record] = []  # branches of a game that comes
        super().__init__(path, about)

    def _admit(self, record: Record) -> bool:
        if record.ending in SINGLE:
            self._waiting.append(record)
            return False
        self._check(record, self._waiting)
        self._count(record, self._waiting)
        self._waiting = []
        return True

    def _check(self, game: Record, branches: Sequence[Record]) -> None:
        for record in (*branches, game):
            if record.number != self.games:
                raise FileError(f"{self.path}: game {record.number} where {self.games} belongs")

    def _count(self, game: Record, branches: Sequence[Record]) -> None:
        self.games += 1
        self.positions += sum(len(each.moves) - each.opening for each in (*branches, game))

    def append(self, game: Record, branches: Sequence[Record] = ()) -> None:
        """Write the next game, after its branches; FileError if it cannot be written."""
        self._check(game, branches)
        self._write(b"".join(map(encode, (*branches, game))))
        self._count(game, branches)


class PositionFile(RecordFile):
    """A file of single positions; ``last`` is the one at its end."""

    def __init__(self, path: Path, about: dict[str, str]) -> None:
        self.last: Record | None = None
        super().__init__(path, about)

    def _admit(self, record: Record) -> bool:
        self.positions += 1
        self.last = record
        return True

    def append(self, record: Record) -> None:
        """Write the next position; FileError as where a ``GameFile`` grows."""
        self._write(encode(record))
        self._admit(record)


# How long searches are ------------------------------------------------------------------

LEAST_NODES = 10
_STEP = re.compile(r"([0-9]{1,10})@([0-9]{1,3})")
_NODES = re.compile(r"[0-9]{1,10}")


class NodePlan(NamedTuple):
    """Nodes by stones: ``steps`` are pairs of nodes and the stones before which they hold.

    More nodes early in a game teach more: there a search is far from certain.
    """

    nodes: int  # where no step holds
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, text: str) -> NodePlan:
        """Read ``1200`` or ``12000@20,4800@40,1200``; ValueError says what is wrong."""
        *words, last = (word.strip() for word in text.split(","))
        found = [_STEP.fullmatch(word) for word in words]
        if not _NODES.fullmatch(last) or not all(found):
            raise ValueError(
                f"nodes {text[:40]!r}: a number such as 1200, or 12000@20,4800@40,1200"
            )
        steps = tuple((int(each[1]), int(each[2])) for each in found if each)
        stones = [before for _, before in steps]
        if stones != sorted({*stones}):
            raise ValueError(f"nodes {text[:40]!r}: the stones have to rise")
        if min(int(last), *(nodes for nodes, _ in steps), 1 << 40) < LEAST_NODES:
            raise ValueError(f"nodes {text[:40]!r}: {LEAST_NODES} or more")
        return cls(int(last), steps)

    def at(self, stones: int) -> int:
        """Return the nodes of a search with this many stones on the board."""
        return next((nodes for nodes, before in self.steps if stones < before), self.nodes)

    @property
    def most(self) -> int:
        """The nodes of the longest search."""
        return max(self.nodes, *(nodes for nodes, _ in self.steps), 0)

    def __str__(self) -> str:
        steps = (f"{nodes}@{before}" for nodes, before in self.steps)
        return ",".join([*steps, str(self.nodes)])
