"""A foreign program on the other end of two pipes: lines out, lines in with their time.

Nothing that the program does can block or fill up its owner: its pipes are written and read by
threads of their own, what it says is bounded, and ending it ends the whole group of processes
that it may have started.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...options import problem_of
from ..faults import CRASH, EXIT, FLOOD, START, EngineFault
from . import processes
from .guardian import Guardian
from .transcript import Transcript

CHUNK = 65536
LINE_END = re.compile(rb"\r\n?|\n")
MAX_LINE = 8000  # as the managers cut
FLOOD_BYTES = 4_000_000  # in answer to one command
FLOOD_LINES = 50_000
STDERR_TAIL = 2000
END_GRACE = 0.5  # seconds from END to the kill, as tournaments have it
IS_WINDOWS = sys.platform == "win32"


class TimedLine(NamedTuple):
    """One line of output and when it was read, on the clock of ``time.perf_counter``."""

    text: str
    time: float


class EngineProcess:
    """A running engine: ``send`` lines, ``receive`` lines, ``close``."""

    def __init__(
        self,
        command: Sequence[str],
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        cores: Iterable[int] = (),
        guardian: Guardian | None = None,
        transcript: Transcript | None = None,
        merged: bool = False,
    ) -> None:
        """Start the program in a process group of its own.

        ``merged``: what it writes to its error output counts as said, as with many managers.

        Raises:
            EngineFault: it cannot be started.
        """
        self._guardian = guardian
        self._transcript = transcript
        self._lines: deque[TimedLine] = deque()
        self._news = threading.Condition()
        self._bytes = self._count = 0
        self._ended = self._flooded = False
        self._errors = b""
        self._frozen = False
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merged else subprocess.PIPE,
                bufsize=0,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                start_new_session=not IS_WINDOWS,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            error.filename = error.filename or command[0]  # which Windows does not tell
            raise EngineFault(START, problem_of(error)) from None
        except ValueError as error:
            raise EngineFault(START, problem_of(error)) from None
        self.pid = self._process.pid
        if guardian:
            guardian.watch(self.pid)
        if cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self.pid, set(cores))
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        tasks = [self._write_input, self._read_output]
        if not merged:
            tasks.append(self._read_errors)
        self._threads = [threading.Thread(target=task, daemon=True) for task in tasks]
        for thread in self._threads:
            thread.start()

    def _write_input(self) -> None:
        """Write what is to be said until there is no more of it or nobody to read it."""
        assert self._process.stdin
        with contextlib.suppress(OSError, ValueError):
            while (data := self._unsent.get()) is not None:
                self._process.stdin.write(data)
            self._process.stdin.close()

    def _read_output(self) -> None:
        """Cut the output into lines until it ends or floods."""
        assert self._process.stdout
        descriptor = self._process.stdout.fileno()
        rest = b""
        has_returned = False  # the last chunk ended with a return, of which a newline is a part
        while True:
            try:
                chunk = os.read(descriptor, CHUNK)
            except OSError:
                chunk = b""
            now = time.perf_counter()
            text = chunk.removeprefix(b"\n") if has_returned else chunk
            has_returned = chunk.endswith(b"\r")
            *complete, rest = LINE_END.split(rest + text)
            rest = rest[:MAX_LINE]
            lines = [TimedLine(_decode(raw), now) for raw in complete[:FLOOD_LINES]]
            if self._process.stderr is None and complete:
                self._errors = complete[-1][-STDERR_TAIL:]
            self._log("<", (line.text for line in lines))
            with self._news:
                self._bytes += len(chunk)
                self._count += len(complete)
                self._lines.extend(lines)
                self._flooded = self._bytes > FLOOD_BYTES or self._count > FLOOD_LINES
                if not chunk:
                    if rest:
                        self._lines.append(TimedLine(_decode(rest), now))
                    self._ended = True
                self._news.notify_all()
                if self._ended or self._flooded:
                    return

    def log_to(self, transcript: Transcript) -> None:
        """Keep the dialogue in another log from now on."""
        before, self._transcript = self._transcript, transcript
        if before:
            before.close()

    def _log(self, direction: str, lines: Iterable[str]) -> None:
        transcript = self._transcript
        if transcript:
            for line in lines:
                transcript.note(direction, line)

    def _read_errors(self) -> None:
        """Drain the error output and remember how it ends."""
        assert self._process.stderr
        descriptor = self._process.stderr.fileno()
        while True:
            try:
                chunk = os.read(descriptor, CHUNK)
            except OSError:
                return
            if not chunk:
                return
            self._errors = (self._errors + chunk)[-STDERR_TAIL:]

    @property
    def error_tail(self) -> str:
        """The last line that the program wrote to its error output, or at all if they are one."""
        lines = _decode(self._errors).strip().splitlines()
        return lines[-1].strip() if lines else ""

    def send(self, lines: Iterable[str]) -> float:
        """Say lines, forget what was said before, and return the time.

        Raises:
            EngineFault: the program floods.
        """
        with self._news:
            self._lines.clear()
            self._bytes = self._count = 0
            flooded = self._flooded
        if flooded:
            raise self._flood()
        return self.add(lines)

    def add(self, lines: Iterable[str]) -> float:
        """Say lines that belong to what was said before, and return the time."""
        lines = list(lines)
        self._log(">", lines)
        data = "".join(f"{line}\r\n" for line in lines).encode("ascii", "replace")
        now = time.perf_counter()
        self._unsent.put(data)
        return now

    def receive(self, timeout: float) -> TimedLine | None:
        """Return the next line, or None if none comes in time.

        Raises:
            EngineFault: the program is gone, or floods.
        """
        with self._news:
            self._news.wait_for(lambda: self._lines or self._ended or self._flooded, timeout)
            if self._flooded:
                raise self._flood()
            if self._lines:
                return self._lines.popleft()
            ended = self._ended
        # Children that a dead program left behind may hold its output open.
        if ended or processes.has_ended(self._process):
            raise self._gone()
        return None

    def _flood(self) -> EngineFault:
        return EngineFault(FLOOD, f"{self._count} lines, {self._bytes} bytes in one answer")

    def _gone(self) -> EngineFault:
        """Say how the program ended."""
        try:
            code = self._process.wait(0.3)
        except subprocess.TimeoutExpired:
            return EngineFault(EXIT, "closed its output")
        said = f": {self.error_tail}" if self.error_tail else ""
        if code < 0:
            with contextlib.suppress(ValueError):
                return EngineFault(CRASH, f"{signal.Signals(-code).name}{said}")
        if code:
            return EngineFault(CRASH, f"exit code {code}{said}")
        return EngineFault(EXIT, "left the game")

    def freeze(self) -> None:
        """Stop the process where it is, as the tournament judge does between moves."""
        processes.suspend(self.pid)
        self._frozen = True

    def thaw(self) -> float:
        """Let the process go on, and return the time."""
        if self._frozen:
            processes.resume(self.pid)
            self._frozen = False
        return time.perf_counter()

    def memory(self) -> int:
        """Return the private bytes of the process and its descendants."""
        return processes.tree_memory(self.pid)

    def end(self) -> None:
        """Ask the program to leave."""
        with contextlib.suppress(EngineFault):
            self.thaw()
            self.send(["END"])
        self._unsent.put(None)

    def close(self, grace: float = END_GRACE) -> None:
        """Wait for the program to leave after :meth:`end`, then kill what is left of it."""
        strays = processes.descendants(self.pid)
        if grace > 0:
            processes.wait_unreaped(self._process, grace)
        processes.kill_group(self.pid, strays)
        if self._guardian:
            self._guardian.release(self.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        self._unsent.put(None)
        for thread in self._threads:
            thread.join(0.5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self._transcript:
            self._transcript.close()


def _decode(raw: bytes) -> str:
    """Return text of any encoding: what is not UTF-8 is often GBK, and never matters."""
    return raw[:MAX_LINE].decode("utf-8", "replace").strip("\r\0")
