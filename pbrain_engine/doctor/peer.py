"""A program under examination: started, talked to, timed, and always got rid of.

It runs in a process group (on Windows a process tree) of its own, so that helpers it starts
die with it. Nothing here waits without a deadline.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections import deque
from queue import SimpleQueue
from time import perf_counter, sleep
from typing import NamedTuple

from ..protocol.commandline import split_command

MOST_LINES = 10_000  # that are waited for in one go
QUIET_TIME = 0.05  # without a line, after which a peer is taken to have finished speaking
PATIENCE = 5.0  # seconds for a peer to read what is sent
POLL = 0.002
WINDOWS = os.name == "nt"


class HeardLine(NamedTuple):
    """A line that the peer wrote, with the moment its end arrived."""

    text: str
    at: float
    chunks: int  # reads that brought it: 1 if it came in one piece


class Peer:
    """A running pbrain. Use it as a context manager: leaving kills whatever is left."""

    def __init__(
        self, command: str | list[str], folder: str | None = None, patience: float = PATIENCE
    ) -> None:
        """Start the command; what it does not read within the patience is not waited for.

        Raises:
            OSError: it cannot be started.
        """
        words = split_command(command) if isinstance(command, str) else command
        flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        try:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=folder,
                start_new_session=not WINDOWS,
                creationflags=flags,
            )
        except OSError as error:
            error.filename = error.filename or words[0]  # which Windows does not tell
            raise
        self.started_at = perf_counter()
        self.stderr = b""
        self.closed_at: float | None = None  # when its stdout ended
        self.raw = b""
        self._lines: deque[HeardLine] = deque()
        self._news = threading.Condition()
        self._patience = patience
        self._is_closed = False  # nothing more is sent
        self._outbox: SimpleQueue[tuple[bytes | None, threading.Event]] = SimpleQueue()
        for work in (self._read_stdout, self._read_stderr, self._write_stdin):
            threading.Thread(target=work, daemon=True).start()

    def __enter__(self) -> Peer:
        """Return the peer."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Kill it with everything it started."""
        self.kill()

    # -- talking ---------------------------------------------------------------------------

    def send(self, *lines: str, end: str = "\n") -> None:
        """Write lines in one packet; a peer that is gone is noticed later, when it is silent."""
        self.send_bytes("".join(line + end for line in lines).encode())

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are; a peer that does not read them gets them when it does."""
        self._post(data)

    def close_stdin(self) -> None:
        """End its input, after what has been sent."""
        self._post(None)

    def _post(self, data: bytes | None) -> None:
        """Hand data to the writer, or None for the end, and wait until that is done or due."""
        if self._is_closed:
            return
        self._is_closed = data is None
        written = threading.Event()
        self._outbox.put((data, written))
        written.wait(self._patience)

    def line(self, timeout: float) -> HeardLine | None:
        """Return the next line, or None if there is none in time or ever."""
        until = perf_counter() + timeout
        with self._news:
            while not self._lines:
                left = until - perf_counter()
                if left <= 0 or self.closed_at is not None:
                    return None
                self._news.wait(left)
            return self._lines.popleft()

    def lines(self, quiet: float = QUIET_TIME) -> list[HeardLine]:
        """Return all lines until the peer has been quiet for so long, or does not stop talking."""
        found: list[HeardLine] = []
        while len(found) < MOST_LINES and (line := self.line(quiet)) is not None:
            found.append(line)
        return found

    # -- its life --------------------------------------------------------------------------

    def wait(self, timeout: float) -> int | None:
        """Return its exit status, or None if it is still alive after so long."""
        until = perf_counter() + timeout
        while (status := self.process.poll()) is None and perf_counter() < until:
            sleep(POLL)  # Popen.wait would look only every 50 ms
        return status

    @property
    def is_alive(self) -> bool:
        """Whether it is still running."""
        return self.process.poll() is None

    def suspend(self) -> None:
        """Freeze it, where the system can."""
        if not WINDOWS:
            os.killpg(self.process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        if not WINDOWS:
            os.killpg(self.process.pid, signal.SIGCONT)

    def interrupt(self) -> None:
        """Send what Ctrl-C in a shared console sends."""
        if WINDOWS:
            self.process.send_signal(signal.CTRL_BREAK_EVENT)  # type: ignore[attr-defined,unused-ignore]
        else:
            os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill it and its children, and close the pipes."""
        if WINDOWS:
            if self.is_alive:
                subprocess.run(
                    ["taskkill", "/F", "/T", "/PID", str(self.process.pid)],
                    capture_output=True,
                    check=False,
                    timeout=10,
                )
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.close_stdin()

    # -- writing and listening, in threads -------------------------------------------------

    def _write_stdin(self) -> None:
        """Write what is posted, up to the end; a peer that does not read blocks only this."""
        assert self.process.stdin is not None
        data: bytes | None = b""
        while data is not None:
            data, written = self._outbox.get()
            with contextlib.suppress(OSError, ValueError):
                if data is None:
                    self.process.stdin.close()
                else:
                    self.process.stdin.write(data)
            written.set()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        rest, chunks = b"", 0
        while True:
            try:
                chunk = os.read(descriptor, 65_536)
            except OSError:
                chunk = b""
            now = perf_counter()
            if not chunk:
                break
            *complete, tail = (rest + chunk).split(b"\n")
            with self._news:
                self.raw += chunk
                for index, raw in enumerate(complete):
                    pieces = chunks + 1 if index == 0 else 1
                    self._lines.append(HeardLine(raw.decode("latin-1"), now, pieces))
                self._news.notify_all()
            chunks = chunks + 1 if tail and not complete else int(bool(tail))
            rest = tail
        with self._news:
            if rest:
                self._lines.append(HeardLine(rest.decode("latin-1"), now, chunks))
            self.closed_at = now
            self._news.notify_all()
        with contextlib.suppress(OSError):
            self.process.stdout.close()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while True:
            try:
                chunk = os.read(self.process.stderr.fileno(), 65_536)
            except (OSError, ValueError):
                chunk = b""
            if not chunk:
                break
            self.stderr += chunk
        with contextlib.suppress(OSError):
            self.process.stderr.close()
