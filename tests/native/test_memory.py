"""Blocks of memory: zeroed, page aligned, and given back."""

from __future__ import annotations

import ctypes
import gc
import mmap
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.native.load import memory
from pbrain_engine.native.load.memory import Block, footprint

MEGABYTE = 1 << 20
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")


def test_a_block_is_zeroed_aligned_and_keeps_what_is_written():
    block = Block(3 * mmap.PAGESIZE)
    assert block.address % mmap.PAGESIZE == 0
    assert ctypes.string_at(block.address, block.length) == bytes(block.length)
    block.write(b"numoku")
    assert ctypes.string_at(block.address, 8) == b"numoku\0\0"
    block.close()


@pytest.mark.skipif(not HUGE_PAGES.exists(), reason="there are no huge pages")
@pytest.mark.parametrize("huge", [True, False])
def test_huge_pages_are_asked_for_where_they_are_wanted(huge):
    block, is_inside, flags = Block(8 * MEGABYTE, huge=huge), False, ""
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if mapped := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            is_inside = int(mapped[1], 16) <= block.address < int(mapped[2], 16)
        elif is_inside and line.startswith("VmFlags:"):
            flags = line
    block.close()
    assert flags and ("hg" in flags.split()) == huge


def test_more_than_a_block_holds_is_refused():
    block = Block(4)
    with pytest.raises(ValueError, match="5 bytes for a block of 4"):
        block.write(b"12345")


@pytest.mark.parametrize("length", [0, -1, 1 << 60])
def test_what_there_is_no_room_for_is_said(length):
    with pytest.raises(MemoryError):
        Block(length)


@pytest.mark.parametrize("closed", [True, False])
def test_the_memory_comes_back(closed):
    """The rest of the process may take or give back a few megabytes meanwhile."""
    before = footprint()
    block = Block(64 * MEGABYTE)
    ctypes.memset(block.address, 1, block.length)
    full = footprint()
    assert full - before > 48 * MEGABYTE
    if closed:
        block.close()
    else:
        del block
        gc.collect()
    assert full - footprint() > 48 * MEGABYTE


class Kernel32:
    """What Windows is asked, and what it answers."""

    def __init__(self, **answers: int) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.answers = answers
        self.functions: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        def function(*words: Any) -> int:
            self.asked.append((name, *(getattr(word, "value", word) for word in words)))
            if name.startswith("K32"):
                numbers = ctypes.c_size_t * 9
                numbers.from_address(words[1] + 8)[:] = range(10, 19)
                self.asked[-1] = (name, words[0], words[2])
            return self.answers.get(name, 0)

        return self.functions.setdefault(name, function)


def ask_windows(monkeypatch: pytest.MonkeyPatch, **answers: int) -> Kernel32:
    system = Kernel32(**answers)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: system, raising=False)
    return system


def test_pages_are_taken_and_given_back_on_windows(monkeypatch):
    system = ask_windows(monkeypatch, VirtualAlloc=4096)
    block = Block(70)
    assert block.address == 4096
    block.close()
    block.close()
    assert system.asked == [
        ("VirtualAlloc", None, 70, 0x3000, 4), ("VirtualFree", 4096, 0, 0x8000),
    ]  # fmt: skip
    ask_windows(monkeypatch)
    for length in (0, -1, 70):
        with pytest.raises(MemoryError, match=f"{length} bytes"):
            Block(length)


def test_windows_is_asked_for_the_sizes_of_a_process(monkeypatch):
    there, sizes = "OpenProcess", "K32GetProcessMemoryInfo"
    record = ctypes.sizeof(ctypes.c_size_t) * 9 + 8
    system = ask_windows(monkeypatch, **{there: 6, sizes: 1})
    assert memory.windows_sizes(77) == tuple(range(10, 19))
    assert memory.peak_working_set(77) == 10
    opened, closed = (there, 0x1000, False, 77), ("CloseHandle", 6)
    assert system.asked == 2 * [opened, (sizes, 6, record), closed]
    system = ask_windows(monkeypatch, **{there: 6})
    with pytest.raises(OSError, match="failed"):
        memory.windows_sizes(77)
    assert system.asked[-1] == closed
    ask_windows(monkeypatch)
    with pytest.raises(OSError, match="process 77 cannot be asked"):
        memory.windows_sizes(77)
