"""How much memory a process uses, as those who set it a limit count it.

Referees on Linux and the tournament's judge count private pages. Piskvork, on Windows, reads
the most that the working set ever was, and pages that are shared with others, such as those of
DLLs, are part of it.
"""

from __future__ import annotations

import sys

DEFAULT_MEMORY = 350_000_000  # bytes where nobody sets a limit; tournaments send 367,001,600
_UNKNOWN = 40 << 20  # assumed where the system does not tell; more than we ever saw
# The sizes that Windows tells, by their place behind the number of page faults.
_PEAK_WORKING_SET, _WORKING_SET, _PAGE_FILE, _PRIVATE = 0, 1, 6, 8


def footprint() -> int:
    """Return the bytes of this process that count against its limit, or a safe guess."""
    try:
        return _windows() if sys.platform == "win32" else private_pages()
    except (OSError, ValueError, AttributeError):
        return _UNKNOWN


def private_pages(pid: int | str = "self") -> int:
    """Return the bytes of the private pages of a process, as the Linux kernel sums them up.

    Raises:
        OSError: there is no such process, or it may not be asked.
        ValueError: nothing is told.
    """
    total = 0
    with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith((b"Private_Clean:", b"Private_Dirty:", b"Private_Hugetlb:")):
                total += int(line.split()[1]) * 1024
    if total == 0:
        raise ValueError("nothing reported")
    return total


def _windows() -> int:
    """Return the larger of what is in the memory and of what is private, wherever it is.

    Wine tells 0 for the private bytes under one of their two names.
    """
    sizes = windows_sizes()
    total = max(sizes[_WORKING_SET], sizes[_PAGE_FILE], sizes[_PRIVATE])
    if total == 0:
        raise ValueError("nothing reported")
    return total


def peak_working_set(pid: int) -> int:
    """Return what Piskvork reads of a process on Windows, in bytes.

    Raises:
        OSError: there is no such process, or it may not be asked.
    """
    return windows_sizes(pid)[_PEAK_WORKING_SET]


def windows_sizes(pid: int | None = None) -> tuple[int, ...]:
    """Ask Windows for the nine sizes of a process, or of this one.

    Raises:
        OSError: it does not tell.
    """
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = [
            ("cb", ctypes.c_uint32),
            ("page_faults", ctypes.c_uint32),
            ("sizes", ctypes.c_size_t * 9),
        ]

    limited_information = 0x1000
    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - absent elsewhere
    kernel32.GetCurrentProcess.restype = kernel32.OpenProcess.restype = ctypes.c_void_p
    kernel32.CloseHandle.argtypes = (ctypes.c_void_p,)
    ask = kernel32.K32GetProcessMemoryInfo
    ask.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)
    if pid is None:
        handle = kernel32.GetCurrentProcess()
    else:
        handle = kernel32.OpenProcess(limited_information, False, pid)
    if not handle:
        raise OSError(f"process {pid} cannot be asked")
    try:
        if not ask(handle, ctypes.addressof(counters), counters.cb):
            raise OSError("K32GetProcessMemoryInfo failed")
    finally:
        if pid is not None:
            kernel32.CloseHandle(handle)
    return tuple(counters.sizes)
