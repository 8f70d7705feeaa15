"""A foreign program on the other end of two pipes: bytes out, lines in with their time.

Nothing that the program does can block or fill up its owner: its pipes are written and read by
threads of their own, what it says is bounded, and ending it ends the whole group of processes
that it may have started.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter
from typing import NamedTuple, TextIO

from ..options import problem_of
from . import processes
from .journal import CRASH, EXIT, FLOOD
from .processes import Guardian
from .referee import EngineFault

_given_up: set[Path] = set()  # folders in which a file could not be written, and it was said


class Transcript:
    """A file with a line for each line of the dialogue: seconds, direction, text.

    A match goes on without what cannot be written.
    """

    def __init__(self, folder: str, title: str) -> None:
        """Open ``folder/title.log``, over an older one if there is any."""
        self._path = Path(folder, re.sub(r"[^\w.-]+", "_", title) + ".log")
        self._file: TextIO | None = None
        self._lock = threading.Lock()
        self._began = perf_counter()
        with self._excuse_errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8")

    def note(self, direction: str, text: str) -> None:
        """Write a line that was sent (``>``) or came (``<``)."""
        with self._lock, self._excuse_errors():
            if self._file:
                print(f"{perf_counter() - self._began:9.3f} {direction} {text}", file=self._file)

    def close(self) -> None:
        """Close the file; what still comes is not written."""
        with self._lock, self._excuse_errors():
            file, self._file = self._file, None
            if file:
                file.close()

    @contextlib.contextmanager
    def _excuse_errors(self) -> Iterator[None]:
        """Say once in a folder that a log is not whole, and write no more of this one."""
        try:
            yield
        except OSError as error:
            file, self._file = self._file, None
            if file:
                with contextlib.suppress(OSError):
                    file.close()
            if self._path.parent not in _given_up:
                _given_up.add(self._path.parent)
                error.filename = str(self._path)
                print(f"a log is not whole: {problem_of(error)}", file=sys.stderr)


CHUNK = 65536
MAX_LINE = 8000  # as the managers cut
FLOOD_BYTES = 4_000_000  # in answer to one command
FLOOD_LINES = 50_000
ERROR_TAIL = 2000  # bytes
END_GRACE = 0.5  # seconds from END to the kill, as tournaments have it


class TimedLine(NamedTuple):
    """One line of output and when its end was read, on the clock of ``time.perf_counter``."""

    text: str
    time: float
    chunks: int  # reads that brought it: 1 if it came in one piece


class Program:
    """A running program: ``write`` bytes, get each ``line``, ``close``."""

    line_end = re.compile(rb"\r\n?|\n")

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
            OSError: it cannot be started.
            ValueError: the command is none.
        """
        try:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merged else subprocess.PIPE,
                bufsize=0,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                start_new_session=os.name != "nt",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            error.filename = error.filename or command[0]  # which Windows does not tell
            raise
        self.started_at = perf_counter()
        self.pid = self.process.pid
        self.transcript = transcript
        self.stderr = b""  # the end of what it wrote there, or of all output if merged
        self.has_ended = False  # its output has
        self.is_flooding = False
        self._guardian = guardian
        self._lines: deque[TimedLine] = deque()
        self._news = threading.Condition()
        self._bytes = self._count = 0  # heard since it was last spoken to
        self._unsent: SimpleQueue[tuple[bytes | None, threading.Event]] = SimpleQueue()
        self._is_input_closed = self._is_closed = self._is_suspended = False
        if guardian:
            guardian.watch(self.pid)
        if cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self.pid, set(cores))
        tasks = [self._write_input, self._read_output]
        if not merged:
            tasks.append(self._read_errors)
        self._threads = [threading.Thread(target=task, daemon=True) for task in tasks]
        for thread in self._threads:
            thread.start()

    # -- talking ---------------------------------------------------------------------------

    def write(self, data: bytes | None) -> threading.Event:
        """Write bytes, or with None end the input; return what is set once that is done."""
        written = threading.Event()
        if self._is_input_closed:
            written.set()
        else:
            self._is_input_closed = data is None
            self._unsent.put((data, written))
        return written

    def line(self, timeout: float) -> TimedLine | None:
        """Return the next line, or None if none comes in time or ever."""
        with self._news:
            self._news.wait_for(lambda: self._lines or self.has_ended or self.is_flooding, timeout)
            return self._lines.popleft() if self._lines else None

    def log(self, direction: str, lines: Iterable[str]) -> None:
        """Write lines that were said (``>``) or heard (``<``) to the transcript."""
        if transcript := self.transcript:
            for line in lines:
                transcript.note(direction, line.strip("\r\0"))

    # -- its life --------------------------------------------------------------------------

    def suspend(self) -> None:
        """Stop the process where it is, as the tournament judge does between moves."""
        processes.suspend(self.pid)
        self._is_suspended = True

    def resume(self) -> None:
        """Let the process go on."""
        if self._is_suspended:
            processes.suspend(self.pid, resumes=True)
            self._is_suspended = False

    def close(self, grace: float = END_GRACE) -> None:
        """Wait for the program to leave, then kill what is left of it."""
        if self._is_closed:
            return
        self._is_closed = True
        processes.end_tree(self.process, grace)
        if self._guardian:
            self._guardian.watch(self.pid, "-")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.write(None)
        for thread in self._threads:
            thread.join(0.5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
        if self.transcript:
            self.transcript.close()

    # -- in threads ------------------------------------------------------------------------

    def _write_input(self) -> None:
        """Write what is to be said, up to the end; a program that reads nothing blocks this."""
        assert self.process.stdin
        data: bytes | None = b""
        while data is not None:
            data, written = self._unsent.get()
            with contextlib.suppress(OSError, ValueError):
                if data is None:
                    self.process.stdin.close()
                else:
                    self.process.stdin.write(data)
            written.set()

    def _read_output(self) -> None:
        """Cut the output into lines until it ends or floods."""
        assert self.process.stdout
        rest, chunks = b"", 0
        return_is_end = bool(self.line_end.fullmatch(b"\r"))
        has_returned = False  # the last chunk ended with a return, of which a newline is a part
        while True:
            chunk = _read(self.process.stdout.fileno())
            now = perf_counter()
            text = chunk.removeprefix(b"\n") if has_returned else chunk
            has_returned = return_is_end and chunk.endswith(b"\r")
            *complete, tail = self.line_end.split(rest + text)
            if not chunk and tail:
                complete, chunks = [tail], chunks - 1
            lines = [
                TimedLine(_decode(raw), now, 1 if number else chunks + 1)
                for number, raw in enumerate(complete[:FLOOD_LINES])
            ]
            chunks = chunks + 1 if tail and not complete else int(bool(tail))
            rest = tail[:MAX_LINE]
            if self.process.stderr is None and complete:
                self.stderr = complete[-1][-ERROR_TAIL:]
            self.log("<", (line.text for line in lines))
            with self._news:
                self._bytes += len(chunk)
                self._count += len(complete)
                self._lines.extend(lines)
                self.is_flooding = self._bytes > FLOOD_BYTES or self._count > FLOOD_LINES
                self.has_ended = not chunk
                self._news.notify_all()
                if self.has_ended or self.is_flooding:
                    return

    def _read_errors(self) -> None:
        """Drain the error output and remember how it ends."""
        assert self.process.stderr
        while chunk := _read(self.process.stderr.fileno()):
            self.stderr = (self.stderr + chunk)[-ERROR_TAIL:]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK)
    except OSError:
        return b""


