"""Zeroed, page-aligned blocks of memory for the kernel, and the memory use of a process.

Memory use is measured like referees do. On Linux, they and the tournament's judge count private
pages. On Windows, Piskvork reads the peak working set, which includes pages shared with other
processes, such as those of DLLs.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial

# Only private mappings can have huge pages, not the default shared ones: searches in a table of
# 300 MB take a quarter less time, and the program ends faster. Not on Windows.
ANONYMOUS = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}

_COMMIT_AND_RESERVE, _READ_AND_WRITE, _RELEASE = 0x3000, 0x04, 0x8000


class Block:
    """A block of bytes that the kernel reads and writes, starting at ``address``."""

    def __init__(self, length: int, *, huge: bool = False) -> None:
        """Map zero bytes, with ``huge`` pages if the system has them; MemoryError if it cannot."""
        self.length, self.address = length, 0
        take = _take_own_pages if sys.platform == "win32" else _map_pages
        self.address, self._give_back = take(length, huge)

    def write(self, data: bytes) -> None:
        """Copy bytes to the start of the block; ValueError if it is shorter."""
        if len(data) > self.length:
            raise ValueError(f"{len(data)} bytes for a block of {self.length}")
        ctypes.memmove(self.address, data, len(data))

    def close(self) -> None:
        """Free the memory; the address must not be used any more."""
        if self.address:
            self.address = 0
            self._give_back()

    __del__ = close


def _map_pages(length: int, huge: bool) -> tuple[int, Callable[[], object]]:
    try:
        pages = mmap.mmap(-1, length, **ANONYMOUS)
    except (OSError, ValueError, OverflowError) as error:
        raise MemoryError(f"cannot map {length} bytes: {error}") from error
    if huge and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # just slower without
            pages.madvise(mmap.MADV_HUGEPAGE)
    return ctypes.addressof(ctypes.c_char.from_buffer(pages)), pages.close


def _take_own_pages(length: int, huge: bool) -> tuple[int, Callable[[], object]]:
    """Allocate private pages on Windows.

    Mappings of `mmap` there can be shared, for which Wine keeps a file; this would double the time
    of a search that starts with an empty table.
    """
    kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - absent elsewhere
    take, give_back = kernel32.VirtualAlloc, kernel32.VirtualFree
    take.restype = ctypes.c_void_p
    take.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_uint32)
    give_back.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32)
    address = length > 0 and take(None, length, _COMMIT_AND_RESERVE, _READ_AND_WRITE)
    if not address:
        raise MemoryError(f"cannot take {length} bytes")
    return address, partial(give_back, address, 0, _RELEASE)


DEFAULT_MEMORY = 350_000_000  # bytes if no limit is set; tournaments send 367,001,600
_TAB = 220 << 20  # of a browser tab: the page, the interpreter, and the compiled code of both
_UNKNOWN = 40 << 20  # assumed if the system does not tell; more than ever measured
# The sizes reported by Windows, by index after the number of page faults.
_PEAK_WORKING_SET, _WORKING_SET, _PAGE_FILE, _PRIVATE = 0, 1, 6, 8


def footprint() -> int:
    """Return the bytes of this process that count against its limit, or a safe guess."""
    if sys.platform == "emscripten":
        return _TAB
    try:
        if sys.platform != "win32":
            return private_pages()
        sizes = windows_sizes(os.getpid())
        # Wine reports 0 for the private bytes under one of their two names.
        return max(sizes[_WORKING_SET], sizes[_PAGE_FILE], sizes[_PRIVATE]) or _UNKNOWN
    except (OSError, ValueError, AttributeError):
        return _UNKNOWN


def private_pages(pid: int | str = "self") -> int:
    """Return the bytes of the private pages of a process, as summed up by the Linux kernel.

    OSError if there is no such process or access is denied, ValueError without a report.
    """
    total = 0
    with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith((b"Private_Clean:", b"Private_Dirty:", b"Private_Hugetlb:")):
                total += int(line.split()[1]) * 1024
    if total == 0:
        raise ValueError("nothing reported")
    return total


def peak_working_set(pid: int) -> int:
    """Return the peak working set of a process on Windows, in bytes; OSError if not allowed."""
    return windows_sizes(pid)[_PEAK_WORKING_SET]


def windows_sizes(pid: int) -> tuple[int, ...]:
    """Return the nine sizes that Windows reports for a process; OSError if it does not."""

    class Counters(ctypes.Structure):
        _fields_ = [("cb", ctypes.c_uint32), ("page_faults", ctypes.c_uint32),
                    ("sizes", ctypes.c_size_t * 9)]  # fmt: skip

    limited_information = 0x1000
    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - absent elsewhere
    kernel32.OpenProcess.restype = ctypes.c_void_p
    kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
    ask = kernel32.K32GetProcessMemoryInfo
    ask.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)
    handle = kernel32.OpenProcess(limited_information, False, pid)
    if not handle:
        raise OSError(f"process {pid} cannot be asked")
    try:
        if not ask(handle, ctypes.addressof(counters), counters.cb):
            raise OSError("K32GetProcessMemoryInfo failed")
    finally:
        kernel32.CloseHandle(handle)
    return tuple(counters.sizes)
