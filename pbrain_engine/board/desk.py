"""A desk: the engine and the solver of one tab, and the thread that works with them.

The jobs of a desk are done one after the other, in a thread that ends when there are no more. A
desk without work gives its memory back; its engine is there again with the next job.

The WebSocket, the addresses under ``/api/`` and their description in OpenAPI are all made of
``OPERATIONS``, which ``questions`` fills. What needs an engine waits at the desk of its tab.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..app.setup import Setup, build_checked
from ..engine.engine import ALPHABETA, DEFAULT_WEIGHTS, Engine
from ..engine.searcher import start_deep
from ..notation.canonical import Position
from ..notation.cells import NotationError
from ..solver.solver import Solver, Tree
from .archive import Archive
from .messages import POSITION, REQUIRED, MessageField, Refused, number

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

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._desks)

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

    @property
    def at_work(self) -> int:
        """How many desks hold an engine."""
        return sum(desk.has_engine for desk in self._desks)

    @property
    def searching(self) -> int:
        """How many desks have something to do."""
        return sum(not desk.is_idle for desk in self._desks)

    def close(self) -> None:
        """Close all of them, and wait until they are."""
        for desk in list(self._desks):
            desk.close()


class Desk:
    """One tab's engine and solver, used by one thread at a time."""

    def __init__(self, desks: Desks) -> None:
        """Begin with an empty desk."""
        self._desks = desks
        self.archive = desks.archive
        self.known: dict[Position, Tree] = {}  # proofs that only the main search has found
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
        setup: Setup,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
        search: str = ALPHABETA,
        fresh: bool = False,
    ) -> Engine:
        """Return the engine with a position on its board; ``memory`` in megabytes.

        ``fresh``: it has forgotten all earlier searches, so that its nodes can be compared.

        Raises:
            Refused: the position cannot come about in a game.
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
        engine.new_game(setup.width, setup.height, setup.rule)
        if fresh:
            engine.clear_hash()
        try:
            build_checked(engine.game, setup)
        except NotationError as error:
            raise Refused(str(error)) from None
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


# What a desk is asked -------------------------------------------------------------------

MOST_SECONDS = 600.0

Do = Callable[[Desk, Job], dict[str, Any]]


@dataclass(frozen=True)
class Operation:
    """A thing that can be asked: by what name, with which fields, and who does it."""

    name: str
    summary: str
    fields: Mapping[str, MessageField]
    do: Do
    at_once: bool = False  # needs no engine
    endless: bool = False  # on a socket it goes on until something else is asked

    def read(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked fields of a message; raises Refused."""
        return {name: one.read(name, message) for name, one in self.fields.items()}

    def schema(self) -> dict[str, Any]:
        """Return the schema of its messages."""
        properties = {}
        for name, one in self.fields.items():
            properties[name] = dict(one.schema)
            if one.default is not REQUIRED and one.default is not None:
                properties[name]["default"] = one.default
        required = [name for name, one in self.fields.items() if one.default is REQUIRED]
        return {"type": "object", "properties": properties, "required": required}


OPERATIONS: dict[str, Operation] = {}
PLACE = MessageField(POSITION)


def operation(
    shared: Mapping[str, MessageField] | None = None,
    *,
    at_once: bool = False,
    endless: bool = False,
    title: str = "",
    **fields: MessageField,
) -> Callable[[Do], Do]:
    """Make an operation of a function, by its name or a title; its docstring is the summary.

    It takes the fields, and those that it shares with others.
    """
    fields |= shared or {}

    def register(do: Do) -> Do:
        name, summary = title or do.__name__, " ".join((do.__doc__ or "").split()).rstrip(".")
        OPERATIONS[name] = Operation(name, summary, fields, do, at_once, endless)
        return do

    return register


def seconds(default: float, about: str = "how long it may take") -> MessageField:
    """Return the field for a time."""
    return number(0.01, MOST_SECONDS, default, about)
