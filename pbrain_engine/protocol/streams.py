"""The program's ends of the pipes, used through file descriptors alone.

Python's buffered streams are left unused: a thread blocked in a buffered read makes Python
abort at exit, and a line that is written in pieces confuses clients that read raw chunks.
Nothing may ever appear on stderr, which some managers read as answers and others never
drain; so the descriptor itself is pointed elsewhere, for C libraries too.
"""

from __future__ import annotations

import os
import signal
import time

STDIN, STDOUT, STDERR = 0, 1, 2
CHUNK = 65_536
BUSY_WAIT = 0.002  # seconds between tries on a pipe that does not block and is full, or empty


class Broken(Exception):
    """Nobody reads our answers any more."""


def read() -> bytes:
    """Wait for bytes of the input and return them; none at its end."""
    while True:
        try:
            return os.read(STDIN, CHUNK)
        except BlockingIOError:  # empty, not at its end
            time.sleep(BUSY_WAIT)
        except OSError:
            return b""


class Output:
    """Writes lines, each with one call of the operating system."""

    def __init__(self, descriptor: int = STDOUT) -> None:
        """Write to this descriptor."""
        self._descriptor = descriptor

    def write(self, line: str) -> None:
        """Write one line.

        Raises:
            Broken: the other end is gone.
        """
        data = line.encode("ascii", "replace") + b"\n"
        while data:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                time.sleep(BUSY_WAIT)
            except OSError as reason:
                raise Broken from reason


class Log:
    """An opt-in file that shows the dialogue and every internal error."""

    def __init__(self, path: str | None) -> None:
        """Append to a file, or to nothing; a file that cannot be opened is done without."""
        self._descriptor = -1
        if path:
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self._descriptor = os.open(path, flags, 0o644)
            except OSError:
                pass

    def write(self, mark: str, text: str) -> None:
        """Note a line with its moment and its direction."""
        if self._descriptor < 0:
            return
        line = f"{os.getpid()} {time.perf_counter():.3f} {mark} {text}\n"
        try:
            os.write(self._descriptor, line.encode("utf-8", "replace"))
        except OSError:
            pass

    @property
    def descriptor(self) -> int:
        """The descriptor of the file, or -1."""
        return self._descriptor


def silence(log: Log) -> None:
    """Point stderr at the log, or at nothing."""
    try:
        if log.descriptor >= 0:
            os.dup2(log.descriptor, STDERR)
        else:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, STDERR)
            os.close(nothing)
    except OSError:
        pass


def ignore_interrupts() -> None:
    """Leave Ctrl-C, which a console sends to all its children, to the manager."""
    for name in ("SIGINT", "SIGBREAK"):
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, signal.SIG_IGN)


def leave() -> None:
    """End the process at once, whatever its threads are doing."""
    os._exit(0)
