"""One search from its limit to its thought: worker threads, the deadline, the iterations."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Protocol

from .game import Move, move_of
from .native.library import Library
from .position.geometry import cell_of
from .values import INFINITE, WIN, WIN_BAND, mate_distance

MAX_DEPTH = 200
MAX_LINE = 64  # moves of a line that a thought reports
STACK_BYTES = 16 << 20
SURE_DEPTH = 4  # an only move is looked at this deep before it is played
AFTER_MATE = 4  # iterations that may still shorten a forced win


@dataclass(frozen=True, slots=True)
class Limit:
    """When to stop thinking; whatever comes first, and None means no such limit.

    ``time``: seconds after which the move must be there. ``optimum``: seconds after which
    no further iteration is begun. ``nodes``: positions searched by the first thread.
    ``depth``: plies of the last iteration.
    """

    time: float | None = None
    optimum: float | None = None
    nodes: int | None = None
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """What a search found out: its move, the value for the side to move, and the line.

    ``value`` is in the units of ``values.py``; ``depth`` in completed plies, ``seldepth`` the
    deepest ply reached, ``nodes`` those of all threads, ``time`` in seconds, ``changes`` how
    often the best move changed in this iteration, ``multipv`` the rank of the line, 1 for the
    best. ``proof`` names the search that has proven a win: ``vcf`` (by fours), ``vct`` (by
    threats), or empty.
    """

    move: Move | None
    value: int
    depth: int
    seldepth: int
    nodes: int
    time: float
    pv: tuple[Move, ...]
    multipv: int = 1
    changes: int = 0
    proof: str = ""

    @property
    def mate(self) -> int | None:
        """Plies to the forced win, negative to the forced loss, None for an ordinary value."""
        return mate_distance(self.value)


Listener = Callable[[Thought], bool | None]


class Win(Protocol):
    """A proven win for the side to move: how, its line, and the winner's stones."""

    @property
    def claim(self) -> str:
        """Return how: the name of the search."""

    @property
    def line(self) -> tuple[Move, ...]:
        """Return the winner's moves and the longest resistance."""

    @property
    def length(self) -> int:
        """Return the winner's stones up to and with the five."""


class Adviser(Protocol):
    """Who looks for forced wins beside the main search."""

    def first_win(self) -> Win | None:
        """Return a win that is found before the main search begins."""

    def losing_moves(self) -> tuple[Move, ...]:
        """Return moves that are known to lose, if there are others."""

    def win(self, nodes: int) -> Win | None:
        """Return a win found after so many nodes of the main search."""

    def refutes(self, move: Move, nodes: int) -> Win | None:
        """Return the enemy's win after a move, or None."""

    def stop(self) -> None:
        """Return at once from the running search and from later ones."""


class Deadline:
    """A thread that raises the stop flag when the time is over; the time may change meanwhile."""

    def __init__(self, start: float, stop: Callable[[], None]) -> None:
        """Prepare a deadline that is not set yet; ``stop`` raises the flag."""
        self.start = start
        self._hard: float | None = None
        self._optimum: float | None = None
        self._stop = stop
        self._changed = threading.Condition()
        self._over = False
        self._thread: threading.Thread | None = None

    def set(self, hard: float | None, optimum: float | None) -> None:
        """Set new limits, in seconds from the start."""
        with self._changed:
            self._hard = hard
            self._optimum = optimum
            if hard is not None and self._thread is None and not self._over:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self) -> None:
        """Let the thread go."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def is_past_optimum(self) -> bool:
        """Say whether a new iteration is not worth beginning."""
        limits = [limit for limit in (self._hard, self._optimum) if limit is not None]
        return bool(limits) and perf_counter() - self.start >= min(limits)

    def _watch(self) -> None:
        with self._changed:
            while not self._over:
                left = None if self._hard is None else self.start + self._hard - perf_counter()
                if left is not None and left <= 0:
                    self._stop()
                    return
                self._changed.wait(left)


class Crew:
    """Threads with a deep stack, none of which outlives the call that runs them.

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

    def run(self, tasks: Sequence[Callable[[], None]]) -> None:
        """Run each task in a thread; return, or raise an interrupt, when none runs any more."""
        try:
            before = threading.stack_size(STACK_BYTES)
            try:
                for task in tasks:
                    threading.Thread(target=self._work, args=(task,), daemon=True).start()
            finally:
                threading.stack_size(before)
            with self._changed:
                self._changed.wait_for(lambda: self._ended == len(tasks))
        except BaseException:
            self._dismiss()
            raise

    def _work(self, task: Callable[[], None]) -> None:
        with self._changed:
            if self._dismissed:
                return
            self._running += 1
        try:
            task()
        finally:
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


