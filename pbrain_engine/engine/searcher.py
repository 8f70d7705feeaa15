"""Ways to search: memory of some size, then one search after the other.

``AlphaBeta`` and ``MonteCarlo`` are the two that there are. They get the same questions, keep
the same promises about time, memory and stopping, and answer with the same thoughts. A ``Crew``
runs their threads, and ``Tactics`` asks the solver for forced wins meanwhile.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from ..game.diagram import Diagram
from ..game.game import Game, Move
from ..game.result import Result
from ..native.load.library import Library
from ..native.load.memory import DEFAULT_MEMORY, Block, footprint
from ..search.parameters import PARAMETERS
from ..solver.solver import Solver
from ..values import win_in
from .pacing import Pace
from .thought import Limit, Listener, Thought

STACK_BYTES = 16 << 20
POLL_SECONDS = 0.2  # on Windows a wait without a limit does not hear an interrupt
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

        It leads on this thread if that has a deep stack, which no interrupt reaches. An interrupt
        stops all. Returns when none runs any more, through any number of further interrupts; then
        the first, or what the leader has raised, is raised again.
        """
        is_here = getattr(_here, "is_deep", False)
        end = self._stop if helpers else lambda: None
        works = [partial(self._work, leader, end), *(partial(self._work, h) for h in helpers)]
        try:
            start_deep(works[is_here:])
            if is_here:
                works[0]()
            with self._changed:
                wait_for(self._changed, lambda: self._ended == len(works))
        except BaseException:
            self._dismiss()
            raise
        if self._error is not None:
            raise self._error

    def _work(self, task: Callable[[], None], end: Callable[[], None] | None = None) -> None:
        """Do a task; ``end``: what the leader does in the end."""
        with self._changed:
            if self._dismissed:
                return
            self._running += 1
        try:
            task()
        except BaseException as error:
            if end is None:
                raise
            self._error = error
        finally:
            if end is not None:
                end()
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
                    wait_for(self._changed, lambda: self._running == 0)
                waiting = False
            except KeyboardInterrupt:
                pass


def wait_for(changed: threading.Condition, is_reached: Callable[[], bool]) -> None:
    """Wait until a condition is reached, open to interrupts."""
    while not changed.wait_for(is_reached, POLL_SECONDS):
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


FOURS_NODES = 20_000  # stones for the win by fours before the main search begins
THREES_NODES = 2_000  # and for the win by threats
RESCUE_NODES = 20_000  # for what stops the enemy's fours
FOURS_PERCENT = 100  # stones for each hundred nodes while a win by fours is open: it is rare
LEAST_NODES = 1_000  # what is not worth beginning


