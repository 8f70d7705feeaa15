"""The moves of a position in a book, with their values for the side to move, as bytes."""

from __future__ import annotations

from collections.abc import Iterable
from struct import iter_unpack, pack

from ...position.geometry import Coordinates

BookMove = tuple[Coordinates, int]


def pack_book(moves: Iterable[BookMove], width: int) -> bytes:
    """Return moves and values as bytes, in their order."""
    return b"".join(pack(">Hh", y * width + x, value) for (x, y), value in moves)


def unpack_book(packed: bytes, width: int, height: int) -> list[BookMove]:
    """Return the moves that :func:`pack_book` packed."""
    return [
        ((cell % width, cell // width), value) for cell, value in iter_unpack(">Hh", bytes(packed))
    ]
