"""What a search has found out about a position, and what else is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from zlib import crc32

from ..position.geometry import Coordinates
from ..values import WIN_BAND

PROVEN = 1_000_000  # rank of what is proven; above that the shorter win stands


class Bound(IntEnum):
    """How a value is meant."""

    EXACT = 0
    LOWER = 1  # at least
    UPPER = 2  # at most


@dataclass(frozen=True, slots=True)
class Author:
    """Who has found something out: a program's name and version, and the weights it used."""

    version: str = ""
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A value for the side to move, how deep it was searched, and the moves and the line for it.

    ``moves``: the best first. ``proof``: ``vcf``, ``vct`` or ``search`` where a win or loss is
    certain, else empty; ``tree``: the whole proof as JSON, or empty.
    """

    value: int
    bound: Bound = Bound.EXACT
    depth: int = 0
    nodes: int = 0
    moves: tuple[Coordinates, ...] = ()
    line: tuple[Coordinates, ...] = ()
    proof: str = ""
    tree: str = ""
    author: Author = Author()

    @property
    def is_certain(self) -> bool:
        """Whether it is a forced win or loss."""
        if self.value >= WIN_BAND:
            return self.bound is not Bound.UPPER
        return self.value <= -WIN_BAND and self.bound is not Bound.LOWER

    @property
    def rank(self) -> int:
        """Which of two findings about one position stands: that of the higher rank."""
        if self.is_certain:
            return PROVEN + 2 * abs(self.value) + bool(self.tree)
        return 2 * max(self.depth, 0) + (self.bound is Bound.EXACT)


@dataclass(frozen=True, slots=True)
class Note:
    """What a person has written about a position."""

    title: str = ""
    comment: str = ""
    is_marked: bool = False
    labels: tuple[tuple[Coordinates, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """All that a database knows about a position, in the orientation in which it was asked."""

    number: int  # of the row
    finding: Finding | None
    black_wins: int = 0
    draws: int = 0
    white_wins: int = 0
    notes: tuple[Note, ...] = ()
    book: tuple[tuple[Coordinates, int], ...] = field(default=())  # moves with values, best first

    @property
    def games(self) -> int:
        """How many games passed through."""
        return self.black_wins + self.draws + self.white_wins


def checksum(*parts: object) -> int:
    """Return a number that damage to any of these changes."""
    return crc32("\x1f".join(map(repr, parts)).encode("utf-8", "surrogatepass"))
