"""How much private memory this process uses, as a referee counts it."""

from __future__ import annotations

import sys

_UNKNOWN = 40 << 20  # assumed where the system does not tell; more than we ever saw


def footprint() -> int:
    """Return the private bytes of this process, or a safe guess."""
    try:
        return _windows() if sys.platform == "win32" else _proc()
    except (OSError, ValueError, AttributeError):
        return _UNKNOWN


def _proc() -> int:
    """Sum the private pages that the Linux kernel reports."""
    total = 0
    with open("/proc/self/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith((b"Private_Clean:", b"Private_Dirty:", b"Private_Hugetlb:")):
                total += int(line.split()[1]) * 1024
    if total == 0:
        raise ValueError("nothing reported")
    return total


def _windows() -> int:
    """Ask Windows for the private bytes."""
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = [
            ("cb", ctypes.c_uint32),
            ("page_faults", ctypes.c_uint32),
            ("sizes", ctypes.c_size_t * 9),  # ..., the last one: private usage
        ]

    counters = Counters()
    counters.cb = ctypes.sizeof(counters)
    kernel32 = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 - absent elsewhere
    kernel32.GetCurrentProcess.restype = ctypes.c_void_p
    ask = kernel32.K32GetProcessMemoryInfo
    ask.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)
    if not ask(kernel32.GetCurrentProcess(), ctypes.addressof(counters), counters.cb):
        raise OSError("K32GetProcessMemoryInfo failed")
    return int(counters.sizes[8])
