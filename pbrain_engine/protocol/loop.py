"""The running protocol: a reader, a worker, and the loop that keeps everybody in order.

Three threads. The reader waits for bytes and posts commands; the worker runs one
search and posts its lines and its answer; the main thread alone owns the session and the
output, so nothing is answered twice and no line is torn. It also is the watchdog: an
answer that is not there at the deadline is replaced by the best move so far, and a worker
that does not come back is left behind together with its engine.
"""

from __future__ import annotations

import threading
from _queue import Empty, SimpleQueue  # what `queue` has of them, without the rest of it
from collections import deque
from collections.abc import Callable
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from ..engine.clock import UNLIMITED
from . import replies, streams
from .commands import Command, Info, Reader, Word
from .lines import LineBuffer
from .session import Session
from .settings import Settings
from .task import Outcome, Task

if TYPE_CHECKING:
    from ..engine.engine import Engine

STACK = 16 * 1024 * 1024  # of a search thread
LATE = 0.008  # seconds past the deadline after which the watchdog answers
STOP_PATIENCE = 0.015  # seconds for a stopped search to answer by itself
RETURN_PATIENCE = 0.3  # seconds for a late worker to come back before its engine is replaced
STOP_INTERVAL = 0.003  # the stop flag is raised again until the search has seen it
WORK_PATIENCE = 10.0  # seconds of one step, after END, until the reader ends the process
WRITE_PATIENCE = 0.4  # the same where the step is a line that nobody reads
WATCH_INTERVAL = 0.003  # between two looks at that
LONGEST_LOOK = 0.05  # a look counts as this much at most: the process may have been suspended
MAX_QUEUE = 4096  # commands that are read ahead


class Worker:
    """A thread that runs one task."""

    def __init__(self, task: Task, post: Callable[[Any], None]) -> None:
        """Start the thread; it posts pairs of itself and a line, its answer or an exception."""
        self.task = task
        self.answered = False  # the manager has its move, from whomever
        task.emit = lambda line: post((self, line))
        self._post = post
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            outcome: Outcome | BaseException = self.task.run()
        except BaseException as error:
            outcome = error
        self._post((self, outcome))


def ends_search(command: Command) -> bool:
    """Say whether a running search is ended by this command; INFO and ABOUT come in between."""
    return not isinstance(command, Info) and command is not Word.ABOUT


class Step:
    """What the main thread does now, and how long that may take; each one is a new object."""

    __slots__ = ("patience",)

    def __init__(self, patience: float) -> None:
        """Begin a step."""
        self.patience = patience


