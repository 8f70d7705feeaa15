"""A desk: engine and solver of one tab, the thread that works with them, and the questions.

Jobs run one after the other, in a thread that ends when there are no more; after a while without
work the memory is freed. What needs no engine is answered at once, while jobs run.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import cache, partial
from math import isfinite, prod
from time import monotonic
from typing import Any, TypeAlias

from ..engine.engine import DEFAULT_WEIGHTS, Engine
from ..errors import Refused
from ..eval.weights import load_weights
from ..files import Document, Json
from ..game.documents import read_setup
from ..game.game import Game
from ..game.position import Position
from ..game.record import GameRecord
from ..game.result import Tree
from ..options import MEGABYTE
from ..position.rules import Rule
from ..solver import Solver
from ..threads import start_deep
from ..values import scale_at
from .archive import Archive
from .messages import MOST_CHARACTERS, Operation, error_document, operation_of, parse, refusal_of

DEFAULT_MEMORY = 350  # megabytes, as on the command line
REST_AFTER = 60.0  # seconds without work after which the memory is given back


@cache
def scale_of(weights: str, rule: Rule) -> float:
    """Return the scale of weights under a rule."""
    return load_weights(weights).scale(rule)


@dataclass(eq=False)
class Job:
    """Something to do with the checked fields of a message, which can be stopped.

    ``tell`` takes what is known so far, for the page. An ``endless`` job makes room for whatever
    comes after it.
    """

    work: Callable[[Job], None]
    fields: dict[str, Any] = field(default_factory=dict)
    tell: Callable[[Document], None] = lambda event: None
    endless: bool = False
    is_stopped: bool = False

    @property
    def setup(self) -> GameRecord:
        """The position that is asked about."""
        return read_setup(self.fields["position"])

    def check(self) -> None:
        """Raise CancelledError if the job was stopped."""
        if self.is_stopped:
            raise CancelledError


class Desks:
    """The desks of a server that are open."""

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
        self.last_closed = monotonic()  # when a desk was, or the start
        self._open: set[Desk] = set()

    def open(self) -> Desk:
        """Return a new desk."""
        desk = Desk(self)
        self._open.add(desk)
        return desk

    def forget(self, desk: Desk) -> None:
        """Take a desk that is closed off the list."""
        self._open.discard(desk)
        self.last_closed = monotonic()

    def __iter__(self) -> Iterator[Desk]:
        return iter(list(self._open))

    def close(self) -> None:
        """Close all of them, and wait until they are."""
        for desk in self:
            desk.close()


class Desk:
    """One tab's engine and solver, used by one thread at a time."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks
        self.archive = desks.archive
        self.known: dict[Position, Tree] = {}  # proofs that only the main search has found
        self.looking = threading.Lock()  # at the board
        self.board: Game | None = None  # on which positions are put that are only looked at
        self._engine: Engine | None = None
        self._solver: Solver | None = None
        self.jobs: deque[Job] = deque()  # the first of them is being done
        self._guard = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None  # the last one that worked
        self._pause: threading.Timer | None = None

    # For the server's thread -------------------------------------------------------

    @property
    def has_engine(self) -> bool:
        """Whether it holds memory."""
        return self._engine is not None

    def submit(self, job: Job) -> None:
        """Do a job after those that were submitted before; an endless one ends."""
        with self._guard:
            if self._closed:
                return
            for before in self.jobs:
                if before.endless:
                    self._stop(before)
            self.jobs.append(job)
            if self._pause is not None:
                self._pause.cancel()
            if len(self.jobs) > 1:
                return
        (self._thread,) = start_deep([self._work])

    def stop(self, *jobs: Job) -> None:
        """Make jobs end soon, whether they run or wait; without any, all of them."""
        with self._guard:
            for job in jobs or self.jobs:
                self._stop(job)

    def _stop(self, job: Job) -> None:
        job.is_stopped = True
        if self.jobs and self.jobs[0] is job:
            for tool in (self._engine, self._solver):
                if tool is not None:
                    tool.stop()

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
        self.rest()
        self._desks.forget(self)

    # For the desk's own thread -----------------------------------------------------

    def _work(self) -> None:
        """Do what there is; then the memory is given back, after a while unless it is closed."""
        is_more = True
        while is_more:
            with self._guard:
                if self._solver is not None:
                    self._solver.release()
                if self._engine is not None:
                    self._engine.arm()
                job = self.jobs[0]
            job.work(job)
            with self._guard:
                self.jobs.popleft()
                is_more = bool(self.jobs)
                if not is_more and not self._closed:
                    self._pause = threading.Timer(REST_AFTER, self.rest)
                    self._pause.daemon = True
                    self._pause.start()
        if self._closed:
            self.rest()

    def rest(self) -> None:
        """Give all memory back, unless there is work again."""
        with self._guard:
            if self.jobs:
                return
            tools = self._engine, self._solver
            self._engine = self._solver = None
        for tool in tools:
            if tool is not None:
                tool.close()

    def engine(
        self,
        setup: GameRecord,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
        fresh: bool = False,
    ) -> Engine:
        """Return the engine with a position on its board; ``memory`` in megabytes.

        ``fresh``: it has forgotten all earlier searches, so that its nodes can be compared.

        Raises:
            NotationError: the position cannot arise in a game.
            CancelledError: the job was stopped.
        """
        engine = self._engine = self._engine or Engine(weights=self._desks.weights)
        engine.set_memory(memory * MEGABYTE)
        engine.set_threads(min(threads, self._desks.threads))
        game = engine.game
        if (game.width, game.height, game.rule) != setup.board:
            engine.new_game(*setup.board)
        if fresh:
            engine.clear_hash()
        engine.game.become_checked(setup)
        engine.arm()  # before the question whether the job was stopped, so that no stop gets lost
        if self.jobs:
            self.jobs[0].check()
        return engine

    def scale(self, setup: GameRecord) -> float:
        """Return the units of a value that are one logistic unit of chance in a position."""
        *size, rule = setup.board
        stones = len(setup.placed) + len(setup.moves)
        return scale_at(scale_of(self._desks.weights, rule), stones, prod(size))

    def solver(self) -> Solver:
        """Return the solver."""
        self._solver = self._solver or Solver()
        return self._solver


