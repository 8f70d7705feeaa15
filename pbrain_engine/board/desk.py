"""A desk: the engine and the solver of one tab, the thread that works with them, the questions.

The jobs of a desk are done one after the other, in a thread that ends when there are no more. A
desk without work gives its memory back; its engine is there again with the next job. What needs
no engine is answered at once, beside them.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..app.setup import build_checked
from ..engine.engine import ALPHABETA, DEFAULT_WEIGHTS, Engine, EngineError
from ..engine.searcher import start_deep
from ..game.game import Game
from ..notation.canonical import Position
from ..notation.cells import NotationError
from ..notation.game_tree import GameRecord
from ..solver.solver import Solver, Tree
from .archive import Archive
from .messages import (
    BAD_REQUEST,
    MOST_CHARACTERS,
    Operation,
    Refused,
    game_of,
    operation_of,
    parse,
    report_unexpected,
)

MEGABYTE = 1_000_000
DEFAULT_MEMORY = 350  # megabytes, as on the command line
SOLVER_MEMORY = 64_000_000
REST_AFTER = 60.0  # seconds without work after which the memory is given back


class Stopped(Exception):
    """The job was stopped before it knew anything."""


@dataclass(eq=False)
class Job:
    """Something to do with the checked fields of a message, which can be stopped.

    ``tell`` takes what is known so far, for the page. An ``endless`` job makes room for whatever
    comes after it.
    """

    work: Callable[[Job], None]
    fields: Mapping[str, Any] = field(default_factory=dict)
    tell: Callable[[dict[str, Any]], None] = lambda event: None
    endless: bool = False
    is_stopped: bool = False

    def check(self) -> None:
        """Raise Stopped if the job was stopped."""
        if self.is_stopped:
            raise Stopped


class Desks:
    """All desks of a server."""

    def __init__(
        self,
        threads: int | None = None,
        archive: Archive | None = None,
        weights: str = DEFAULT_WEIGHTS,
    ) -> None:
        """Share what is known already; ``threads``: of one search at most, None: all."""
        self.weights = weights
        self.threads = threads or os.cpu_count() or 1
        self.archive = archive or Archive()
        self._desks: list[Desk] = []
        self._guard = threading.Lock()

    def open(self) -> Desk:
        """Return a new desk."""
        desk = Desk(self)
        with self._guard:
            self._desks.append(desk)
        return desk

    def forget(self, desk: Desk) -> None:
        """Take a desk that is closed off the list."""
        with self._guard:
            if desk in self._desks:
                self._desks.remove(desk)

    def __iter__(self) -> Iterator[Desk]:
        """Yield those that are open."""
        return iter(list(self._desks))

    def close(self) -> None:
        """Close all of them, and wait until they are."""
        for desk in self:
            desk.close()


class Desk:
    """One tab's engine and solver, used by one thread at a time."""

    def __init__(self, desks: Desks) -> None:
        """Begin with an empty desk."""
        self._desks = desks
        self.archive = desks.archive
        self.known: dict[Position, Tree] = {}  # proofs that only the main search has found
        self.looking = threading.Lock()  # at the board, on which at_once operations build positions
        self._board: Game | None = None
        self._engine: Engine | None = None
        self._solver: Solver | None = None
        self._memory = 0
        self._jobs: deque[Job] = deque()
        self._current: Job | None = None
        self._guard = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None  # the last one that worked
        self._is_working = False
        self._pause: threading.Timer | None = None

    # For the server's thread -------------------------------------------------------

    @property
    def has_engine(self) -> bool:
        """Whether it holds memory."""
        return self._engine is not None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self._current is None and not self._jobs

    def submit(self, job: Job) -> None:
        """Do a job after those that were submitted before; an endless one ends."""
        with self._guard:
            if self._closed:
                return
            for before in [self._current, *self._jobs]:
                if before is not None and before.endless:
                    self._stop(before)
            self._jobs.append(job)
            if self._pause is not None:
                self._pause.cancel()
            is_first, self._is_working = not self._is_working, True
        if is_first:
            (self._thread,) = start_deep([self._work])

    def stop(self, *jobs: Job) -> None:
        """Make jobs end soon, whether they run or wait; without any, all of them."""
        with self._guard:
            for job in jobs or [self._current, *self._jobs]:
                if job is not None:
                    self._stop(job)

    def _stop(self, job: Job) -> None:
        job.is_stopped = True
        if self._current is job and self._engine is not None:
            self._engine.stop()
        if self._current is job and self._solver is not None:
            self._solver.stop()

    def close(self, wait: float = 5.0) -> None:
        """End everything and give the memory back."""
        self.stop()
        with self._guard:
            self._closed = True
            if self._pause is not None:
                self._pause.cancel()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(wait)
        self.rest(only_idle=True)
        self._desks.forget(self)

    def board(self, setup: GameRecord) -> Game:
        """Return a position on the desk's board, for whoever is ``looking``; see ``game_of``."""
        self._board = game_of(setup, self._board)
        return self._board

    # For the desk's own thread -----------------------------------------------------

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job.work(job)
        if self._closed:
            self.rest()

    def _next(self) -> Job | None:
        """Return the next job; without one the memory is given back after a while."""
        with self._guard:
            self._current = self._jobs.popleft() if self._jobs else None
            if self._current is not None:
                if self._solver is not None:
                    self._solver.release()
                if self._engine is not None:
                    self._engine.arm()
                return self._current
            self._is_working = False
            if not self._closed:
                self._pause = threading.Timer(REST_AFTER, self.rest, kwargs={"only_idle": True})
                self._pause.daemon = True
                self._pause.start()
        return None

    def rest(self, only_idle: bool = False) -> None:
        """Give all memory back; ``only_idle``: unless there is work again."""
        with self._guard:
            if only_idle and self._is_working:
                return
            engine, self._engine = self._engine, None
            solver, self._solver = self._solver, None
        if engine is not None:
            engine.close()
        if solver is not None:
            solver.close()

    def engine(
        self,
        setup: GameRecord,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
        search: str = ALPHABETA,
        fresh: bool = False,
    ) -> Engine:
        """Return the engine with a position on its board; ``memory`` in megabytes.

        ``fresh``: it has forgotten all earlier searches, so that its nodes can be compared.

        Raises:
            NotationError: the position cannot come about in a game.
            Stopped: the job was stopped.
        """
        if self._engine is not None and self._engine.search != search:
            with self._guard:
                other, self._engine = self._engine, None
            other.close()
        threads = min(threads, self._desks.threads)
        if self._engine is None:
            weights = self._desks.weights
            made = Engine(memory=memory * MEGABYTE, threads=threads, search=search, weights=weights)
            with self._guard:
                self._engine, self._memory = made, memory
        engine = self._engine
        if memory != self._memory:
            engine.set_memory(memory * MEGABYTE)
            self._memory = memory
        engine.set_threads(threads)
        game = engine.game
        if (game.width, game.height, game.rule) != setup.board:
            engine.new_game(*setup.board)
        if fresh:
            engine.clear_hash()
        build_checked(engine.game, setup)
        engine.arm()  # before the question whether the job was stopped, so that no stop gets lost
        if self._current is not None:
            self._current.check()
        return engine

    def solver(self) -> Solver:
        """Return the solver."""
        if self._solver is None:
            made = Solver(SOLVER_MEMORY)
            with self._guard:
                self._solver = made
        return self._solver


