"""Files of self-play games: moves, search values and results.

A file begins like a weight file: the line ``numoku games 1``, a ``key: value`` line for each
setting of the games' generation, and an empty line. Then comes one record per game, in the order
of game numbers, all little-endian:

    uint32  number of the game
    uint16  stones played, n
    uint8   rule (its protocol code)
    uint8   width of the board
    uint8   height
    uint8   stones of the opening, which have no value
    int8    result: 1 black won, 0 draw, -1 white won
    uint8   how it ended (``Ending``)
    n times uint16  cell, ``y * width + x``
            int16   search value of the position before this stone, for the stone's side
                    (``values.py``); NO_VALUE for the stones of the opening
    uint32  crc32 of everything above

so a position takes four bytes, plus sixteen per game. The branches of a game precede it, with its
number. In a record of a single position (``SINGLE``), all stones after the opening are candidate
moves, best first, each with its value. An incomplete last record is dropped when a file is
continued; damage elsewhere is an error.
"""

from __future__ import annotations

import os
import re
import struct
import time
import zlib
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
MOST_OPENING = 255  # stones, as many as the byte can count
GROUPS = 16  # groups that games are assigned to ...
HELD_OUT = 1  # ... of which this many are held out unless other games are given for validation
LABELS = ("fair", "open")  # positions whose values are trained on: ``Dataset.with_targets``
SYNC_SECONDS = 30.0  # of games that a sudden stop of the machine may lose

_HEAD = struct.Struct("<IHBBBBbB")
_MOVE = struct.Struct("<Hh")
_CRC = struct.Struct("<I")


class Ending(IntEnum):
    """How a game ended."""

    FIVE = 0
    FULL = 1
    PROVEN = 2  # the search found a forced win
    CALM = 3  # a draw: the board is half full and nothing happens
    FOUL = 4  # renju: black had only forbidden cells left
    BRANCH = 5  # a position off a game, searched once and not continued; no result
    SEARCHED = 6  # a position of a game, searched once; the result is the game's


SINGLE = (Ending.BRANCH, Ending.SEARCHED)  # records of one position


class Record(NamedTuple):
    """One game: its moves as ``y * width + x`` and the value before each.

    The last move of a single position is its best move; if other moves have values too, ``lines``
    contains all of them with their values, best first.
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
        """The moves as ``x, y``."""
        return [(cell % self.width, cell // self.width) for cell in self.moves]


def is_held_out(number: int) -> bool:
    """Return whether a game or branch is held out, unless other games are given for validation."""
    return (number * 2654435761 >> 16) % GROUPS < HELD_OUT


def encode(record: Record) -> bytes:
    """Return the bytes of a game."""
    number, *facts, moves, values, lines = record
    pairs = [*zip(moves, values, strict=True), *lines[1:]]
    parts = [_HEAD.pack(number, len(pairs), *facts), *(_MOVE.pack(*pair) for pair in pairs)]
    body = b"".join(parts)
    return body + _CRC.pack(zlib.crc32(body))


def decode(data: bytes, start: int = 0) -> tuple[Record, int] | None:
    """Return the game at an offset and the next offset; None if cut off, FileError if damaged."""
    if start + _HEAD.size > len(data):
        return None
    number, length, rule, width, height, opening, result, ending = _HEAD.unpack_from(data, start)
    if length > MAX_STONES:  # damaged, even if fewer bytes follow
        raise FileError(f"game at byte {start} is damaged: it has {length} stones")
    moves_at = start + _HEAD.size
    end = moves_at + length * _MOVE.size
    if end + _CRC.size > len(data):
        return None
    if zlib.crc32(data[start:end]) != _CRC.unpack_from(data, end)[0]:
        raise FileError(f"game at byte {start} is damaged: its checksum does not match")
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
    """Return the head of a file, with the settings its games were made with."""
    lines = [MAGIC, *(f"{key}: {value}" for key, value in about.items())]
    return "\n".join(lines).encode("ascii") + b"\n\n"


def split_head(path: Path) -> tuple[dict[str, str], bytes, int]:
    """Return a file's head, bytes and offset of its records; FileError if it is no such file."""
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
    """Return the settings with which the games of a file were made."""
    return split_head(path)[0]