class Loop:
    """One conversation over the standard streams."""

    def __init__(
        self, make_engine: Callable[[int], Engine], log: streams.Log | None = None
    ) -> None:
        """Prepare a conversation, which ends with the process at END and EOF."""
        self._output = streams.Output()
        self._log = log or streams.Log(None)
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._waiting: deque[Any] = deque()  # commands that came while a search was ended
        self._worker: Worker | None = None
        self._lost: set[Worker] = set()  # workers that did not come back
        # For the reader at the end. Progress and patience change together, in one assignment.
        self._doing = Step(WORK_PATIENCE)
        self._leaving = False
        self._session = Session(make_engine)

    @property
    def settings(self) -> Settings:
        """What INFO sets."""
        return self._session.settings

    def run(self) -> None:
        """Talk until END or the end of the input."""
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while not self._leaving:
                self._step()
        except streams.Broken:
            pass
        streams.leave()

    # -- reading, in its own thread --------------------------------------------------------

    def _read(self) -> None:
        buffer, reader = LineBuffer(), Reader()
        ended = False
        while not ended:
            chunk = streams.read()
            read_at = perf_counter()
            lines = buffer.feed(chunk) if chunk else buffer.close()
            found = [command for line in lines for command in reader.read(line)]
            if not chunk:
                found.append(Word.END)
            for command in found:
                self._forestall(command)
                self._events.put((command, read_at))
                ended = ended or command is Word.END
                if ended:
                    break
            while self._events.qsize() > MAX_QUEUE:
                sleep(STOP_INTERVAL)
        self._watch_the_end()

    def _forestall(self, command: Command) -> None:
        """Stop the running search, which this command will end, before the main thread wakes.

        That is right only before the command is posted: afterwards the search may be its own.
        """
        worker = self._worker
        if worker is not None and ends_search(command):
            worker.task.stop()

    def _watch_the_end(self) -> None:
        """After END, end the process if the main thread is stuck in a step.

        As long as it works, an answer may be due: only it knows when all are written.
        """
        step, waited, looked_at = self._doing, 0.0, perf_counter()
        while waited <= step.patience:
            sleep(WATCH_INTERVAL)
            now = perf_counter()
            waited += min(now - looked_at, LONGEST_LOOK)
            looked_at = now
            if self._doing is not step:
                step, waited = self._doing, 0.0
        streams.leave()

    # -- the main thread -------------------------------------------------------------------

    def _step(self) -> None:
        """Wait for the next event and deal with it."""
        event = self._next_event()
        self._doing = Step(WORK_PATIENCE)
        if event is None:
            self._watchdog()
        elif isinstance(event[0], Worker):
            self._on_worker(*event)
        else:
            self._on_command(*event)

    def _next_event(self) -> Any:
        """Return the next event, or None when the running search is overdue."""
        if self._waiting:
            return self._waiting.popleft()
        worker = self._worker
        if worker is None or worker.answered or worker.task.deadline == UNLIMITED:
            return self._events.get()
        try:
            timeout = worker.task.deadline + LATE - perf_counter()
            return self._events.get(timeout=max(timeout, 0.0))
        except Empty:
            return None

    def _on_command(self, command: Command, read_at: float) -> None:
        self._log.write("<", str(command))
        if self._worker is not None and command is Word.END:
            self._answer_now(self._worker)  # the search itself ends with the process
        elif self._worker is not None and ends_search(command):
            self._end_search()
        try:
            response = self._session.handle(command, read_at)
        except Exception as error:
            self._note(error)
            self._write_all(self._session.emergency(command))
            return
        self._write_all(response.lines)
        if response.leave:
            self._leaving = True
        elif response.task is not None:
            self._start(response.task)

    def _start(self, task: Task) -> None:
        try:
            threading.stack_size(STACK)
            self._worker = Worker(task, self._events.put)
        except (RuntimeError, ValueError, MemoryError) as error:
            self._note(error)
            self._write_all(self._session.conclude(task, task.fallback))
        finally:
            threading.stack_size(0)

    def _on_worker(self, worker: Worker, outcome: Any) -> None:
        """Take a line or the end of a search from its thread."""
        if isinstance(outcome, str):
            if worker is self._worker and not worker.answered:
                self._write(outcome)
            return
        if worker in self._lost:
            self._lost.discard(worker)
            if not self._lost:
                self._session.memory_is_back()
            return
        failed = isinstance(outcome, BaseException)
        if failed:
            self._note(outcome)
        if not worker.answered:
            self._answer(worker, worker.task.fallback if failed else outcome)
        self._worker = None
        if failed:
            self._session.abandon_engine(gone=True)

    def _answer(self, worker: Worker, answer: Outcome, busy: bool = False) -> None:
        worker.answered = True
        self._write_all(self._session.conclude(worker.task, answer, busy))

    def _watchdog(self) -> None:
        """Answer in place of a search that has missed its deadline."""
        worker = self._worker
        if worker is None or worker.answered:
            return
        self._log.write("!", "late: answered by the watchdog")
        self._answer(worker, worker.task.fallback, busy=True)
        worker.task.stop()

    def _answer_now(self, worker: Worker) -> None:
        """Write the best move so far, unless the manager has one."""
        if not worker.answered:
            self._answer(worker, worker.task.fallback, busy=True)

    def _end_search(self) -> None:
        """Stop the running search and write its move; leave it behind if it does not stop."""
        worker = self._worker
        assert worker is not None
        began = perf_counter()
        while self._worker is worker:
            worker.task.stop()
            self._wait_for_worker()
            waited = perf_counter() - began
            if self._worker is worker and waited > STOP_PATIENCE:
                self._answer_now(worker)
            if self._worker is worker and waited > RETURN_PATIENCE:
                self._give_up(worker)

    def _wait_for_worker(self) -> None:
        """Wait a moment for the worker; commands that come meanwhile keep their order."""
        try:
            event = self._events.get(timeout=STOP_INTERVAL)
        except Empty:
            return
        if isinstance(event[0], Worker):
            self._on_worker(*event)
        else:
            self._waiting.append(event)

    def _give_up(self, worker: Worker) -> None:
        self._log.write("!", "a search did not stop: its engine is replaced")
        self._worker = None
        self._lost.add(worker)
        self._session.abandon_engine(gone=False)

    # -- writing ---------------------------------------------------------------------------

    def _write(self, line: str) -> None:
        self._log.write(">", line)
        self._doing = Step(WRITE_PATIENCE)
        self._output.write(line)
        self._doing = Step(WORK_PATIENCE)

    def _write_all(self, lines: tuple[str, ...]) -> None:
        for line in lines:
            self._write(line)

    def _note(self, error: BaseException) -> None:
        """Tell of an internal error in the log, and of its kind in a DEBUG line."""
        import traceback  # 2 ms, which only this costs

        text = "".join(traceback.format_exception(error))
        self._log.write("!", text.rstrip())
        self._write(replies.internal_error(error))
