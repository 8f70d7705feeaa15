"""Policy files: what a tree search has made of the policy, beside the file of the games.

The games themselves, with the values at their roots, are an ordinary file of games, which
everything that reads such files reads. The policies stand in a file of their own beside it
(``NAME.policies``): the line ``numoku policies 1``, the same ``key: value`` lines as the
file of games, and an empty line. Then one record a game, in the order of their numbers,
all little-endian:

    uint32  number of the game
    uint16  positions, n: those of its stones that are not of the opening
    n times uint8   moves of the improved policy, m; 0: none is known
            m times uint16  cell, ``y * width + x``
                    uint16  share, of 65535
    uint32  crc32 of everything above

A game's policies are on the disk before the game is written, so every whole game has its policies
whenever the machine stops.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from .records import GamesError, Record, header, read_games, split_head

MAGIC = "numoku policies 1"
SUFFIX = ".policies"
SHARES = 65535
MOST_MOVES = 255

_HEAD = struct.Struct("<IH")
_COUNT = struct.Struct("<B")
_MOVE = struct.Struct("<HH")
_CRC = struct.Struct("<I")

Policy = tuple[tuple[int, int], ...]  # cell and share, the largest first


class Lessons(NamedTuple):
    """The policies of one game, one for each position after its opening."""

    number: int
    policies: tuple[Policy, ...]


def policy_of(shares: Sequence[tuple[int, float]]) -> Policy:
    """Return shares that add up to one as a record keeps them, largest first."""
    order = sorted(shares, key=lambda pair: (-pair[1], pair[0]))[:MOST_MOVES]
    return tuple((cell, round(share * SHARES)) for cell, share in order if share * SHARES >= 1)


def encode(lessons: Lessons) -> bytes:
    """Return the bytes of a game's policies."""
    parts = [_HEAD.pack(lessons.number, len(lessons.policies))]
    for policy in lessons.policies:
        parts.append(_COUNT.pack(len(policy)))
        parts += [_MOVE.pack(*pair) for pair in policy]
    body = b"".join(parts)
    return body + _CRC.pack(zlib.crc32(body))


def decode(data: bytes, start: int) -> tuple[Lessons, int] | None:
    """Return the record that begins at a place and where the next one begins; None if cut off.

    Raises:
        GamesError: the checksum does not fit.
    """
    if start + _HEAD.size > len(data):
        return None
    number, positions = _HEAD.unpack_from(data, start)
    at = start + _HEAD.size
    policies: list[Policy] = []
    for _ in range(positions):
        if at + _COUNT.size > len(data):
            return None
        end = at + _COUNT.size + data[at] * _MOVE.size
        if end > len(data):
            return None
        policies.append(tuple(_MOVE.iter_unpack(data[at + _COUNT.size : end])))
        at = end
    if at + _CRC.size > len(data):
        return None
    if zlib.crc32(data[start:at]) != _CRC.unpack_from(data, at)[0]:
        raise GamesError(f"policies at byte {start} are damaged: their checksum does not fit")
    return Lessons(number, tuple(policies)), at + _CRC.size


def policies_path(games: Path) -> Path:
    """Return where the policies of a file of games are."""
    return games.with_name(games.name + SUFFIX)


def read_taught_games(games: Path) -> Iterator[tuple[Record, Lessons]]:
    """Yield the games of a file with their policies.

    Raises:
        GamesError: a file is missing or damaged, or the two do not belong together.
    """
    path = policies_path(games)
    _, data, at = split_head(path, MAGIC)
    for record in read_games(games):
        found = decode(data, at)
        if found is None:
            raise GamesError(f"{path} has no policies of game {record.number}")
        lessons, at = found
        if (lessons.number, len(lessons.policies)) != (
            record.number,
            len(record.moves) - record.opening,
        ):
            raise GamesError(f"{path} does not belong to {games}: game {record.number}")
        yield record, lessons


class PolicyFile:
    """The policies beside a file of games that grows."""

    def __init__(self, games: Path, about: dict[str, str], count: int) -> None:
        """Begin the file, or continue it after the policies of its first ``count`` games.

        Raises:
            GamesError: it cannot be written, holds something else, or too little.
        """
        self.path = policies_path(games)
        end = 0
        if count or (self.path.exists() and self.path.stat().st_size):
            end = self._end_of(about, count)
        try:
            self._file: IO[bytes] = self.path.open("r+b" if end else "wb")
        except OSError as error:
            raise GamesError(f"cannot write policies {self.path}: {error.strerror}") from None
        if end:
            self._file.truncate(end)
            self._file.seek(end)
        else:
            self._write(header(about, MAGIC))

    def _end_of(self, about: dict[str, str], count: int) -> int:
        """Return where the policies of the first ``count`` games end."""
        found, data, at = split_head(self.path, MAGIC)
        if found != about:
            raise GamesError(f"{self.path} was made in another way")
        for number in range(count):
            record = decode(data, at)
            if record is None or record[0].number != number:
                raise GamesError(f"{self.path} has no policies of game {number}")
            at = record[1]
        return at

    def append(self, lessons: Lessons) -> None:
        """Write the policies of the next game."""
        self._write(encode(lessons))

    def _write(self, data: bytes) -> None:
        """Put bytes on the disk: the system may write the game that follows at any time."""
        self._file.write(data)
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()
