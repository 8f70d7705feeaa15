"""One search, from limit to thought: iterative deepening with the solver's advice.

Each thread has a worker; all share one table. The helper threads search ahead of the first.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

from ..game.game import Game, Move, move_of
from ..game.record import GameRecord
from ..game.result import LOWER, UPPER, Listener, Result, Thought
from ..native.load.library import Library, node_limit
from ..position.geometry import NO_CELL, cell_of
from ..search.parameters import AFTER_MATE, DEPTH_PER_CELL, MAX_DEPTH, SURE_DEPTH
from ..solver import Solver
from ..values import INFINITE, WIN_BAND, loss_in, win_in
from .pacing import Limit, Pace

FOURS_NODES = 20_000  # stones for a win by fours before the main search starts
THREES_NODES = 2_000  # and for a win by threats
RESCUE_NODES = 20_000  # to find the replies that stop the enemy's fours
FOURS_PERCENT = 100  # stones per hundred nodes while a win by fours is open, which is rare
LEAST_NODES = 1_000  # smallest budget worth starting a solver search with


class Tactics:
    """Look for forced wins during a search: the engine's, and the enemy's after its best move.

    Budgets are counted in nodes, not seconds, so that a search limited by depth or nodes is the
    same on every machine: the solver gets a share of a stone per node of the main search.
    """

    def __init__(self, solver: Solver, game: Game, percent: int, hot: int) -> None:
        """Serve one search, with ``percent`` stones per hundred nodes.

        ``hot``: further stones per hundred nodes while a win by fours and threes is open.
        """
        self._solver = solver
        self._game = game
        self._percent = percent
        self._hot = hot
        self._spent = 0  # stones of the share
        self._sought = 0  # stones of the further budget for a win
        self._fours_open = True  # a win by fours is neither found nor refuted
        self._hopeless = False  # a win by threats is refuted
        self._is_hot = True  # fours and threes alone may win
        self._tried: dict[Move, int] = {}  # move -> stones spent on refuting it

    def losing_moves(self) -> tuple[Move, ...]:
        """Return the moves that lose to the enemy's fours; none if all moves do."""
        if not self._solver.threatens_fours(self._game, nodes=RESCUE_NODES):
            return ()
        rescue = self._solver.rescues(self._game, nodes=RESCUE_NODES)
        keep = {*rescue.moves, *rescue.unknown}
        if not rescue.length or not keep:
            return ()
        return tuple(move for move in self._game.legal_moves() if move not in keep)

    def win(self, nodes: int) -> Result | None:
        """Return a win or None; ``nodes``: nodes of the main search so far.

        Fours are tried first while a win by fours is open.
        """
        if self._hopeless:
            return None
        budget = max(nodes * self._percent // 100 - self._spent, 0) // 2
        eagerness = max(  # further stones per hundred nodes where a win is likelier
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
        """Return a win by fours, or None if ``nodes`` stones find none."""
        proof = self._solver.fours(self._game, nodes=nodes)
        self._fours_open = proof.is_open
        return proof if proof.wins else None

    def threats(self, nodes: int) -> Result | None:
        """Return a win by threats, or None if ``nodes`` stones find none."""
        proof = self._solver.threats(self._game, nodes=nodes)
        self._hopeless = not proof.wins and not proof.is_open
        self._is_hot = proof.level == 0
        return proof if proof.wins else None


# The search ------------------------------------------------------------------------------

MAX_LINE = 64  # moves of a line that a thought reports


class Question(NamedTuple):
    """The position and conditions of one search.

    ``start``: its start by ``perf_counter``; ``exclude``: cells to play only if no other is left;
    ``multipv``: number of best moves wanted; if 1, only one of several root moves equivalent by
    symmetry is searched. ``board``: the position to attach to thoughts. ``is_short``: search an
    only move just a few plies deep, as under a time limit.
    """

    game: Game
    limit: Limit
    pace: Pace
    start: float
    board: GameRecord | None = None
    listener: Listener | None = None
    multipv: int = 1
    exclude: Sequence[Move] = ()
    is_short: bool = False


class SearchCounters(NamedTuple):
    """A worker's counters, in the kernel's order; ``changes``: in its last iteration."""

    nodes: int
    seldepth: int
    changes: int
    root_moves: int


class Search:
    """A search with one worker per thread and one shared block."""

    def __init__(
        self,
        library: Library,
        workers: list[int],
        shared: int,
        question: Question,
        tactics: Tactics | None,
    ) -> None:
        """Put the game on every worker, ready to search; ``workers``, ``shared``: addresses."""
        self.library, self.question, self.tactics = library, question, tactics
        self.best: Thought | None = None  # None until the first iteration yields one
        self.helpers: list[Callable[[], None]] = []  # tasks of the helper threads
        game = question.game
        self._leader, self._workers = workers[0], workers
        self._tables = game.tables
        self._shared = shared
        library.shared_age(shared)
        self._completed: dict[int, Thought] = {}  # last iterations of the other threads
        self._depth = 1  # of the first thread's iteration
        self._dropped: set[Move] = set()
        for number, worker in enumerate(self._workers):
            if number:
                library.game_copy(worker, game.address)
                self.helpers.append(partial(self._help, worker, number))
            library.worker_bar(worker, NO_CELL)
            for move in question.exclude:
                library.worker_bar(worker, cell_of(*move))
            library.worker_fade(worker)
            nodes = node_limit(None if number else question.limit.nodes)
            library.worker_prepare(worker, self._tables, shared, nodes, question.multipv == 1)

    def answer(self) -> Thought | None:
        """Return the thought of the deepest thread, if any."""
        limit, best = self.question.limit, self.best
        is_led = not self._completed or self.question.multipv > 1 or limit.depth is not None
        if best is None or is_led:
            return best
        others = [
            as_cut_short(self._read(worker, 0, completed.depth), completed)
            for worker, completed in self._completed.items()
            if completed.depth > best.depth
        ]
        return deepest(best, others, self._dropped)

    def has_won(self, tactics: Tactics) -> bool:
        """Return whether the solver finds a win before the search, and report it as the thought."""
        win = tactics.fours(FOURS_NODES) or tactics.threats(THREES_NODES)
        if win is None:
            return False
        self.best = self.thought_of(win)
        self.tell([self.best])
        return True

    def tell(self, thoughts: Iterable[Thought]) -> bool:
        """Report the lines of an iteration; return whether the listener ends the search."""
        is_enough = False
        for thought in thoughts:
            enough = self.question.listener(thought) if self.question.listener else False
            is_enough |= bool(enough) and thought.multipv == 1
        return is_enough

    def _iterate(self, worker: int, depth: int, line: int) -> bool:
        """Search one iteration; False if it was stopped."""
        return bool(self.library.worker_iterate(worker, self._tables, self._shared, depth, line))

    def _help(self, worker: int, number: int) -> None:
        """Search until stopped, every other helper at least a ply ahead of the first thread.

        The first thread then finds the deeper results in the table.
        """
        ahead = number % 2
        depth = 1 + ahead
        while depth <= MAX_DEPTH and self._iterate(worker, depth, 0):
            self._completed[worker] = self._read(worker, 0, depth)
            depth = max(depth + 1, self._depth + ahead)

    def lead(self) -> None:
        """Deepen until the limit, the listener or a forced end stops the search."""
        game, limit, multipv = self.question.game, self.question.limit, self.question.multipv
        pace, root_moves = self.question.pace, self.count(self._leader).root_moves
        if root_moves == 0 or (self.tactics is not None and self.has_won(self.tactics)):
            return
        for move in self.tactics.losing_moves() if self.tactics else ():
            root_moves = self._drop(move)
        is_short = self.question.is_short or limit.time is not None
        is_sure = root_moves == multipv == 1 and is_short and limit.depth is None
        empty_cells = game.width * game.height - game.ply
        last_depth = min(limit.depth or MAX_DEPTH, MAX_DEPTH, DEPTH_PER_CELL * empty_cells)
        found_at = 0
        for depth in range(1, last_depth + 1):
            self._depth = depth
            if not self._search_lines(depth, min(multipv, root_moves)):
                return
            best = self.best
            if best is not None and abs(best.value) >= WIN_BAND:
                found_at = found_at or depth
                if depth >= min(found_at + AFTER_MATE, abs(best.mate or 0)):
                    return
            if is_sure and depth >= SURE_DEPTH:
                return
            if best is not None and pace.should_stop(best, perf_counter() - pace.start):
                return

    def _search_lines(self, depth: int, lines: int) -> bool:
        """Search the best lines to a depth and report them; False if the search should end.

        Several lines are reported together, ranked, once all are complete.
        """
        found: list[Thought] = []
        for line in range(lines):
            if not self._iterate(self._leader, depth, line):
                if lines == 1 or self.best is None:
                    now = self._read(self._leader, 0, depth - 1)
                    self.best = as_cut_short(now, self.best)
                return False
            found.append(self._read(self._leader, line, depth))
        if lines > 1:
            order = sorted(found, key=lambda thought: thought.value, reverse=True)
            found = [thought._replace(multipv=rank) for rank, thought in enumerate(order, 1)]
        self.best, *others = found
        goes_on = self.tactics is None or self._consult(self.tactics, depth)
        return not self.tell([self.best, *others]) and goes_on

    def _consult(self, tactics: Tactics, depth: int) -> bool:
        """Check the best thought with the solver, correct it; False if the search should end."""
        while self.best is not None and abs(self.best.value) < WIN_BAND:
            nodes = self.count(self._leader).nodes
            win = tactics.win(nodes)
            if win is not None:
                self.best = self.thought_of(win, depth)
                return False
            refuted = self.best
            loss = tactics.refutes(refuted.move, nodes)
            if loss is None or self.count(self._leader).root_moves == 1:
                return True
            plies = 2 * loss.length
            self._note(loss, refuted.move)
            self._drop(refuted.move)
            done = self._iterate(self._leader, depth, 0)
            self.best = self._read(self._leader, 0, depth if done else depth - 1)
            if self.best.value < loss_in(plies):  # the remaining moves lose even sooner
                self.best = refuted._replace(value=loss_in(plies))
            elif not done and abs(self.best.value) < WIN_BAND:  # no better than the refuted move
                self.best = self.best._replace(value=refuted.value, bound=UPPER)
            if not done:
                return False
        return True

    def _drop(self, move: Move) -> int:
        """Remove a losing move from the root moves; return how many are left."""
        self._dropped.add(move)
        return self.library.worker_drop(self._leader, cell_of(*move))

    def _note(self, win: Result, *before: Move) -> None:
        """Store a proven win in the table; after a move ``before``, the enemy's win."""
        cells = [cell_of(*move) for move in (*before, *win.line)]
        line = (ctypes.c_int64 * len(cells))(*cells)
        value = win_in(len(before) + win.plies)
        self.library.worker_note(
            self._leader, self._tables, self._shared,
            ctypes.addressof(line), len(cells), len(before), value,
        )  # fmt: skip

    def thought_of(self, win: Result, depth: int = 1) -> Thought:
        """Return the thought of a proven win, and store the win in the table."""
        self._note(win)
        return self._thought(win_in(win.plies), depth, len(win.line), win.line, claim=win.claim)

    def _thought(
        self, value: int, depth: int, seldepth: int, pv: tuple[Move, ...], multipv: int = 1,
        changes: int = 0, claim: str = "",
    ) -> Thought:  # fmt: skip
        nodes = sum(self.count(worker).nodes for worker in self._workers)
        about, seconds = self.question, perf_counter() - self.question.start
        return Thought(
            value, pv, depth, seldepth, nodes, seconds, multipv, changes, claim,
            scale=about.game.scale, board=about.board,
        )  # fmt: skip

    def count(self, worker: int) -> SearchCounters:
        """Return a worker's counters so far."""
        counters = (ctypes.c_int64 * len(SearchCounters._fields))()  # per call: all threads ask
        self.library.worker_counters(worker, ctypes.addressof(counters))
        return SearchCounters(*counters)

    def _read(self, worker: int, line: int, depth: int) -> Thought:
        """Return a worker's current line as a thought."""
        out = (ctypes.c_int64 * (MAX_LINE + 1))()
        length = self.library.worker_line(worker, line, ctypes.addressof(out), MAX_LINE)
        pv = tuple(map(move_of, out[1 : length + 1]))
        value = out[0]
        if value == -INFINITE:  # stopped before the first move had a value
            value = self.best.value if self.best else 0
        counted = self.count(worker)
        rank, seldepth = line + 1, max(counted.seldepth, depth)
        return self._thought(value, depth, seldepth, pv, multipv=rank, changes=counted.changes)


def as_cut_short(now: Thought, complete: Thought | None) -> Thought:
    """Return the thought to trust after an interrupted iteration.

    ``now`` is the current best move with its value, ``complete`` the thought of the last completed
    iteration. If both have the same move, the completed value stands, as the new one may be
    just a bound of the search window. A new best move is worth at least its value.
    """
    if complete is None or now.value >= WIN_BAND:
        return now
    if now.move != complete.move:
        return now._replace(bound=LOWER)
    return complete._replace(nodes=now.nodes, time=now.time, changes=now.changes)


def deepest(best: Thought, others: Iterable[Thought], dropped: Container[Move]) -> Thought:
    """Return the first thread's thought, or a deeper one of another thread.

    Only the first thread consults the solver, so its wins, losses and proofs stand, and the
    losing moves it has dropped are not accepted from other threads.
    """
    for other in others:
        is_deeper = other.depth > best.depth and abs(best.value) < WIN_BAND
        if is_deeper and other.value > -WIN_BAND and other.move not in dropped:
            best = other
    return best
