"""A small process that ends the engines when their runner dies without a word.

An engine that hangs or is frozen does not notice that its pipe has closed, so after a
``kill -9`` of the runner it would live on. The guardian keeps a list of the engines and, when
its own pipe closes, kills the groups that are still on its list.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


class Guardian:
    """The runner's side: ``watch`` and ``release`` engines by their process number."""

    def __init__(self) -> None:
        """Start the guardian; where there are no process groups there is none."""
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        if hasattr(os, "killpg"):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,
            )

    def watch(self, pid: int) -> None:
        """Put an engine on the list."""
        self._tell(f"+{pid}\n")

    def release(self, pid: int) -> None:
        """Take an engine off the list; it has ended."""
        self._tell(f"-{pid}\n")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._process and self._process.stdin:
                with contextlib.suppress(OSError, ValueError):
                    self._process.stdin.write(line.encode())

    def close(self) -> None:
        """End the guardian, and with it every engine that is still on its list."""
        with self._lock:
            process, self._process = self._process, None
        if process and process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)


def guard() -> None:
    """Keep the list until the runner's end closes, then kill who is on it."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    watched: set[int] = set()
    for line in sys.stdin:
        sign, number = line[0], int(line[1:])
        if sign == "+":
            watched.add(number)
        else:
            watched.discard(number)
    for pid in watched:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    guard()
