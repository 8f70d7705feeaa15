"""Run the bench and write down every call of the kernel: ``record.py FILE BENCH_OPTION...``.

Addresses are written as block and offset, so that the calls can be repeated elsewhere. Each
line is one event; blocks are numbered as they come:

    B block length              a block of zero bytes
    W block hex                 bytes written to its start
    C function result argument...   an argument is a number, or block:offset
    F block crc32               the block's end, and what it held
"""

from __future__ import annotations

import ctypes
import sys
import zlib
from collections.abc import Callable
from typing import TextIO

from pbrain_engine.commands import bench
from pbrain_engine.native.load.library import Library, load
from pbrain_engine.native.load.memory import Block

SCRATCH_BYTES = 1 << 16  # for memory outside of blocks: small arrays for results


class Recorder:
    """Writes events, and finds the block of an address."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.blocks: dict[int, tuple[int, int]] = {}  # number -> address, length
        self.count = 0
        self.kept: list[Block] = []  # kept alive until their end is recorded

    def event(self, *words: object) -> None:
        print(*words, file=self.file)

    def add(self, address: int, length: int) -> int:
        self.count += 1
        self.blocks[self.count] = (address, length)
        self.event("B", self.count, length)
        return self.count

    def end(self, number: int) -> None:
        address, length = self.blocks.pop(number)
        self.event("F", number, zlib.crc32((ctypes.c_char * length).from_address(address)))

    def place(self, address: int) -> str:
        for number, (start, length) in self.blocks.items():
            if start <= address < start + length:
                return f"{number}:{address - start}"
        self.count += 1
        self.event("B", self.count, SCRATCH_BYTES)
        return f"{self.count}:0"

    def call(self, library: Library, name: str, arguments: tuple[int, ...]) -> int:
        kinds = library.exports[name]
        words = [
            self.place(value) if kind == "p" else str(int(value))
            for kind, value in zip(kinds, arguments, strict=True)
        ]
        result = getattr(library, name)(*arguments)
        self.event("C", name, result, *words)
        return result


class RecordedLibrary:
    """The kernel, with every call recorded."""

    def __init__(self, library: Library, recorder: Recorder) -> None:
        self._library = library
        self._recorder = recorder
        self.path, self.level, self.digest = library.path, library.level, library.digest
        self.sizes = library.sizes

    def __getattr__(self, name: str) -> Callable[..., int]:
        return lambda *arguments: self._recorder.call(self._library, name, arguments)


def put_in_place(old: object, new: object) -> None:
    """Replace an object in every module that has imported it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("pbrain_engine."):
            for word in [word for word, value in vars(module).items() if value is old]:
                setattr(module, word, new)


def record(file: TextIO, options: list[str]) -> None:
    """Run the bench with these options on a recorded kernel."""
    recorder = Recorder(file)

    class RecordedBlock(Block):
        def __init__(self, length: int, *, huge: bool = False) -> None:
            super().__init__(length, huge=huge)
            self.number = recorder.add(self.address, length)
            recorder.kept.append(self)

        def write(self, data: bytes) -> None:
            super().write(data)
            recorder.event("W", self.number, data.hex())

        def close(self) -> None:
            recorder.end(self.number)
            super().close()

    library = RecordedLibrary(load(), recorder)
    put_in_place(Block, RecordedBlock)
    put_in_place(load, lambda level=None: library)
    bench.main(options)
    for number in list(recorder.blocks):
        recorder.end(number)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as events:
        record(events, sys.argv[2:])
