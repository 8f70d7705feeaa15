"""A table of the solver as a file: a heading that says what it is good for, then its bytes."""

from __future__ import annotations

import ctypes
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

PIECE = 1 << 20  # bytes compressed at once


def write(path: str | os.PathLike[str], heading: bytes, address: int, length: int) -> None:
    """Write the memory to a file, which appears when it is complete."""
    from ..files import in_place_of  # an engine that plays does without

    with in_place_of(Path(path)) as part, part.open("wb") as file:
        file.write(heading)
        packer = zlib.compressobj(1)
        for at, size in pieces(address, length):
            file.write(packer.compress(ctypes.string_at(at, size)))
        file.write(packer.flush())


def read(path: str | os.PathLike[str], heading: bytes, address: int, length: int) -> bool:
    """Fill the memory from a file; False if it has another heading.

    Raises:
        ValueError: the file is cut short.
    """
    with open(path, "rb") as file:
        if file.read(len(heading)) != heading:
            return False
        unpacker = zlib.decompressobj()
        for at, size in pieces(address, length):
            piece = b""
            while len(piece) < size:
                more = unpacker.unconsumed_tail or file.read(1 << 16)
                if not more:
                    raise ValueError(f"{path} is cut short")
                piece += unpacker.decompress(more, size - len(piece))
            ctypes.memmove(at, piece, size)
    return True


def pieces(address: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield address and length piece by piece."""
    for at in range(address, address + length, PIECE):
        yield at, min(PIECE, address + length - at)
