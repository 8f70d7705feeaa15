"""The running protocol: a reader thread, a search thread, and the main loop.

The reader waits for bytes and posts commands; the search thread posts its lines and its answer;
the main thread alone owns the session and the output, so that nothing is answered twice and lines
are never mixed. It is also the watchdog: at the deadline, a missing answer is replaced by the best
move so far, and a search that does not return is abandoned together with its engine.

The pipes are used through file descriptors only, not through Python's buffered streams: a thread
blocked in a buffered read makes Python abort at exit, and a line written in pieces confuses clients
that read raw chunks.
"""

from __future__ import annotations

import os
import threading
from _queue import Empty, SimpleQueue  # faster to import than `queue`
from collections import deque
from collections.abc import Callable, Iterable
from time import perf_counter, sleep
from typing import Any

from ..engine.engine import Engine
from ..engine.pacing import LAG, UNLIMITED
from ..errors import NumokuError
from . import replies
from .commands import Command, CommandReader
from .searches import Task
from .session import Session

END = Command("END")
DURING = ("INFO", "ABOUT")  # commands that do not end a running search
STDIN, STDOUT, STDERR = 0, 1, 2
CHUNK = 65_536
BUSY_WAIT = 0.002  # seconds between tries on a non-blocking pipe that is full or empty

LATE = 0.008  # seconds past the deadline after which the watchdog answers
STOP_PATIENCE = 0.015  # seconds for a stopped search to answer by itself
RETURN_PATIENCE = 0.3  # seconds for a late search to return before its engine is replaced
STOP_INTERVAL = 0.003  # seconds between stop flags, set again until the search has seen one
WORK_PATIENCE = 10.0  # seconds of one step, after END, until the reader ends the process
WRITE_PATIENCE = 0.4  # the same for writing a line
WATCH_INTERVAL = 0.003  # seconds between two checks of the step
LONGEST_LOOK = 0.05  # cap of the time counted between two checks: the process may be suspended
MAX_QUEUE = 4096  # commands read ahead
FLOOD = 64  # waiting events, more than in any client's dialogue: a move that is due passes them


def read() -> bytes:
    """Wait for input and return it; empty at its end."""
    while True:
        try:
            return os.read(STDIN, CHUNK)
        except BlockingIOError:  # empty, not at its end
            sleep(BUSY_WAIT)
        except OSError:
            return b""


def write(line: str) -> None:
    """Write a line with one system call; BrokenPipeError without a reader."""
    data = line.encode("ascii", "replace") + b"\n"
    while data:
        try:
            data = data[os.write(STDOUT, data) :]
        except BlockingIOError:
            sleep(BUSY_WAIT)
        except OSError as reason:
            raise BrokenPipeError from reason


def leave() -> None:
    """End the process at once, without waiting for its threads."""
    os._exit(0)


def log(mark: str, text: str) -> None:
    """Log to stderr, with a time: ``mark`` is < for input, > for output, ! for problems."""
    line = f"{os.getpid()} {perf_counter():.3f} {mark} {text}\n"
    try:
        os.write(STDERR, line.encode("utf-8", "replace"))
    except OSError:
        pass


