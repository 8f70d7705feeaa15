"""One alpha-beta search from its limit to its thought: iterations, and the advice between them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

from ..game.game import Move, move_of
from ..native.load.library import Library
from ..position.geometry import cell_of
from ..solver.proofs import Proof
from ..values import INFINITE, WIN_BAND, loss_in, win_in
from .adviser import Tactics
from .crew import Crew, Deadline
from .searcher import Question
from .thought import UPPER, Listener, Thought, as_cut_short, deepest, ranked

MAX_DEPTH = 200
DEPTH_PER_CELL = 4  # of a board that fills up: reduced moves take less depth than a ply
MAX_LINE = 64  # moves of a line that a thought reports
SURE_DEPTH = 4  # an only move is looked at this deep before it is played
AFTER_MATE = 4  # iterations that may still shorten a forced win


class Counters(NamedTuple):
    """What a worker counts, in the kernel's order; ``depth`` and ``changes`` of its iterations."""

    nodes: int
    seldepth: int
    depth: int
    changes: int
    stopped: int
    root_moves: int


class AlphaBetaSearch:
    """A search on memory that is set up: one worker a thread, one shared block."""

    def __init__(
        self, library: Library, workers: Sequence[int], shared: int, question: Question
    ) -> None:
        """Take the addresses of prepared workers and of the shared block."""
        game = question.game
        self._library = library
        self._workers = workers
        self._leader = workers[0]
        self._tables = game.tables
        self._shared = shared
        self._empty_cells = game.width * game.height - game.ply
        self._question = question
        self._start = question.start
        self._adviser: Tactics | None = question.adviser
        self._scale = question.scale
        self._best: Thought | None = None
        self._completed: dict[int, Thought] = {}  # last iterations of the other threads
        self._depth = 1  # which the first thread is searching to
        self._dropped: set[Move] = set()
        self._error: BaseException | None = None

    def stop(self) -> None:
        """Make all threads return."""
        self._library.shared_stop(self._shared, 1)
        if self._adviser is not None:
            self._adviser.stop()

    def run(self, deadline: Deadline, listener: Listener | None) -> Thought | None:
        """Search with all threads; return the thought of the one that came deepest, if any."""
        limit, multipv = self._question.limit, self._question.multipv
        tasks: list[Callable[[], None]] = [
            partial(self._lead, deadline, listener),
            *(partial(self._help, w, number) for number, w in enumerate(self._workers[1:], 1)),
        ]
        try:
            deadline.set(limit.time, limit.optimum)
            Crew(self.stop).run(tasks)
        finally:
            deadline.end()
        if self._error is not None:
            raise self._error
        best = self._best
        if best is None or multipv > 1 or limit.depth is not None:
            return best
        others = [
            as_cut_short(self._read(worker, 0, completed.depth), completed)
            for worker, completed in self._completed.items()
            if completed.depth > best.depth
        ]
        return deepest(best, others, self._dropped)

    def _iterate(self, worker: int, depth: int, line: int) -> bool:
        """Search one iteration; False if it was stopped."""
        return bool(self._library.worker_iterate(worker, self._tables, self._shared, depth, line))

    def _help(self, worker: int, number: int) -> None:
        """Search beside the first thread until stopped, every other one at least a ply ahead.

        What has been searched deeper lies in the table when the first thread comes there.
        """
        ahead = number % 2
        depth = 1 + ahead
        while depth <= MAX_DEPTH and self._iterate(worker, depth, 0):
            self._completed[worker] = self._read(worker, 0, depth)
            depth = max(depth + 1, self._depth + ahead)

    def _lead(self, deadline: Deadline, listener: Listener | None) -> None:
        """Run the iterations of the first thread, then stop the others."""
        try:
            self._deepen(deadline, listener)
        except BaseException as error:  # raised again where the search was run
            self._error = error
        finally:
            self.stop()

    def _deepen(self, deadline: Deadline, listener: Listener | None) -> None:
        """Iterate until the limit, the listener or the position says that it is enough."""
        limit, multipv = self._question.limit, self._question.multipv
        root_moves = self._count(self._leader).root_moves
        adviser = self._adviser if multipv == 1 else None
        if root_moves == 0 or (adviser and self._has_won(adviser, listener)):
            return
        if adviser:
            for move in adviser.losing_moves():
                root_moves = self._drop(move)
        is_sure = root_moves == multipv == 1 and limit.time is not None and limit.depth is None
        last_depth = min(limit.depth or MAX_DEPTH, MAX_DEPTH, DEPTH_PER_CELL * self._empty_cells)
        found_at = 0
        for depth in range(1, last_depth + 1):
            self._depth = depth
            if not self._search_lines(depth, min(multipv, root_moves), adviser, listener):
                return
            best = self._best
            if best is not None and abs(best.value) >= WIN_BAND:
                found_at = found_at or depth
                if depth >= min(found_at + AFTER_MATE, abs(best.mate or 0)):
                    return
            if (is_sure and depth >= SURE_DEPTH) or deadline.is_past_optimum():
                return

    def _has_won(self, adviser: Tactics, listener: Listener | None) -> bool:
        """Say whether a win is found before the search begins, which is then its thought."""
        win = adviser.first_win()
        if win is None:
            return False
        self._note(win)
        self._best = self._thought_of(win, 1)
        if listener:
            listener(self._best)
        return True

    def _search_lines(
        self, depth: int, lines: int, adviser: Tactics | None, listener: Listener | None
    ) -> bool:
        """Search the best lines to a depth and report them; False if that ends the search.

        Several lines are told together, ranked, once the last of them is there.
        """
        found: list[Thought] = []
        for line in range(lines):
            if not self._iterate(self._leader, depth, line):
                if lines == 1 or self._best is None:
                    now = self._read(self._leader, 0, depth - 1)
                    self._best = as_cut_short(now, self._best)
                return False
            found.append(self._read(self._leader, line, depth))
        self._best, *others = ranked(found)
        goes_on = adviser is None or self._consult(adviser, depth)
        for thought in (self._best, *others):
            enough = listener(thought) if listener else False
            goes_on = goes_on and not (enough and thought is self._best)
        return goes_on

    def _consult(self, adviser: Tactics, depth: int) -> bool:
        """Ask the adviser about the best thought and take a better one; False if that ends it."""
        while self._best is not None and abs(self._best.value) < WIN_BAND:
            nodes = self._count(self._leader).nodes
            win = adviser.win(nodes)
            if win is not None:
                self._note(win)
                self._best = self._thought_of(win, depth)
                return False
            refuted = self._best
            loss = adviser.refutes(refuted.move, nodes)
            if loss is None or self._count(self._leader).root_moves == 1:
                return True
            plies = 2 * loss.length
            self._note(loss, refuted.move)
            self._drop(refuted.move)
            done = self._iterate(self._leader, depth, 0)
            self._best = self._read(self._leader, 0, depth if done else depth - 1)
            if self._best.value < loss_in(plies):  # what is left loses even sooner
                self._best = refuted._replace(value=loss_in(plies))
            elif not done and abs(self._best.value) < WIN_BAND:  # no better than what was refuted
                self._best = self._best._replace(value=refuted.value, bound=UPPER)
            if not done:
                return False
        return True

    def _drop(self, move: Move) -> int:
        """Take a losing move off the root moves; return how many are left."""
        self._dropped.add(move)
        return self._library.worker_drop(self._leader, cell_of(*move))

    def _note(self, win: Proof, *before: Move) -> None:
        """Write a proven win to the table of the main search; the enemy's after a move."""
        cells = [cell_of(*move) for move in (*before, *win.line)]
        line = (ctypes.c_int64 * len(cells))(*cells)
        value = win_in(len(before) + 2 * win.length - 1)
        self._library.worker_note(
            self._leader, self._tables, self._shared,
            ctypes.addressof(line), len(cells), len(before), value,
        )  # fmt: skip

    def _thought_of(self, win: Proof, depth: int) -> Thought:
        """Make a thought of a proven win."""
        value = win_in(2 * win.length - 1)
        line = win.line
        return Thought(
            line[0], value, depth, len(line), *self._effort(), line,
            proof=win.claim, scale=self._scale,
        )  # fmt: skip

    def _effort(self) -> tuple[int, float]:
        """Return the nodes of all threads and the seconds so far."""
        nodes = sum(self._count(worker).nodes for worker in self._workers)
        return nodes, perf_counter() - self._start

    def _count(self, worker: int) -> Counters:
        """Return what a worker has counted."""
        counters = (ctypes.c_int64 * len(Counters._fields))()  # its own: all threads ask
        self._library.worker_counters(worker, ctypes.addressof(counters))
        return Counters(*counters)

    def _read(self, worker: int, line: int, depth: int) -> Thought:
        """Make a thought of what a worker knows of a line."""
        out = (ctypes.c_int64 * (MAX_LINE + 1))()
        length = self._library.worker_line(worker, line, ctypes.addressof(out), MAX_LINE)
        pv = tuple(move_of(out[i + 1]) for i in range(length))
        value = out[0]
        if value == -INFINITE:  # stopped before anything was known
            value = self._best.value if self._best else 0
        counted = self._count(worker)
        nodes, seconds = self._effort()
        return Thought(
            pv[0], value, depth, counted.seldepth, nodes, seconds, pv, line + 1, counted.changes,
            scale=self._scale,
        )  # fmt: skip