class Tactics:
    """Forced wins while the engine thinks: its own, and the enemy's after the move it prefers.

    All is counted in nodes, so that a search limited by depth or nodes stays the same on every
    machine: the solver may put a share of a stone on the board for each node of the main search.
    """

    def __init__(self, solver: Solver, game: Game, percent: int, hot: int) -> None:
        """Serve a think about this position with ``percent`` stones for each hundred nodes.

        ``hot``: as many more where a win by fours and threes is open.
        """
        self._solver = solver
        self._game = game
        self._percent = percent
        self._hot = hot
        self._spent = 0  # stones of the share
        self._sought = 0  # and of those more, for the win
        self._fours_open = True  # it is not known whether there is a win by fours
        self._hopeless = False  # there is no win by threats here
        self._is_hot = True  # fours and threes alone may win
        self._tried: dict[Move, int] = {}  # move -> stones spent on refuting it

    def losing_moves(self) -> tuple[Move, ...]:
        """Return the moves that lose to the enemy's fours, if there is any that does not."""
        if not self._solver.threatens_fours(self._game, nodes=RESCUE_NODES):
            return ()
        rescue = self._solver.rescues(self._game, nodes=RESCUE_NODES)
        keep = {*rescue.moves, *rescue.unknown}
        if not rescue.length or not keep:
            return ()
        return tuple(move for move in self._game.legal_moves() if move not in keep)

    def win(self, nodes: int) -> Result | None:
        """Return a win, or None; ``nodes``: of the main search so far.

        Where even the fours are not settled they come first.
        """
        if self._hopeless:
            return None
        budget = max(nodes * self._percent // 100 - self._spent, 0) // 2
        eagerness = max(  # stones more for each hundred nodes, where a win is likelier
            self._hot if self._is_hot else 0, FOURS_PERCENT if self._fours_open else 0
        )
        more = max(nodes * eagerness // 100 - self._sought, 0)
        if budget + more < LEAST_NODES:
            return None
        self._spent += budget
        self._sought += more
        budget += more
        return (self.fours(budget) if self._fours_open else None) or self.threats(budget)

    def refutes(self, move: Move, nodes: int) -> Result | None:
        """Return the enemy's win by threats after a move, or None."""
        budget = nodes * self._percent // 100 - self._spent
        tried = self._tried.get(move, 0)
        if tried < 0 or budget < max(LEAST_NODES, tried // 2):
            return None
        proof = self._solver.threats(self._game, nodes=budget, after=move)
        self._spent += proof.nodes
        self._tried[move] = tried + budget if proof.is_open else -1
        return proof if proof.wins else None

    def fours(self, nodes: int) -> Result | None:
        """Return a win by fours, or None if this many stones find none."""
        proof = self._solver.fours(self._game, nodes=nodes)
        self._fours_open = proof.is_open
        return proof if proof.wins else None

    def threats(self, nodes: int) -> Result | None:
        """Return a win by threats, or None if this many stones find none."""
        proof = self._solver.threats(self._game, nodes=nodes)
        self._hopeless = not proof.wins and not proof.is_open
        self._is_hot = proof.level == 0
        return proof if proof.wins else None


LARGEST, LEAST = 3 << 29, 1 << 20  # bytes of all tables
MOST_FOR_SOLVER = 16 << 20  # bytes of the tables of the threat searches
SOLVER_PART = 8  # one part in this many of the memory for tables goes to them
PATIENT = 2.0  # seconds of a first search from which the tables get large pages
RESERVE = 8 << 20  # for thread stacks, and what Python still allocates after the table
MAX_LINE = 64  # moves of a line that a thought reports


class Question(NamedTuple):
    """What one think is about.

    ``start``: when it began, by ``perf_counter``; ``exclude``: cells not to be played unless
    nothing else is left; ``multipv``: how many best moves are asked for. With one, of root moves
    that are alike by symmetry only one is searched. ``board``: the position, for its thoughts.
    """

    game: Game
    limit: Limit
    pace: Pace
    start: float
    board: Diagram
    listener: Listener | None = None
    multipv: int = 1
    exclude: Sequence[Move] = ()


class Search(ABC):
    """One search that is ready to run."""

    def __init__(self, memory: Searcher, question: Question, tactics: Tactics | None) -> None:
        """Set a search up; ``tactics``: who knows of forced wins."""
        self.library = memory.library
        self.question = question
        self.tactics = tactics
        self.best: Thought | None = None  # None as long as there was no time for any
        self.helpers: list[Callable[[], None]] = []  # what further threads do until stopped

    @abstractmethod
    def lead(self) -> None:
        """Search until the limit, the listener or the position says that it is enough."""

    def answer(self) -> Thought | None:
        """Return the best of what all threads have found, when none runs any more."""
        return self.best

    @abstractmethod
    def _nodes(self) -> int:
        """Return the positions of all threads so far."""

    def _thought(
        self, value: int, depth: int, seldepth: int, pv: tuple[Move, ...], **more: Any
    ) -> Thought:
        about, seconds = self.question, perf_counter() - self.question.start
        more |= {"scale": about.game.scale, "board": about.board}
        return Thought(value, pv, depth, seldepth, self._nodes(), seconds, **more)

    def thought_of(self, win: Result, depth: int = 1) -> Thought:
        """Make a thought of a proven win."""
        value = win_in(win.plies)
        return self._thought(value, depth, len(win.line), win.line, claim=win.claim)

    def has_won(self, tactics: Tactics) -> bool:
        """Return whether a win is found before the search begins, which is then its thought."""
        win = tactics.fours(FOURS_NODES) or tactics.threats(THREES_NODES)
        if win is None:
            return False
        self.best = self.thought_of(win)
        self.tell([self.best])
        return True

    def tell(self, thoughts: Iterable[Thought]) -> bool:
        """Report the lines of an iteration; return whether the best of them is enough."""
        is_enough = False
        for thought in thoughts:
            enough = self.question.listener(thought) if self.question.listener else False
            is_enough |= bool(enough) and thought.multipv == 1
        return is_enough


class Searcher(ABC):
    """A way to search, with memory that lasts from one search to the next and a solver beside it.

    ``memory``: bytes of the whole process, DEFAULT_MEMORY where nothing is said about either;
    ``hash_size``: bytes of the tables within that, however short the searches are; ``threads``:
    of a search. A change counts from the next search on.
    """

    def __init__(
        self, library: Library, kind: str, names: Iterable[str], search: type[Search]
    ) -> None:
        """Begin without memory, which the kernel calls so, with parameters at their defaults."""
        self.memory: int | None = None
        self.hash_size: int | None = None
        self.threads = 1
        self.is_stopped = False
        self.parameters = {name: p.default for name, p in PARAMETERS.items()}
        self.library = library
        self._names = list(names)  # of its own parameters, in the kernel's order
        self._halt = getattr(library, f"{kind}_stop")
        self.table_bytes = 0  # of what it remembers
        self.game_memory = Block(library.sizes["worker"])  # where the engine's game has to live
        self.blocks: list[Block] = []  # the first has the parameters and the stop flag in it
        self._search = search
        self._solver: Solver | None = None  # from the first search that asks it until the tables go
        self._for_solver = 0  # bytes
        self._request: tuple[int | None, int | None, int] = (0, None, 0)
        self._enough = LARGEST  # for searches as long as those that the tables were made for
        self._guard = threading.Lock()  # stop() writes to memory that may be replaced

    def set_parameter(self, name: str, value: int) -> None:
        """Take a search parameter over."""
        self.parameters[name] = value
        if self.blocks and name in self._names:
            self.library.set_parameter(self.blocks[0].address, self._names.index(name), value)

    def search(self, question: Question) -> Thought | None:
        """Search until the limit; return the best thought, None if there was no time for any."""
        self.prepare(question.limit)
        share, tactics = self.parameters["threat_share"], None
        if share and not question.exclude and question.multipv == 1:
            if self._solver is None:
                self._solver = Solver(self._for_solver, self.library)
            self._solver.release()
            hot = self.parameters["threat_hot"]
            tactics = Tactics(self._solver, question.game, share, hot)
        if self.is_stopped:  # before the memory was there, or the solver released
            self.stop()
        search = self._search(self, question, tactics)
        try:
            question.pace.set_stop(self.stop)
            if getattr(_here, "is_deep", False) and not search.helpers:
                search.lead()
            else:
                Crew(self.stop).run(search.lead, *search.helpers)
        finally:
            question.pace.set_stop(None)
        return search.answer()

    # Memory ------------------------------------------------------------------------

    def prepare(self, limit: Limit) -> None:
        """Make sure that there is memory of the size that settings and limit ask for.

        It grows, and what it holds is lost, where searches are twice as long as before.
        """
        request = (self.memory, self.hash_size, self.threads)
        seconds = limit.time if limit.optimum is None else limit.optimum
        enough = LARGEST
        if self.hash_size is None and seconds is not None:
            enough = min(self._useful(seconds), LARGEST)
        if self.blocks and (request != self._request or enough >= 2 * self._enough):
            self.clear()
        if not self.blocks:
            self._request, self._enough = request, enough
            wanted, memory = self.hash_size, self.memory
            if wanted is None:
                wanted, memory = enough, DEFAULT_MEMORY if memory is None else memory
            if memory is not None:
                left = memory - footprint() - self._beside() - RESERVE
                wanted = min(wanted, left * 15 // 16)
            wanted = max(LEAST, min(wanted, LARGEST))
            self._for_solver = min(wanted // SOLVER_PART, MOST_FOR_SOLVER)
            length = max(wanted - self._for_solver, LEAST)
            is_patient = limit.time is None or limit.time >= PATIENT
            blocks, self.table_bytes = self._take(length, is_patient)
            for number, name in enumerate(self._names):
                self.library.set_parameter(blocks[0].address, number, self.parameters[name])
            self.blocks = blocks

    def clear(self) -> None:
        """Give the memory of the tables and of the solver back, with what they know."""
        with self._guard:
            solver, self._solver = self._solver, None
            for block in self.blocks:
                block.close()
            self.blocks, self.table_bytes = [], 0
        if solver is not None:
            solver.close()

    def stop(self) -> None:
        """Make running searches return; from any thread."""
        self.is_stopped = True
        with self._guard:
            if self.blocks:
                self._halt(self.blocks[0].address, True)
            if self._solver is not None:
                self._solver.stop()

    def release(self) -> None:
        """Make searches free to run again."""
        self.is_stopped = False
        if self.blocks:
            self._halt(self.blocks[0].address, False)

    # What each way has of its own ----------------------------------------------------

    @abstractmethod
    def forget_game(self) -> None:
        """Forget what was about the game played so far."""

    @abstractmethod
    def _useful(self, seconds: float) -> int:
        """Return how many bytes are of use where searches take so long."""

    @abstractmethod
    def _beside(self) -> int:
        """Return the bytes that its threads take beside the tables."""

    @abstractmethod
    def _take(self, length: int, patient: bool) -> tuple[list[Block], int]:
        """Take about ``length`` bytes to remember things in, and what the threads need.

        Returns all blocks, and the bytes of those that remember. ``patient``: there is time to
        clear large pages at their first touch.
        """