def read_games(path: Path) -> Iterator[Record]:
    """Yield the games of a file, without an incomplete last one; FileError if damaged."""
    _, data, at = split_head(path)
    try:
        while (found := decode(data, at)) is not None:
            record, at = found
            yield record
    except FileError as error:
        raise FileError(f"{path}: {error}") from None


class GameFile:
    """A growing file of games in order of their numbers, each preceded by its branches.

    If it is ``single``, it has positions instead. There is one writer at a time.
    """

    def __init__(self, path: Path, about: dict[str, str], *, single: bool = False) -> None:
        """Create a file, or continue one made with the same settings; FileError if that fails."""
        self.path = path
        self.games = self.positions = 0
        self.last: Record | None = None
        self._single = single
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
        """Count the records of the file; return the end of its last complete game."""
        found, data, end = split_head(self.path)
        for key in sorted({*about, *found}):
            if about.get(key) != found.get(key):
                was, now = found.get(key, "nothing"), about.get(key, "nothing")
                raise FileError(f"{self.path} was made with {key} {was}, not {now}")
        at, group = end, list[Record]()
        while (found_next := decode(data, at)) is not None:
            record, at = found_next
            group.append(record)
            if self._single or record.ending not in SINGLE:
                self._check(group)
                self._count(group)
                end, group = at, []
        return end

    def _check(self, group: Sequence[Record]) -> None:
        """Check the numbers of a game and its branches."""
        for record in () if self._single else group:
            if record.number != self.games:
                raise FileError(f"{self.path}: game {record.number} where {self.games} belongs")

    def _count(self, group: Sequence[Record]) -> None:
        self.games += 1
        self.positions += sum(len(each.moves) - each.opening for each in group)
        self.last = group[-1]

    def append(self, record: Record, branches: Sequence[Record] = ()) -> None:
        """Write the next game, after its branches, or position; FileError if that fails."""
        group = [*branches, record]
        self._check(group)
        self._write(b"".join(map(encode, group)))
        self._count(group)

    def _write(self, data: bytes) -> None:
        """Write bytes to the system, safe from a crash of this process; sync now and then."""
        left = memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise FileError(f"cannot write games {self.path}: {error.strerror}") from None

    def close(self) -> None:
        """Sync to disk and close the file."""
        os.fsync(self._file.fileno())
        self._file.close()


# Lengths of searches --------------------------------------------------------------------

LEAST_NODES = 10
_STEP = re.compile(r"([0-9]{1,10})@([0-9]{1,3})")
_NODES = re.compile(r"[0-9]{1,10}")


class NodePlan(NamedTuple):
    """Nodes per search by stones; each step is its nodes and the stones below which it applies.

    More nodes pay most early in a game, where a search is least certain.
    """

    nodes: int  # after the last step
    steps: tuple[tuple[int, int], ...] = ()

    @classmethod
    def parse(cls, text: str) -> NodePlan:
        """Parse ``1200`` or ``12000@20,4800@40,1200``; ValueError says what is wrong."""
        *words, last = (word.strip() for word in text.split(","))
        found = [_STEP.fullmatch(word) for word in words]
        if not _NODES.fullmatch(last) or not all(found):
            raise ValueError(
                f"nodes {text[:40]!r}: a number such as 1200, or 12000@20,4800@40,1200"
            )
        steps = tuple((int(each[1]), int(each[2])) for each in found if each)
        stones = [before for _, before in steps]
        if stones != sorted({*stones}):
            raise ValueError(f"nodes {text[:40]!r}: the stones must increase")
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
