"""An engine process behind pipes: bytes in, lines out with the time of their arrival.

The program can never block its owner: threads write and read the pipes, output is limited, and
closing kills the whole process group. Descendants are found by psutil (the extra ``tools``).
Without it, only the engine's own process is measured, and descendants outside its process group
survive it.
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
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from time import perf_counter, sleep
from typing import IO, Any, NamedTuple, TextIO

from ..errors import NumokuError, printable, problem_of
from ..files import shown
from ..game.record import CRASH, EXIT, FLOOD
from ..native.load.memory import peak_working_set, private_pages

IS_LINUX = sys.platform.startswith("linux")
IS_WINDOWS = sys.platform == "win32"
psutil: Any = None
with contextlib.suppress(ImportError):
    psutil = import_module("psutil")

KNOWS_MEMORY = IS_LINUX or IS_WINDOWS or psutil is not None  # of other processes
POLL = 0.003
MOST_SHOWN = 200  # characters of what an engine said

_given_up: set[Path] = set()  # folders with a write error that was reported


class EngineFault(NumokuError):
    """A failure or violation that costs an engine the game."""

    def __init__(self, cause: str, detail: str = "") -> None:
        """Store the cause, one of ``FAULTS``, and what was observed, made printable."""
        self.cause = cause
        self.detail = printable(detail)
        super().__init__(f"{cause}: {self.detail}" if detail else cause)


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


class Transcript:
    """A log file with a line for each line of the dialogue: seconds, direction, text.

    Write errors do not stop the match.
    """

    def __init__(self, folder: str, title: str) -> None:
        """Open ``folder/title.log``, replacing an older one."""
        self._path = Path(folder, re.sub(r"[^\w.-]+", "_", title) + ".log")
        self._file: TextIO | None = None
        self._lock = threading.RLock()
        self._began = perf_counter()
        with self._excuse_errors():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("w", encoding="utf-8")

    def note(self, direction: str, lines: Iterable[str]) -> None:
        """Write lines that were sent (``>``) or received (``<``)."""
        now = perf_counter() - self._began
        with self._excuse_errors():
            if self._file:
                self._file.writelines(f"{now:9.3f} {direction} {line}\n" for line in lines)

    def close(self) -> None:
        """Close the file; later lines are not written."""
        with self._excuse_errors():
            file, self._file = self._file, None
            if file:
                file.close()

    @contextlib.contextmanager
    def _excuse_errors(self) -> Iterator[None]:
        """On an error, close this log; report the error once per folder."""
        with self._lock:
            try:
                yield
            except OSError as error:
                if self._path.parent not in _given_up:
                    _given_up.add(self._path.parent)
                    error.filename = str(self._path)
                    print(f"a log is incomplete: {problem_of(error)}", file=sys.stderr)
                self.close()


CHUNK = 65536
MAX_LINE = 8000  # bytes; managers cut there, too
FLOOD_BYTES = 4_000_000  # in answer to one command
FLOOD_LINES = 50_000
ERROR_TAIL = 2000  # bytes
END_GRACE = 0.5  # seconds from END to the kill, as in tournaments
ANY_END = re.compile(rb"\r\n?|\n")


class TimedLine(NamedTuple):
    """A line of output, and when its end was read, by ``time.perf_counter``."""

    text: str
    time: float
    chunks: int  # reads that it took; 1 if it came in one piece


class EngineProcess:
    """A running engine: ``send`` lines, read each ``line``, ``close``."""

    def __init__(
        self,
        command: Sequence[str],
        folder: str | None = None,
        environment: Mapping[str, str] | None = None,
        cores: Iterable[int] = (),
        guardian: Guardian | None = None,
        transcript: Transcript | None = None,
        merged: bool = False,
        line_end: re.Pattern[bytes] = ANY_END,
    ) -> None:
        """Start the program in its own process group.

        ``merged``: its error output counts as output, as with many managers. OSError if it cannot
        be started, ValueError if the command cannot be run.
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
            error.filename = error.filename or command[0]  # missing on Windows
            raise
        self.pid = self.process.pid
        self.transcript = transcript
        self.stderr = b""  # the end of its error output, or of all output if merged
        self.has_ended = False  # whether its output has
        self.flood = ""  # the amount of far too much output, in words
        self._guardian = guardian
        self._line_end = line_end
        self._lines: deque[TimedLine] = deque()
        self._news = threading.Condition()
        self._bytes = self._count = 0  # bytes and lines received since the last command
        self._unsent: SimpleQueue[bytes | None] = SimpleQueue()
        self._is_closed = False
        if guardian:
            guardian.watch(self.pid)
        if cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(self.pid, set(cores))
        tasks = [self._write_input, self._read_output, self._read_errors]
        self._threads = [threading.Thread(target=task, daemon=True) for task in tasks]
        for thread in self._threads:
            thread.start()

    # -- talking ---------------------------------------------------------------------------

    def write(self, data: bytes | None) -> None:
        """Queue bytes to be written as soon as the program reads; None closes its input."""
        with self._news:
            self._bytes = self._count = 0
        self._unsent.put(data)

    def send(self, *lines: str, end: str = "\r\n") -> float:
        """Send lines in one packet; return the time."""
        if self.transcript:
            self.transcript.note(">", lines)
        now = perf_counter()
        self.write("".join(line + end for line in lines).encode("latin-1", "replace"))
        return now

    def ask(self, *lines: str) -> float:
        """Send lines, dropping earlier output; return the time."""
        with self._news:
            self._lines.clear()
        return self.send(*lines)

    def line(self, timeout: float) -> TimedLine | None:
        """Return the next line, or None on a timeout, flood or end of output."""
        with self._news:
            self._news.wait_for(lambda: self._lines or self.has_ended or self.flood, timeout)
            return self._lines.popleft() if self._lines else None

    def lines(self, quiet: float = 0.05) -> list[TimedLine]:
        """Return all lines until the program is quiet for that many seconds."""
        return list(iter(lambda: self.line(quiet), None))

    def receive(self, timeout: float) -> TimedLine | None:
        """Return the next line, None on a timeout; EngineFault if the program ended or floods."""
        line = self.line(timeout)
        if self.flood:
            raise EngineFault(FLOOD, self.flood)
        # Children of a dead program may keep its output open.
        if line is None and (self.has_ended or self._is_dead()):
            raise self._gone()
        return line and line._replace(text=line.text.strip("\r\0"))

    # -- the process -----------------------------------------------------------------------

    def suspend(self, resumes: bool = False) -> None:
        """Suspend or resume the process, like the judge without its children."""
        number = getattr(signal, "SIGCONT" if resumes else "SIGSTOP", None)
        if number is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
        elif psutil is not None:
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(self.pid)
                process.resume() if resumes else process.suspend()

    def _is_dead(self) -> bool:
        """Return whether the process has ended, without reaping it."""
        if self.process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.pid, options) is not None
        except ChildProcessError:
            return True

    def _await_end(self, timeout: float) -> None:
        """Wait for the process to end, without reaping it, so that its id stays its own."""
        end = perf_counter() + timeout
        while not self._is_dead() and perf_counter() < end:
            sleep(POLL)  # Popen.wait polls only every 50 ms

    def wait(self, timeout: float) -> int | None:
        """Return the exit status, or None if the program is still running after the timeout."""
        self._await_end(timeout)
        return self.process.poll()

    def end(self) -> None:
        """Send END and close the input."""
        self.suspend(resumes=True)
        self.send("END")
        self.write(None)

    def close(self, grace: float = END_GRACE) -> None:
        """Wait for the program to exit, then kill its group, and descendants outside the group."""
        if self._is_closed:
            return
        self._is_closed = True
        strays = descendants(self.pid)
        self._await_end(grace)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        else:
            self.process.kill()
        for stray in strays:  # psutil also compares start times
            with contextlib.suppress(psutil.Error, OSError):
                stray.kill()
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

    def _gone(self) -> EngineFault:
        """Return a fault that tells how the program ended, with its last line on stderr."""
        try:
            code = self.process.wait(0.3)
        except subprocess.TimeoutExpired:
            return EngineFault(EXIT, "closed its output")
        for reader in self._threads[1:]:
            reader.join(0.3)  # so that all output has been read
        words = self.stderr.decode("utf-8", "replace").strip("\r\0").strip().splitlines()
        said = f": {shown(words[-1].strip(), MOST_SHOWN)}" if words else ""
        if code < 0:
            with contextlib.suppress(ValueError):
                return EngineFault(CRASH, f"{signal.Signals(-code).name}{said}")
        if code:
            return EngineFault(CRASH, f"exit code {code}{said}")
        return EngineFault(EXIT, "left the game")

    # -- in threads ------------------------------------------------------------------------

    def _write_input(self) -> None:
        """Write queued data until None; a program that does not read blocks only this thread."""
        assert self.process.stdin
        while (data := self._unsent.get()) is not None:
            with contextlib.suppress(OSError, ValueError):
                self.process.stdin.write(data)
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def _read_output(self) -> None:
        """Split the output into lines until it ends or floods."""
        rest, chunks = b"", 0
        has_returned = False  # the last chunk ended with \r; a following \n belongs to it
        while not (self.has_ended or self.flood):
            chunk = _read(self.process.stdout)
            now = perf_counter()
            data = chunk.removeprefix(b"\n") if has_returned else chunk
            has_returned = self._line_end is ANY_END and chunk.endswith(b"\r")
            *complete, tail = self._line_end.split(rest + data)
            if not chunk and tail:
                complete, chunks = [tail], chunks - 1
            texts = (raw[:MAX_LINE].decode("utf-8", "replace") for raw in complete[:FLOOD_LINES])
            lines = [  # texts in other encodings, often GBK, never matter
                TimedLine(text, now, 1 if number else chunks + 1)
                for number, text in enumerate(texts)
            ]
            chunks = chunks + 1 if tail and not complete else int(bool(tail))
            rest = tail[:MAX_LINE]
            if self.process.stderr is None and complete:
                self.stderr = complete[-1][-ERROR_TAIL:]
            if self.transcript:
                self.transcript.note("<", (line.text.strip("\r\0") for line in lines))
            with self._news:
                self._bytes += len(chunk)
                self._count += len(complete)
                self._lines.extend(lines)
                if self._bytes > FLOOD_BYTES or self._count > FLOOD_LINES:
                    self.flood = f"{self._count} lines, {self._bytes} bytes in one answer"
                self.has_ended = not chunk
                self._news.notify_all()

    def _read_errors(self) -> None:
        """Drain the error output, keeping its end."""
        while chunk := _read(self.process.stderr):
            self.stderr = (self.stderr + chunk)[-ERROR_TAIL:]


def _read(pipe: IO[bytes] | None) -> bytes:
    """Return the next bytes of a pipe; empty at its end, on an error or without a pipe."""
    try:
        return os.read(pipe.fileno(), CHUNK) if pipe else b""
    except OSError:
        return b""