class Search:
    """A search on memory that the engine has set up: one worker a thread, one shared block."""

    def __init__(
        self,
        library: Library,
        workers: Sequence[int],
        tables: int,
        shared: int,
        empty_cells: int,
        start: float,
        adviser: Adviser | None = None,
    ) -> None:
        """Take the addresses of prepared workers, of the tables and of the shared block.

        ``start`` is when the think began, by ``perf_counter``; the ``adviser`` knows of
        forced wins.
        """
        self._library = library
        self._workers = workers
        self._tables = tables
        self._shared = shared
        self._empty_cells = empty_cells
        self._start = start
        self._adviser = adviser
        self._best: Thought | None = None
        self._dropped: set[Move] = set()
        self._error: BaseException | None = None
        self._counters = (ctypes.c_int64 * 6)()
        self._line = (ctypes.c_int64 * (MAX_LINE + 1))()

    def stop(self) -> None:
        """Make all threads return."""
        self._library.shared_stop(self._shared, 1)
        if self._adviser is not None:
            self._adviser.stop()

    def run(
        self, limit: Limit, deadline: Deadline, listener: Listener | None, multipv: int
    ) -> Thought | None:
        """Search with all threads; return the thought of the one that came deepest, if any."""
        tasks: list[Callable[[], None]] = [
            partial(self._lead, limit, deadline, listener, multipv),
            *(partial(self._help, w, number) for number, w in enumerate(self._workers[1:], 1)),
        ]
        try:
            deadline.set(limit.time, limit.optimum)
            Crew(self.stop).run(tasks)
        finally:
            deadline.end()
        if self._error is not None:
            raise self._error
        if self._best is None or multipv > 1 or limit.depth is not None:
            return self._best
        return self._deepest(self._best)

    def _deepest(self, best: Thought) -> Thought:
        """Return the first thread's thought, or that of one that completed a deeper iteration.

        The first thread alone heeds the adviser, so a win, a loss and a proof of its stand, and
        a move that it was told to drop is taken from nobody.
        """
        for worker in self._workers[1:]:
            depth = self._count(worker)[2]
            if depth > best.depth and abs(best.value) < WIN_BAND:
                other = self._read(0, depth, worker)
                if other.value > -WIN_BAND and other.move not in self._dropped:
                    best = other
        return best

    def _iterate(self, worker: int, depth: int, line: int) -> bool:
        """Search one iteration; False if it was stopped."""
        return bool(self._library.worker_iterate(worker, self._tables, self._shared, depth, line))

    def _help(self, worker: int, number: int) -> None:
        """Search beside the first thread, every other one a ply ahead, until stopped."""
        depth = 1 + number % 2
        while depth <= MAX_DEPTH and self._iterate(worker, depth, 0):
            depth += 1

    def _lead(
        self, limit: Limit, deadline: Deadline, listener: Listener | None, multipv: int
    ) -> None:
        """Run the iterations of the first thread, then stop the others."""
        try:
            self._deepen(limit, deadline, listener, multipv)
        except BaseException as error:  # raised again where the search was run
            self._error = error
        finally:
            self.stop()

    def _deepen(
        self, limit: Limit, deadline: Deadline, listener: Listener | None, multipv: int
    ) -> None:
        """Iterate until the limit, the listener or the position says that it is enough."""
        worker = self._workers[0]
        root_moves = self._count(worker)[5]
        if root_moves == 0:
            return
        lines = min(multipv, root_moves)
        adviser = self._adviser if multipv == 1 else None
        win = adviser.first_win() if adviser else None
        if win is not None:
            self._note(win)
            self._best = self._thought_of(win, 1)
            if listener:
                listener(self._best)
            return
        if adviser:
            for move in adviser.losing_moves():
                root_moves = self._drop(move)
        last_depth = min(limit.depth or MAX_DEPTH, MAX_DEPTH, self._empty_cells)
        found_at = 0
        for depth in range(1, last_depth + 1):
            for line in range(lines):
                done = self._iterate(worker, depth, line)
                if not done and line > 0:
                    return
                thought = self._read(line, depth if done else depth - 1)
                if line == 0:
                    self._best = thought
                if not done:
                    return
                if adviser:
                    done = self._consult(adviser, depth)
                    thought = self._best = self._best or thought
                enough = listener(thought) if listener else False
                if not done:
                    return
                if line == 0 and enough:
                    return
            best = self._best
            if best is None:
                return
            if abs(best.value) >= WIN_BAND:
                found_at = found_at or depth
                if depth >= min(found_at + AFTER_MATE, abs(best.mate or 0)):
                    return
            only = root_moves == 1 and multipv == 1 and depth >= SURE_DEPTH
            if only and limit.time is not None and limit.depth is None:
                return
            if deadline.is_past_optimum():
                return

    def _consult(self, adviser: Adviser, depth: int) -> bool:
        """Ask the adviser about the best thought and take a better one; False if that ends it."""
        worker = self._workers[0]
        while self._best is not None and abs(self._best.value) < WIN_BAND:
            nodes = self._count(worker)[0]
            win = adviser.win(nodes)
            if win is not None:
                self._note(win)
                self._best = self._thought_of(win, depth)
                return False
            refuted = self._best
            loss = None if refuted.move is None else adviser.refutes(refuted.move, nodes)
            if refuted.move is None or loss is None or self._count(worker)[5] == 1:
                return True
            plies = 2 * loss.length
            self._note(loss, refuted.move)
            self._drop(refuted.move)
            done = self._iterate(worker, depth, 0)
            self._best = self._read(0, depth if done else depth - 1)
            if self._best.value < plies - WIN:  # what is left loses even sooner
                self._best = replace(refuted, value=plies - WIN)
            if not done:
                return False
        return True

    def _drop(self, move: Move) -> int:
        """Take a losing move off the root moves; return how many are left."""
        self._dropped.add(move)
        return self._library.worker_drop(self._workers[0], cell_of(*move))

    def _note(self, win: Win, *before: Move) -> None:
        """Write a proven win to the table of the main search; the enemy's after a move."""
        cells = [cell_of(*move) for move in (*before, *win.line)]
        line = (ctypes.c_int64 * len(cells))(*cells)
        value = WIN - (len(before) + 2 * win.length - 1)
        self._library.worker_note(
            self._workers[0], self._tables, self._shared,
            ctypes.addressof(line), len(cells), len(before), value,
        )  # fmt: skip

    def _thought_of(self, win: Win, depth: int) -> Thought:
        """Make a thought of a proven win."""
        value = WIN - (2 * win.length - 1)
        nodes = sum(self._count(each)[0] for each in self._workers)
        seconds = perf_counter() - self._start
        line = win.line
        return Thought(line[0], value, depth, len(line), nodes, seconds, line, proof=win.claim)

    def _count(self, worker: int) -> list[int]:
        """Return nodes, seldepth, depth, changes, stopped and root moves of a worker."""
        self._library.worker_counters(worker, ctypes.addressof(self._counters))
        return list(self._counters)

    def _read(self, line: int, depth: int, worker: int | None = None) -> Thought:
        """Make a thought of what a worker, the first one if none is named, knows of a line."""
        out = self._line
        worker = self._workers[0] if worker is None else worker
        length = self._library.worker_line(worker, line, ctypes.addressof(out), MAX_LINE)
        pv = tuple(move_of(out[i + 1]) for i in range(length))
        value = out[0]
        if value == -INFINITE:  # stopped before anything was known
            value = self._best.value if self._best else 0
        _, seldepth, _, changes, *_ = self._count(worker)
        nodes = sum(self._count(each)[0] for each in self._workers)
        seconds = perf_counter() - self._start
        return Thought(pv[0], value, depth, seldepth, nodes, seconds, pv, line + 1, changes)
