"""What the engine asks of a way to search: memory of some size, then one search after the other.

``AlphaBeta`` and ``MonteCarlo`` are the two that there are. They get the same questions, keep
the same promises about time, memory and stopping, and answer with the same thoughts. ``Tables``
decides how large what they remember is, and until when it is kept, a ``Crew`` runs their threads.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

from ..game.game import Game, Move, Snapshot
from ..native.load.library import Library
from ..native.load.memory import DEFAULT_MEMORY, Block, footprint
from ..solver.solver import Proof, Solver
from ..values import win_in
from .adviser import Tactics
from .pacing import Pace
from .thought import Limit, Listener, Thought

STACK_BYTES = 16 << 20
# One for the whole process, and so for all crews; where a thread is a call, one starts in another.
_stack_size = threading.RLock()
_here = threading.local()  # whether the thread has a deep stack


class Crew:
    """A leader and its helpers, on threads with a deep stack, none of which outlives the call.

    Not by ``Thread.join``: when an interrupt hits it, it takes a running thread for one that
    has ended, and the memory would be unmapped under a search.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        """Make a crew; ``stop`` lets its tasks end soon."""
        self._stop = stop
        self._changed = threading.Condition()
        self._running = 0
        self._ended = 0
        self._dismissed = False  # a thread that comes to life now must not begin
        self._error: BaseException | None = None

    def run(self, leader: Callable[[], None], *helpers: Callable[[], None]) -> None:
        """Run each task in a thread, and stop the helpers when the leader has ended.

        It leads on this thread if that has a deep stack, which no interrupt reaches. Returns when
        none runs any more; then an interrupt, or what the leader has raised, is raised again.
        """
        is_here = getattr(_here, "is_deep", False)
        if is_here and not helpers:
            leader()
            return
        works = [
            partial(self._work, leader, True),
            *(partial(self._work, h, False) for h in helpers),
        ]
        try:
            start_deep(works[is_here:])
            if is_here:
                works[0]()
            with self._changed:
                self._changed.wait_for(lambda: self._ended == len(works))
        except BaseException:
            self._dismiss()
            raise
        if self._error is not None:
            raise self._error

    def _work(self, task: Callable[[], None], leads: bool) -> None:
        with self._changed:
            if self._dismissed:
                return
            self._running += 1
        try:
            task()
        except BaseException as error:
            if not leads:
                raise
            self._error = error
        finally:
            if leads:
                self._stop()
            with self._changed:
                self._running -= 1
                self._ended += 1
                self._changed.notify_all()

    def _dismiss(self) -> None:
        """Stop the tasks and wait, through any number of interrupts."""
        waiting = True
        while waiting:
            try:
                self._stop()
                with self._changed:
                    self._dismissed = True
                    self._changed.wait_for(lambda: self._running == 0)
                waiting = False
            except KeyboardInterrupt:
                pass


def start_deep(works: Sequence[Callable[[], None]]) -> list[threading.Thread]:
    """Start a thread with a deep stack for each work, as searches need them."""

    def run(work: Callable[[], None]) -> None:
        _here.is_deep = True
        work()

    threads = []
    with _stack_size:
        before = threading.stack_size(STACK_BYTES)
        try:
            for work in works:
                threads.append(threading.Thread(target=run, args=(work,), daemon=True))
                threads[-1].start()
        finally:
            threading.stack_size(before)
    return threads


LARGEST, LEAST = 3 << 29, 1 << 20  # bytes of all tables
MOST_FOR_SOLVER = 16 << 20  # bytes of the tables of the threat searches
SOLVER_PART = 8  # one part in this many of the memory for tables goes to them
PATIENT = 2.0  # seconds of a first search from which the tables get large pages
RESERVE = 8 << 20  # for thread stacks, and what Python still allocates after the table


class Question(NamedTuple):
    """What one think is about.

    ``start``: when it began, by ``perf_counter``; ``adviser``: who knows of forced wins;
    ``exclude``: cells not to be played unless nothing else is left; ``multipv``: how many
    best moves are asked for. With one, of root moves that are alike by symmetry only one
    is searched.
    """

    game: Game
    limit: Limit
    start: float
    adviser: Tactics | None = None
    exclude: tuple[Move, ...] = ()
    multipv: int = 1
    board: Snapshot | None = None  # the position, for its thoughts


class Search(ABC):
    """One search that is ready to run."""

    def __init__(self, library: Library, question: Question) -> None:
        """Search for an answer."""
        self.library = library
        self.question = question
        self._best: Thought | None = None
        self._helpers: list[Callable[[], None]] = []  # what further threads do until stopped

    def run(
        self, pace: Pace, listener: Listener | None, stop: Callable[[], None]
    ) -> Thought | None:
        """Search until the limit; return the best thought, None if there was no time for any.

        ``stop`` makes all threads return, from any thread.
        """
        try:
            pace.begin(stop)
            Crew(stop).run(partial(self._lead, pace, listener), *self._helpers)
        finally:
            pace.end()
        return self._best

    @abstractmethod
    def _lead(self, pace: Pace, listener: Listener | None) -> None:
        """Search until the limit, the listener or the position says that it is enough."""

    @abstractmethod
    def _effort(self) -> tuple[int, int]:
        """Return the positions and the visits to a tree of all threads so far."""

    def _thought(
        self, value: int, depth: int, seldepth: int, pv: tuple[Move, ...], rank: int = 1,
        changes: int = 0, proof: str = "",
    ) -> Thought:  # fmt: skip
        """Make a thought of a line."""
        nodes, visits = self._effort()
        question = self.question
        return Thought(
            pv[0], value, depth, seldepth, nodes, perf_counter() - question.start, pv, rank,
            changes, proof, scale=question.game.scale, visits=visits, board=question.board,
        )  # fmt: skip

    def thought_of(self, win: Proof, depth: int = 1) -> Thought:
        """Make a thought of a proven win."""
        value = win_in(2 * win.length - 1)
        return self._thought(value, depth, len(win.line), win.line, proof=win.claim)

    def has_won(self, adviser: Tactics, listener: Listener | None) -> bool:
        """Return whether a win is found before the search begins, which is then its thought."""
        win = adviser.first_win()
        if win is None:
            return False
        self._best = self.thought_of(win)
        if listener:
            listener(self._best)
        return True


