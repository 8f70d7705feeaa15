"""What the operating system says about processes, and the signals that they are sent.

On Linux all of it comes from ``/proc``; elsewhere from psutil if it is installed. Where it is
not, only the process itself is ended; Windows tells its memory all the same, and on macOS that
is unknown (0), see :func:`knows_memory`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ...native.load.memory import peak_working_set, private_pages

IS_LINUX = sys.platform.startswith("linux")
IS_WINDOWS = sys.platform == "win32"
POLL = 0.003


def _psutil() -> Any:
    """Return the module, or None."""
    try:
        import psutil  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None
    return psutil


def descendants(pid: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    if not IS_LINUX:
        psutil = _psutil()
        if psutil is None:
            return []
        with contextlib.suppress(psutil.Error, OSError):
            return [child.pid for child in psutil.Process(pid).children(recursive=True)]
        return []
    found: list[int] = []
    queue = [pid]
    while queue:
        for child in _children(queue.pop()):
            found.append(child)
            queue.append(child)
    return found


def _children(pid: int) -> list[int]:
    """Return the children of all threads of a process."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/task/{task}/children").read_text()
                found.extend(int(word) for word in text.split())
    return found


def knows_memory() -> bool:
    """Return whether the memory of other processes can be read here."""
    return IS_LINUX or IS_WINDOWS or _psutil() is not None


def tree_memory(pid: int) -> int:
    """Return the bytes that a process and its descendants have for themselves alone.

    On Windows it is at least the most that the working set of the process itself ever was,
    which the manager Piskvork reads.
    """
    total = sum(_private_bytes(member) for member in (pid, *descendants(pid)))
    if IS_WINDOWS:
        with contextlib.suppress(OSError):
            total = max(total, peak_working_set(pid))
    return total


def _private_bytes(pid: int) -> int:
    if not IS_LINUX:
        psutil = _psutil()
        if psutil is None:
            return 0
        # Wine, and systems that forbid to look, answer with an OSError.
        with contextlib.suppress(psutil.Error, OSError):
            return int(psutil.Process(pid).memory_full_info().uss)
        with contextlib.suppress(psutil.Error, OSError):
            return int(psutil.Process(pid).memory_info().rss)
        return 0
    with contextlib.suppress(OSError, ValueError):
        return private_pages(pid)
    return 0


def usable_cores() -> tuple[int, ...]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def suspend(pid: int) -> None:
    """Stop this one process (not its children: so does the judge)."""
    _signal_or_psutil(pid, "SIGSTOP", "suspend")


def resume(pid: int) -> None:
    """Let a stopped process go on."""
    _signal_or_psutil(pid, "SIGCONT", "resume")


def _signal_or_psutil(pid: int, name: str, verb: str) -> None:
    number = getattr(signal, name, None)
    if number is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        return
    psutil = _psutil()
    if psutil is not None:
        with contextlib.suppress(psutil.Error, OSError):
            getattr(psutil.Process(pid), verb)()


def wait_unreaped(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for a child to end, but leave its entry, so that its number stays its own."""
    end = time.perf_counter() + seconds
    while True:
        if has_ended(process):
            return True
        if time.perf_counter() >= end:
            return False
        time.sleep(POLL)


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a child has ended, and leave its entry."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, options) is not None
    except ChildProcessError:
        return True


def kill_group(pid: int, strays: list[int]) -> None:
    """Kill a group of processes by its leader, and those that have left the group."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    else:
        strays = [*strays, pid]
    for stray in strays:
        with contextlib.suppress(OSError):
            os.kill(stray, getattr(signal, "SIGKILL", signal.SIGTERM))
