"""A desk: the engine and the solver of one tab, and the thread that works with them.

The jobs of a desk are done one after the other. A desk without work gives its memory back;
its engine is there again with the next job.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from time import monotonic

from ..commands.setup import Setup, build
from ..engine.crew import start_deep
from ..engine.engine import ALPHABETA, DEFAULT_WEIGHTS, Engine
from ..engine.foresight import Place
from ..solver.proofs import Tree
from ..solver.solver import Solver
from .archive import Archive
from .turns import Turns

MEGABYTE = 1_000_000
DEFAULT_MEMORY = 350  # megabytes, as on the command line
SOLVER_MEMORY = 64_000_000
REST_AFTER = 60.0  # seconds without work after which the memory is given back
MOST_AT_WORK = 4  # desks that hold memory at the same time; the least used one rests


class Job:
    """Something to do, which can be stopped."""

    def __init__(self, work: Callable[[Job], None], endless: bool = False) -> None:
        """Take what to do; an ``endless`` job makes room for whatever comes after it."""
        self.work = work
        self.endless = endless
        self.is_stopped = False


class Desks:
    """All desks of a server."""

    def __init__(
        self,
        threads: int | None = None,
        archive: Archive | None = None,
        weights: str = DEFAULT_WEIGHTS,
    ) -> None:
        """Share so many threads between them, and what is known already."""
        self.weights = weights
        self.turns = Turns(threads)
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

    def make_room(self, wanting: Desk) -> None:
        """Let those rest that hold memory and have been idle for longest."""
        with self._guard:
            holding = [d for d in self._desks if d.has_engine and d is not wanting and d.is_idle]
        holding.sort(key=lambda desk: desk.used)
        for desk in holding[: max(0, len(holding) + 1 - MOST_AT_WORK)]:
            desk.submit(Job(lambda job, desk=desk: desk.rest()))  # type: ignore[misc]

    def close(self) -> None:
        """Close all of them, and wait until they are."""
        for desk in list(self._desks):
            desk.close()


class Desk:
    """One tab's engine and solver; made, used and closed in a thread of its own."""

    def __init__(self, desks: Desks) -> None:
        """Begin with an empty desk."""
        self._desks = desks
        self.turns = desks.turns
        self.archive = desks.archive
        self.known: dict[Place, Tree] = {}  # proofs that only the main search has found
        self.used = monotonic()
        self._engine: Engine | None = None
        self._solver: Solver | None = None
        self._memory = 0
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._current: Job | None = None
        self._guard = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None

    # For the server's thread -------------------------------------------------------

    @property
    def has_engine(self) -> bool:
        """Whether it holds memory."""
        return self._engine is not None

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return self._current is None and self._jobs.empty()

    def submit(self, job: Job) -> None:
        """Do a job after those that were submitted before; an endless one ends."""
        with self._guard:
            if self._closed:
                return
            if self._thread is None:
                (self._thread,) = start_deep([self._work])
            current = self._current
            for waiting in list(self._jobs.queue):
                if waiting is not None and waiting.endless:
                    waiting.is_stopped = True
            self._jobs.put(job)
        if current is not None and current.endless:
            self.stop(current)

    def stop(self, job: Job) -> None:
        """Make a job end soon, whether it runs or waits."""
        job.is_stopped = True
        with self._guard:
            if self._current is job:
                self._interrupt()

    def stop_all(self) -> None:
        """Make all jobs end soon."""
        with self._guard:
            for job in [self._current, *self._jobs.queue]:
                if job is not None:
                    job.is_stopped = True
            self._interrupt()

    def close(self, wait: float = 5.0) -> None:
        """End everything and give the memory back."""
        self.stop_all()
        with self._guard:
            self._closed = True
            thread = self._thread
        self._jobs.put(None)
        if thread is not None and thread is not threading.current_thread():
            thread.join(wait)
        self._desks.forget(self)

    def _interrupt(self) -> None:
        if self._engine is not None:
            self._engine.stop()
        if self._solver is not None:
            self._solver.stop()

    def give_way(self) -> None:
        """Interrupt the search, not the job."""
        with self._guard:
            if self._engine is not None:
                self._engine.stop()

    # For the desk's own thread -----------------------------------------------------

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=REST_AFTER)
            except queue.Empty:
                self.rest()
                continue
            if job is None:
                break
            with self._guard:
                self._current = job
                if self._solver is not None:
                    self._solver.release()
                if self._engine is not None:
                    self._engine.arm()
            try:
                job.work(job)
            finally:
                with self._guard:
                    self._current = None
                self.used = monotonic()
        self.rest()

    def rest(self) -> None:
        """Give all memory back."""
        with self._guard:
            engine, self._engine = self._engine, None
            solver, self._solver = self._solver, None
            self._memory = 0
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
        """
        if self._engine is not None and self._engine.search != search:
            with self._guard:
                other, self._engine = self._engine, None
            other.close()
        if self._engine is None:
            self._desks.make_room(self)
            made = Engine(
                memory=memory * MEGABYTE,
                threads=threads,
                search=search,
                weights=self._desks.weights,
            )
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
        build(engine, setup)
        return engine

    def solver(self) -> Solver:
        """Return the solver."""
        if self._solver is None:
            made = Solver(SOLVER_MEMORY)
            with self._guard:
                self._solver = made
        return self._solver