# Questions of a page --------------------------------------------------------------------

MOST_WAITING = 64
EVENT_GAP = 0.1  # seconds between two events of a search

Answer: TypeAlias = Document


class Questions:
    """What a page has asked its desk; the transport says how answers go back."""

    def __init__(self, desks: Desks) -> None:
        self.desk = desks.open()
        self._jobs: dict[object, Job] = {}

    def post(self, answer: Answer) -> None:
        """Send an answer to the page, or an event on the way to it; called in any thread."""
        raise NotImplementedError

    def look_up(self, job: Job) -> None:
        """Do what needs no engine."""
        job.work(job)

    def take(self, text: str) -> None:
        """Begin to answer a message; what is wrong with it is an answer, too."""
        name: Json = None
        try:
            message = parse(text)
            name = scalar(message, "id")
            if len(text) > MOST_CHARACTERS:
                raise Refused("the message is too large")
            self.begin(name, message)
        except Exception as error:  # the page is served on, whatever it is
            self.post({"id": name, **error_document(error)})

    def begin(self, name: Json, message: Document) -> None:
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
        job = Job(
            partial(self._work, name, operation),
            operation.read(message),
            lambda event: self.post({"id": name, "event": event}),
            operation.endless,
        )
        if operation.at_once:
            self.look_up(job)
            return
        if len(self._jobs) >= MOST_WAITING:
            raise Refused("too many questions at once").coded("busy")
        self._jobs[name] = job
        self.desk.submit(job)

    def _work(self, name: Json, operation: Operation, job: Job) -> None:
        answer = answer_of(operation, self.desk, job)
        self._jobs.pop(name, None)
        self.post({"id": name, **answer})


def scalar(message: Document, name: str) -> Json:
    """Return a field that names a question; raises Refused."""
    value = message.get(name)
    if isinstance(value, dict | list) or (isinstance(value, float) and not isfinite(value)):
        raise Refused(f"the {name} is neither a number nor a text")
    return value


def answer_of(operation: Operation, desk: Desk, job: Job) -> Answer:
    """Do an operation; return its result, or what went wrong."""
    try:
        job.check()
        return {"result": operation.do(desk, job)}
    except CancelledError:
        return {"error": "stopped", "stopped": True}
    except Exception as error:  # the server lives on, whatever it is
        refused = refusal_of(error)
        return {**error_document(refused), "status": refused.status}
