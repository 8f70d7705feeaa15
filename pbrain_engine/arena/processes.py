"""Processes of engines: memory, suspension and termination.

Descendants are found by psutil (the extra ``tools``). Without it, only the engine's own process is
measured, and descendants outside its process group survive it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module
from typing import Any

from ..native.load.memory import peak_working_set, private_pages

IS_LINUX = sys.platform.startswith("linux")
IS_WINDOWS = sys.platform == "win32"
psutil: Any = None
with contextlib.suppress(ImportError):
    psutil = import_module("psutil")

KNOWS_MEMORY = IS_LINUX or IS_WINDOWS or psutil is not None  # of other processes
POLL = 0.003


def descendants(pid: int) -> list[Any]:
    """Return all descendants of a process as psutil processes, [] without psutil."""
    if psutil is not None:
        with contextlib.suppress(psutil.Error, OSError):
            return list(psutil.Process(pid).children(recursive=True))
    return []


def tree_memory(pid: int) -> int:
    """Return the private memory of a process and its descendants, in bytes; 0 if unknown.

    On Windows, at least the peak working set of the process itself, which the manager Piskvork
    reads.
    """
    total = 0
    for member in (pid, *(child.pid for child in descendants(pid))):
        with contextlib.suppress(OSError, ValueError, *([psutil.Error] if psutil else [])):
            if IS_LINUX:
                total += private_pages(member)
            elif psutil is not None:
                process = psutil.Process(member)
                try:
                    total += int(process.memory_full_info().uss)
                except (psutil.Error, OSError):  # forbidden on some systems
                    total += int(process.memory_info().rss)
    if IS_WINDOWS:
        with contextlib.suppress(OSError):
            total = max(total, peak_working_set(pid))
    return total


def usable_cores() -> tuple[int, ...]:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def suspend(pid: int, resumes: bool = False) -> None:
    """Suspend or resume a process, like the judge without its children."""
    number = getattr(signal, "SIGCONT" if resumes else "SIGSTOP", None)
    if number is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    elif psutil is not None:
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(pid)
            process.resume() if resumes else process.suspend()


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a child has ended, without reaping it."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    try:
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, process.pid, options) is not None
    except ChildProcessError:
        return True


def await_end(process: subprocess.Popen[bytes], timeout: float) -> None:
    """Wait for a child to end, without reaping it."""
    end = time.perf_counter() + timeout
    while not has_ended(process) and time.perf_counter() < end:
        time.sleep(POLL)  # Popen.wait polls only every 50 ms


def end_tree(process: subprocess.Popen[bytes], grace: float) -> None:
    """Wait for a child to end, then kill its group, and descendants outside that group.

    The child is not reaped before, so that its process id stays its own.
    """
    strays = descendants(process.pid)
    await_end(process, grace)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    for stray in strays:  # psutil also compares start times
        with contextlib.suppress(psutil.Error, OSError):
            stray.kill()


GUARD = """
import os, signal, sys
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
watched = set()
for line in sys.stdin:
    (watched.add if line[0] == "+" else watched.discard)(int(line[1:]))
for pid in watched:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
"""


class Guardian:
    """A small process that kills the engines if their runner dies abruptly.

    An engine that hangs or is suspended does not notice that its pipe was closed, so it would
    survive a ``kill -9`` of the runner. The guardian keeps a list of the engines and, when its own
    pipe is closed, kills the process groups on its list.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        if hasattr(os, "killpg"):
            nowhere = subprocess.DEVNULL
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", GUARD], stdin=subprocess.PIPE, stdout=nowhere,
                stderr=nowhere, bufsize=0, start_new_session=True,
            )  # fmt: skip

    def watch(self, pid: int, sign: str = "+") -> None:
        """Put an engine on the list by its process id, or with ``-`` take it off."""
        with self._lock:
            if self._process and self._process.stdin:
                with contextlib.suppress(OSError, ValueError):
                    self._process.stdin.write(f"{sign}{pid}\n".encode())

    def close(self) -> None:
        """End the guardian, which kills all engines still on its list."""
        with self._lock:
            process, self._process = self._process, None
        if process and process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