class Loop:
    """One conversation over the standard streams."""

    def __init__(self, make_engine: Callable[[int], Engine]) -> None:
        """Prepare a conversation; at END or EOF, the process ends."""
        self.session = Session(make_engine)
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._waiting: deque[Any] = deque()  # commands received while a search was being ended
        self._lost: set[Task] = set()  # searches that did not return
        # For the reader at the end: the number of the current step and the seconds it may take,
        # a tuple, so that both change in one assignment.
        self._step = (0, WORK_PATIENCE)
        self._leaving = False

    def run(self) -> None:
        """Talk until END or the end of the input."""
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while not self._leaving:
                self._handle_next()
        except BrokenPipeError:
            pass
        leave()

    # -- reading, in its own thread --------------------------------------------------------

    def _read(self) -> None:
        reader = CommandReader()
        ended = False
        while not ended:
            chunk = read()
            read_at = perf_counter()
            lines = reader.lines(chunk or b"\n")
            for line in lines:
                log("<", line)
            commands = [command for line in lines for command in reader.read(line)]
            for command in commands if chunk else [*commands, END]:
                task = self.session.task
                # If this command ends the search, stop it before the main thread wakes and before
                # posting the command, which may start a search of its own.
                if task is not None and command.name not in DURING:
                    task.stop()
                self._events.put((command, read_at))
                ended = ended or command == END
                if ended:
                    break
            while self._events.qsize() > MAX_QUEUE:
                sleep(STOP_INTERVAL)
        self._watch_the_end()

    def _watch_the_end(self) -> None:
        """After END, end the process if the main thread is stuck in a step.

        While it works, an answer may be due: only the main thread knows when all are written.
        """
        step, waited, looked_at = self._step, 0.0, perf_counter()
        while waited <= step[1]:
            sleep(WATCH_INTERVAL)
            now = perf_counter()
            waited += min(now - looked_at, LONGEST_LOOK)
            looked_at = now
            if self._step != step:
                step, waited = self._step, 0.0
        leave()

    # -- the main thread -------------------------------------------------------------------

    def _handle_next(self) -> None:
        """Wait for the next event, or until the running search is overdue, and handle it."""
        task = self.session.task
        overdue = None
        if task is not None and not task.answered and task.deadline != UNLIMITED:
            overdue = task.deadline + LATE - LAG.lead(task.deadline - task.read_at)
        waiting = len(self._waiting) + self._events.qsize()
        if overdue is not None and waiting > FLOOD and perf_counter() > overdue:
            event = self._take_out(task)
        else:
            event = self._waiting.popleft() if self._waiting else self._wait(overdue)
        self._step = (self._step[0] + 1, WORK_PATIENCE)
        if event is None:
            assert task is not None
            log("!", "late: answered by the watchdog")
            self._answer_now(task)
            task.stop()
        elif isinstance(event[0], Task):
            self._on_search(*event)
        else:
            self._on_command(*event)

    def _wait(self, until: float | None) -> Any:
        """Return the next event, or None if there is none until this moment of ``perf_counter``."""
        if until is None:
            return self._events.get()
        began = perf_counter()
        try:
            event = self._events.get(timeout=max(until - began, 0.0))
        except Empty:
            event = None
        late = perf_counter() - max(until, began)
        if late > 0:
            LAG.note(late)
        return event

    def _take_out(self, task: Task | None) -> Any:
        """Return the first waiting event of a search, or None; the others stay in order."""
        for _ in range(self._events.qsize()):
            self._waiting.append(self._events.get())
        own = next((event for event in self._waiting if event[0] is task), None)
        if own is not None:
            self._waiting.remove(own)
        return own

    def _on_command(self, command: Command, read_at: float) -> None:
        session = self.session
        if session.task is not None and command == END:
            self._answer_now(session.task)  # the search itself ends with the process
        elif session.task is not None and command.name not in DURING:
            self._end_search(session.task)
        running = session.task
        try:
            lines = session.handle(command, read_at)
        except Exception as error:
            self._report(error)
            self._write(session.emergency(command, error))
            return
        self._write(lines)
        self._leaving = command == END
        task = session.task
        if task is not None and task is not running:
            try:
                task.start(self._events.put)
            except (NumokuError, RuntimeError, ValueError, MemoryError) as error:
                session.task = None
                self._report(error)
                self._write(session.conclude(task))

    def _on_search(self, task: Task, outcome: str | BaseException | None) -> None:
        """Handle a line or the end of a search, posted by its thread."""
        if isinstance(outcome, str):
            if task is self.session.task and not task.answered:
                self._write((outcome,))
            return
        if task in self._lost:
            self._lost.discard(task)
            if not self._lost:
                self.session.divisor = 1
            return
        if outcome is not None:
            self._report(outcome)
        if not task.answered:
            self._write(self.session.conclude(task))
        self.session.task = None
        if outcome is not None:
            self.session.abandon_engine(gone=True)

    def _answer_now(self, task: Task) -> None:
        """Write the best move so far, unless it is answered already."""
        if not task.answered:
            self._write(self.session.conclude(task, busy=True))

    def _end_search(self, task: Task) -> None:
        """Stop the running search and write its move; abandon it if it does not stop."""
        began = perf_counter()
        while self.session.task is task:
            task.stop()
            try:
                event = self._events.get(timeout=STOP_INTERVAL)
            except Empty:
                event = None
            if event is not None and isinstance(event[0], Task):
                self._on_search(*event)
            elif event is not None:  # a command, kept in order
                self._waiting.append(event)
            waited = perf_counter() - began
            if self.session.task is task and waited > STOP_PATIENCE:
                self._answer_now(task)
            if self.session.task is task and waited > RETURN_PATIENCE:
                log("!", "a search did not stop: its engine is replaced")
                self._lost.add(task)
                self.session.abandon_engine(gone=False)

    # -- writing ---------------------------------------------------------------------------

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            log(">", line)
            self._step = (self._step[0] + 1, WRITE_PATIENCE)
            write(line)
            self._step = (self._step[0] + 1, WORK_PATIENCE)

    def _report(self, error: BaseException) -> None:
        """Report an internal error in the log, and its kind in a DEBUG line."""
        import traceback  # imported late: takes 2 ms

        text = "".join(traceback.format_exception(error))
        log("!", text.rstrip())
        problem = f"{replies.problem_of(error)}: {type(error).__name__}: {error}"
        self._write((replies.remark("DEBUG", problem),))
