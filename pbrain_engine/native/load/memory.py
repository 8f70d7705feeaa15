"""Blocks of memory for the kernel: zeroed, page aligned, and touched only where used."""

from __future__ import annotations

import ctypes
import mmap
import sys

# A private mapping can have large pages, a shared one (the default) cannot: searches in a
# table of 300 MB take a quarter less time, and the program ends faster. Not on Windows.
ANONYMOUS = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}

_COMMIT_AND_RESERVE, _READ_AND_WRITE, _RELEASE = 0x3000, 0x04, 0x8000


class Block:
    """A block of bytes that the kernel reads and writes; ``address`` is where it starts."""

    def __init__(self, length: int, *, huge: bool = False) -> None:
        """Map ``length`` zero bytes; ``huge`` asks for large pages where the system has them.

        Raises:
            MemoryError: there is no room.
        """
        self.length = length
        self._pages = _OwnPages(length) if sys.platform == "win32" else _Mapping(length, huge)
        self.address = self._pages.address

    def write(self, data: bytes) -> None:
        """Copy bytes to the start of the block.

        Raises:
            ValueError: it is shorter.
        """
        if len(data) > self.length:
            raise ValueError(f"{len(data)} bytes for a block of {self.length}")
        ctypes.memmove(self.address, data, len(data))

    def close(self) -> None:
        """Give the memory back; nothing may use the address any more."""
        self.address = 0
        self._pages.close()


class _Mapping:
    """Pages as `mmap` has them."""

    def __init__(self, length: int, huge: bool) -> None:
        try:
            self._map = mmap.mmap(-1, length, **ANONYMOUS)
        except (OSError, ValueError, OverflowError) as error:
            raise MemoryError(f"cannot map {length} bytes: {error}") from error
        if huge and hasattr(mmap, "MADV_HUGEPAGE"):
            try:
                self._map.madvise(mmap.MADV_HUGEPAGE)
            except OSError:
                pass  # only a matter of speed
        self._anchor = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._anchor)

    def close(self) -> None:
        del self._anchor
        self._map.close()


class _OwnPages:
    """Pages that belong to this process alone, on Windows.

    What `mmap` makes there can be shared, and for that wine keeps a file, which costs half of the
    time of a search that begins with an empty table.
    """

    def __init__(self, length: int) -> None:
        self.address = 0
        if length <= 0:
            raise MemoryError(f"cannot map {length} bytes")
        kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - absent elsewhere
        take, self._give_back = kernel32.VirtualAlloc, kernel32.VirtualFree
        take.restype = ctypes.c_void_p
        take.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, ctypes.c_uint32)
        self._give_back.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32)
        self.address = take(None, length, _COMMIT_AND_RESERVE, _READ_AND_WRITE) or 0
        if not self.address:
            raise MemoryError(f"cannot take {length} bytes")

    def close(self) -> None:
        address, self.address = self.address, 0
        if address:
            self._give_back(address, 0, _RELEASE)

    __del__ = close
