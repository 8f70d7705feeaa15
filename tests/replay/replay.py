"""Repeat the calls that ``record.py`` wrote down, in Pyodide: ``replay.py LIBRARY EVENTS``.

As ``replay.c`` does for other platforms: every result and what the memory holds in the end.
"""

from __future__ import annotations

import ctypes
import sys
import zlib

from pbrain_engine.native.load import library as native
from pbrain_engine.native.load.memory import Block


def replay(library: native.Library, events: str) -> str:
    """Return a summary of all calls."""
    blocks: dict[str, Block] = {}

    def place(word: str) -> int:
        block, colon, offset = word.partition(":")
        return blocks[block].address + int(offset) if colon else int(word)

    calls = 0
    with open(events, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            event, name, *words = line.split()
            if event == "B":
                blocks[name] = Block(int(words[0]))
            elif event == "W":
                blocks[name].write(bytes.fromhex(words[0]))
            elif event == "C":
                found = getattr(library, name)(*map(place, words[1:]))
                if found != int(words[0]):
                    return f"line {number}: {name}, expected {words[0]}, found {found}"
                calls += 1
            else:
                block = blocks.pop(name)
                held = (ctypes.c_char * block.length).from_address(block.address)
                if zlib.crc32(held) != int(words[0]):
                    return f"line {number}: memory differs, expected {words[0]}"
                block.close()
    return f"{calls} calls agree"


if __name__ == "__main__":
    print(replay(native.Library(sys.argv[1]), sys.argv[2]))