def _decode(raw: bytes) -> str:
    """Return text of any encoding: what is not UTF-8 is often GBK, and never matters."""
    return raw[:MAX_LINE].decode("utf-8", "replace")


class EngineProcess(Program):
    """An engine as a match runs it: ``send`` lines, ``receive`` lines; faults are raised."""

    def send(self, lines: Iterable[str]) -> float:
        """Say lines, forget what was said before, and return the time.

        Raises:
            EngineFault: the program floods.
        """
        with self._news:
            self._lines.clear()
            flood = self._flood()
            self._bytes = self._count = 0
        if self.is_flooding:
            raise flood
        return self.add(lines)

    def add(self, lines: Iterable[str]) -> float:
        """Say lines that belong to what was said before, and return the time."""
        lines = list(lines)
        self.log(">", lines)
        now = perf_counter()
        self.write("".join(f"{line}\r\n" for line in lines).encode("ascii", "replace"))
        return now

    def receive(self, timeout: float) -> TimedLine | None:
        """Return the next line, or None if none comes in time.

        Raises:
            EngineFault: the program is gone, or floods.
        """
        line = self.line(timeout)
        if self.is_flooding:
            raise self._flood()
        # Children that a dead program left behind may hold its output open.
        if line is None and (self.has_ended or processes.has_ended(self.process)):
            raise self._gone()
        return line._replace(text=line.text.strip("\r\0")) if line else None

    def _flood(self) -> EngineFault:
        return EngineFault(FLOOD, f"{self._count} lines, {self._bytes} bytes in one answer")

    def _gone(self) -> EngineFault:
        """Return how the program ended, with the last line that it wrote as an error."""
        try:
            code = self.process.wait(0.3)
        except subprocess.TimeoutExpired:
            return EngineFault(EXIT, "closed its output")
        for reader in self._threads[1:]:
            reader.join(0.3)  # the last of it may not have been read yet
        words = _decode(self.stderr).strip("\r\0").strip().splitlines()
        said = f": {words[-1].strip()}" if words else ""
        if code < 0:
            with contextlib.suppress(ValueError):
                return EngineFault(CRASH, f"{signal.Signals(-code).name}{said}")
        if code:
            return EngineFault(CRASH, f"exit code {code}{said}")
        return EngineFault(EXIT, "left the game")

    def end(self) -> None:
        """Ask the program to leave."""
        self.resume()
        with contextlib.suppress(EngineFault):
            self.send(["END"])
        self.write(None)