# Questions of a page --------------------------------------------------------------------

MOST_WAITING = 64

Answer = dict[str, Any]


class Questions:
    """What a page has asked its desk; whoever carries the messages says how answers go back.

    ``post_event`` and ``finish`` are called in the desk's thread.
    """

    def __init__(self, desks: Desks) -> None:
        """Begin without any question."""
        self.desk = desks.open()
        self._jobs: dict[object, Job] = {}

    def post(self, answer: Answer) -> None:
        """Send an answer to the page."""
        raise NotImplementedError

    def post_event(self, name: object, event: Answer) -> None:
        """Send what is known so far to a question."""
        raise NotImplementedError

    def finish(self, name: object, answer: Answer) -> None:
        """Send the answer to a question that the desk has worked on."""
        self._jobs.pop(name, None)
        self.post(answer)

    def look_up(self, name: object, operation: Operation, job: Job) -> None:
        """Answer a question that needs no engine."""
        self.post({"id": name, **answer_of(operation, self.desk, job)})

    def take(self, text: str) -> None:
        """Begin to answer a message; what is wrong with it is an answer, too."""
        name: object = None
        try:
            message = parse(text)
            name = scalar(message, "id")
            if len(text) > MOST_CHARACTERS:
                raise Refused("the message is too large")
            self.begin(name, message)
        except Refused as refused:
            self.post({"id": name, "error": refused.reason})
        except Exception as error:  # the page is served on, whatever it is
            self.post({"id": name, "error": report_unexpected(error).reason})

    def begin(self, name: object, message: Mapping[str, Any]) -> None:
        """Begin to answer a question; raises Refused."""
        if message.get("do") == "stop":
            target = scalar(message, "target")
            if target is None:
                self.desk.stop()
            elif target in self._jobs:  # else it has ended meanwhile
                self.desk.stop(self._jobs[target])
            self.post({"id": name, "result": {}})
            return
        operation = operation_of(message.get("do"))
        fields, tell = operation.read(message), partial(self.post_event, name)
        job = Job(partial(self._work, name, operation), fields, tell, operation.endless)
        if operation.at_once:
            self.look_up(name, operation, job)
            return
        if len(self._jobs) >= MOST_WAITING:
            raise Refused("too many questions at once")
        self._jobs[name] = job
        self.desk.submit(job)

    def _work(self, name: object, operation: Operation, job: Job) -> None:
        self.finish(name, {"id": name, **answer_of(operation, self.desk, job)})


def scalar(message: Mapping[str, Any], name: str) -> object:
    """Return a field that names a question; raises Refused."""
    value: object = message.get(name)
    if isinstance(value, dict | list):
        raise Refused(f"the {name} is neither a number nor a text")
    return value


def answer_of(operation: Operation, desk: Desk, job: Job) -> Answer:
    """Do an operation; return its result, or what went wrong."""
    try:
        job.check()
        return {"result": operation.do(desk, job)}
    except Stopped:
        return {"error": "stopped", "stopped": True}
    except MemoryError:
        return {"error": "there is not enough memory for this; ask for fewer megabytes"}
    except (EngineError, NotationError) as error:
        return {"error": str(error), "status": BAD_REQUEST}
    except Exception as error:  # the server lives on, whatever it is
        refused = error if isinstance(error, Refused) else report_unexpected(error)
        return {"error": refused.reason, "status": refused.status}
