"""Blocks of memory: zeroed, page aligned, and given back."""

from __future__ import annotations

import ctypes
import gc
import mmap

import pytest

from pbrain_engine.native.load.memory import Block, footprint

MEGABYTE = 1 << 20


def test_a_block_is_zeroed_aligned_and_keeps_what_is_written() -> None:
    block = Block(3 * mmap.PAGESIZE)
    assert block.address % mmap.PAGESIZE == 0
    assert ctypes.string_at(block.address, block.length) == bytes(block.length)
    block.write(b"numoku")
    assert ctypes.string_at(block.address, 8) == b"numoku\0\0"
    block.close()


def test_more_than_a_block_holds_is_refused() -> None:
    block = Block(4)
    with pytest.raises(ValueError, match="5 bytes for a block of 4"):
        block.write(b"12345")


@pytest.mark.parametrize("length", [0, -1, 1 << 60])
def test_what_there_is_no_room_for_is_said(length: int) -> None:
    with pytest.raises(MemoryError):
        Block(length)


@pytest.mark.parametrize("closed", [True, False])
def test_the_memory_comes_back(closed: bool) -> None:
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