class Searcher(ABC):
    """A way to search, with the memory that lasts from one search to the next."""

    def __init__(self, library: Library, kind: str, defaults: Mapping[str, int]) -> None:
        """Begin without memory, which the kernel calls so, with parameters at their defaults."""
        self._library = library
        self._set, self._halt = (getattr(library, f"{kind}_{it}") for it in ("parameter", "stop"))
        self._parameters = dict(defaults)
        self._memory: Block | None = None  # that has the parameters and the stop flag in it

    def set_parameter(self, name: str, value: int) -> None:
        """Take a search parameter over; one that is not its own is passed over."""
        if name in self._parameters:
            self._parameters[name] = value
            if self._memory is not None:
                self._set(self._memory.address, list(self._parameters).index(name), value)

    def halt(self, raised: bool) -> None:
        """Raise the flag at which a running search returns, or lower it."""
        if self._memory is not None:
            self._halt(self._memory.address, raised)

    def _adopt(self, memory: Block) -> None:
        """Go on with this memory, which the kernel has set up."""
        for number, value in enumerate(self._parameters.values()):
            self._set(memory.address, number, value)
        self._memory = memory

    @property
    @abstractmethod
    def game_memory(self) -> Block:
        """Where the engine's game has to live."""

    @property
    @abstractmethod
    def table_bytes(self) -> int:
        """The bytes of what it remembers, 0 while it has no memory for that."""

    @abstractmethod
    def beside(self, threads: int) -> int:
        """Return the bytes that this many threads will take beside what they remember."""

    @abstractmethod
    def enough(self, seconds: float, threads: int) -> int:
        """Return how many bytes are of use where searches take so long."""

    @abstractmethod
    def forget_game(self) -> None:
        """Forget what was about the game played so far."""

    @abstractmethod
    def prepare(self, length: int, patient: bool) -> None:
        """Take about ``length`` bytes to remember things in, unless it has them already.

        ``patient``: there is time to clear large pages at their first touch.
        """

    @abstractmethod
    def clear(self) -> None:
        """Give that memory back, and forget everything with it."""

    @abstractmethod
    def begin(self, question: Question, threads: int) -> Search:
        """Set a search up on the memory that was prepared."""


class Tables:
    """The tables of a searcher and the solver beside it, which are there from the first search on.

    ``memory``: bytes of the whole process, DEFAULT_MEMORY where nothing is said about either;
    ``hash_size``: bytes of the tables within that, however short the searches are; ``threads``:
    of a search. A change counts from the next search on.
    """

    def __init__(
        self,
        searcher: Searcher,
        library: Library,
        memory: int | None,
        hash_size: int | None,
        threads: int,
    ) -> None:
        """Begin without any table."""
        self.memory = memory
        self.hash_size = hash_size
        self.threads = threads
        self.solver: Solver | None = None
        self.is_stopped = False
        self._searcher = searcher
        self._library = library
        self._request: tuple[int | None, int | None, int] = (0, None, 0)
        self._enough = LARGEST  # for searches as long as those that the tables were made for
        self._guard = threading.Lock()  # stop() writes to memory that may be replaced

    def prepare(self, limit: Limit) -> None:
        """Make sure that the searcher has memory of the size that settings and limit ask for.

        It grows, and what it holds is lost, where searches are twice as long as before.
        """
        request = (self.memory, self.hash_size, self.threads)
        seconds = limit.time if limit.optimum is None else limit.optimum
        enough = LARGEST
        if self.hash_size is None and seconds is not None:
            enough = min(self._searcher.enough(seconds, self.threads), LARGEST)
        if self.solver is not None and (request != self._request or enough >= 2 * self._enough):
            self.drop()
        if self.solver is None:
            self._request, self._enough = request, enough
            wanted = self._wanted(enough)
            patient = limit.time is None or limit.time >= PATIENT
            for_solver = min(wanted // SOLVER_PART, MOST_FOR_SOLVER)
            self._searcher.prepare(wanted - for_solver, patient)
            self.solver = Solver(for_solver, self._library)

    def drop(self) -> None:
        """Give the memory of the searcher and the solver back."""
        with self._guard:
            solver, self.solver = self.solver, None
            self._searcher.clear()
        if solver is not None:
            solver.close()

    def stop(self) -> None:
        """Make running searches return; from any thread."""
        self.is_stopped = True
        with self._guard:
            self._searcher.halt(True)
            if self.solver is not None:
                self.solver.stop()

    def release(self) -> None:
        """Make searches free to run again."""
        self.is_stopped = False
        self._searcher.halt(False)
        if self.solver is not None:
            self.solver.release()

    def _wanted(self, enough: int) -> int:
        """Return the size of all tables: what is of use, where the memory limit leaves as much."""
        wanted, memory = self.hash_size, self.memory
        if wanted is None:
            wanted, memory = enough, DEFAULT_MEMORY if memory is None else memory
        if memory is not None:
            beside = self._searcher.beside(self.threads)
            wanted = min(wanted, (memory - footprint() - beside - RESERVE) * 15 // 16)
        return max(LEAST, min(wanted, LARGEST))
