"""One Monte Carlo search from its limit to its thought: rounds of visits, with advice between.

A round is a fifth more visits than all before it. The first thread makes the rounds and asks
the adviser after each; the others visit the same tree until it stops them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter, sleep
from typing import NamedTuple

from ..game.game import move_of
from ..native.load.library import Library
from ..position.geometry import cell_of
from ..solver.proofs import Proof
from ..values import WIN_BAND, loss_in, win_in
from .adviser import Tactics
from .crew import Crew, Deadline
from .searcher import Question
from .thought import Limit, Listener, Thought, ranked

FIRST_ROUND = 32  # visits
ROUND_PART = 5  # each further round is one part in so many of the visits so far
MOST_VISITS = 1 << 40
HELP_VISITS = 1_000  # after which a helper lets go of a tree that it need not leave otherwise
HELP_PAUSE = 0.001  # seconds that it leaves the tree alone where it has found nothing new
SURE_VISITS = 256  # an only move is looked at so long before it is played
MAX_LINE = 64  # moves of a line that a thought reports
CHANCE_UNIT = 65536  # a sure win, as the kernel counts chances
VISIT_WORTH = 40  # positions of the alpha-beta that a visit counts as, for the adviser


class Walker(NamedTuple):
    """Where a thread's walker and its threat searches live."""

    address: int
    threats: int


class Effort(NamedTuple):
    """What a walker counts, in the kernel's order."""

    visits: int
    judged: int
    seldepth: int


class TreeSearch:
    """A search on memory that is set up: the tree with the position at its root, and walkers."""

    def __init__(
        self,
        library: Library,
        walkers: Sequence[Walker],
        tree: int,
        lists: int,
        moves: int,
        question: Question,
    ) -> None:
        """Take the addresses, and how many moves may be played at the root."""
        self.library = library
        self._walkers = walkers
        self.leader = walkers[0]
        self.tree = tree
        self.lists = lists
        self._moves = moves
        self.question = question
        self._tables = question.game.tables
        self._adviser = question.adviser if question.multipv == 1 else None
        self._best: Thought | None = None
        self._changes = 0
        self._is_enough = False
        self._error: BaseException | None = None
        self._line = (ctypes.c_int64 * (MAX_LINE + 2))()

    def stop(self) -> None:
        """Make all threads return."""
        self.library.tree_stop(self.tree, 1)
        if self.question.adviser is not None:
            self.question.adviser.stop()

    def run(self, deadline: Deadline, listener: Listener | None) -> Thought | None:
        """Search with all threads; return what the tree says at the end, if there is a move."""
        limit = self.question.limit
        tasks: list[Callable[[], None]] = [
            partial(self._lead, deadline, listener),
            *(partial(self._help, walker) for walker in self._walkers[1:]),
        ]
        try:
            deadline.set(limit.time, limit.optimum)
            Crew(self.stop).run(tasks)
        finally:
            deadline.end()
        if self._error is not None:
            raise self._error
        return self._best

    def walk(self, walker: Walker, visits: int) -> bool:
        """Make so many visits; False if they were stopped or there is nothing to find out."""
        return bool(
            self.library.walker_walk(
                walker.address, walker.threats, self._tables, self.tree, self.lists, visits
            )
        )

    def _help(self, walker: Walker) -> None:
        """Visit beside the first thread until stopped.

        A visit lets go of the tree while it judges a position. Where all of them are known
        there is nothing to judge, and one long walk would keep the first thread out for ever; so
        would short ones, where the first thread has no core at the moment between two.
        """
        judged = 0
        while self.walk(walker, HELP_VISITS):
            before, judged = judged, self._count(walker).judged
            if judged == before:
                sleep(HELP_PAUSE)

    def _lead(self, deadline: Deadline, listener: Listener | None) -> None:
        """Make the rounds of the first thread, then stop the others."""
        try:
            self._grow(deadline, listener)
        except BaseException as error:  # raised again where the search was run
            self._error = error
        finally:
            self.stop()

    def _grow(self, deadline: Deadline, listener: Listener | None) -> None:
        """Make rounds until the limit, the listener or the tree says that it is enough."""
        question = self.question
        limit = question.limit
        if self._moves == 0 or (self._adviser and self._has_won(listener)):
            return
        if self._adviser:
            for move in self._adviser.losing_moves():
                self.library.tree_bar(self.tree, cell_of(*move))
        most = MOST_VISITS if limit.nodes is None else limit.nodes
        is_sure = self._moves == question.multipv == 1 and self._is_timed(limit)
        visits = 0
        goes_on = True
        while goes_on:
            visits = min(visits + max(FIRST_ROUND, visits // ROUND_PART), most)
            done = self._count(self.leader).visits
            goes_on = self.walk(self.leader, visits - done) and visits < most
            if self._adviser and not self._consult(self._adviser):
                goes_on = False
            best = self._report(listener)
            if best is None or (limit.depth is not None and best.depth >= limit.depth):
                return
            if (is_sure and visits >= SURE_VISITS) or deadline.is_past_optimum():
                return
            goes_on = goes_on and not self._is_enough

    def _is_timed(self, limit: Limit) -> bool:
        return limit.time is not None and limit.depth is None and limit.nodes is None

    def _report(self, listener: Listener | None) -> Thought | None:
        """Note the best lines and report them; the listener may say that they are enough."""
        self._is_enough = False
        count = self._rank()
        if count == 0:
            return self._best
        if self._best is not None and self._best.proof:
            thoughts = [self._best]
        else:
            lines = min(self.question.multipv, count)
            thoughts = ranked([self._read(rank) for rank in range(lines)])
        before, self._best = self._best, thoughts[0]
        self._changes = int(before is not None and before.move != thoughts[0].move)
        for thought in thoughts:
            enough = listener(thought) if listener else False
            if enough and thought.multipv == 1:
                self._is_enough = True
        return self._best

    def _has_won(self, listener: Listener | None) -> bool:
        """Say whether a win is found before the search begins, which is then its thought."""
        assert self._adviser is not None
        win = self._adviser.first_win()
        if win is None:
            return False
        self._best = self._thought_of(win)
        if listener:
            listener(self._best)
        return True

    def _consult(self, adviser: Tactics) -> bool:
        """Ask the adviser about the best move; False if that ends the search."""
        while True:
            if self._rank() == 0:
                return True
            best = self._read(0)
            if abs(best.value) >= WIN_BAND:
                return True
            nodes = VISIT_WORTH * self._count(self.leader).visits
            win = adviser.win(nodes)
            if win is not None:
                self._best = self._thought_of(win)
                return False
            loss = adviser.refutes(best.move, nodes)
            if loss is None or self._moves == 1:
                return True
            value = loss_in(2 * loss.length)
            self.library.tree_prove(self.tree, self.lists, cell_of(*best.move), value)

    def root_chance(self) -> tuple[int, float]:
        """Return what is proven of the root, 0 where nothing is, and its chance to win."""
        out = (ctypes.c_int64 * 5)()
        self.library.tree_root(self.tree, ctypes.addressof(out))
        visits, total, proof = out[:3]
        if proof:
            return proof, (0.5 if abs(proof) < WIN_BAND else float(proof > 0))
        return 0, total / max(visits, 1) / CHANCE_UNIT

    # Reading -----------------------------------------------------------------------

    def _rank(self) -> int:
        """Bring the root moves in order; return how many there are."""
        return self.library.walker_rank(self.leader.address, self.tree, self.lists)

    def _count(self, walker: Walker) -> Effort:
        """Return what a walker has counted."""
        out = (ctypes.c_int64 * len(Effort._fields))()
        self.library.walker_effort(walker.address, ctypes.addressof(out))
        return Effort(*out)

    def _effort(self) -> tuple[int, int, int, float]:
        """Return the deepest ply, positions and visits of all threads, and the seconds so far."""
        efforts = [self._count(walker) for walker in self._walkers]
        visits, judged = sum(e.visits for e in efforts), sum(e.judged for e in efforts)
        return (
            max(e.seldepth for e in efforts),
            judged,
            visits,
            perf_counter() - self.question.start,
        )

    def _thought_of(self, win: Proof) -> Thought:
        """Make a thought of a proven win."""
        _, judged, visits, seconds = self._effort()
        line = win.line
        value = win_in(2 * win.length - 1)
        return Thought(
            line[0], value, 1, len(line), judged, seconds, line, proof=win.claim,
            scale=self.question.scale, visits=visits,
        )  # fmt: skip

    def _read(self, rank: int) -> Thought:
        """Make a thought of what the tree knows of a root move."""
        out = self._line
        length = self.library.walker_way(
            self.leader.address, self._tables, self.tree, self.lists, rank,
            ctypes.addressof(out), MAX_LINE,
        )  # fmt: skip
        pv = tuple(move_of(out[i + 2]) for i in range(length))
        seldepth, judged, visits, seconds = self._effort()
        return Thought(
            pv[0], out[0], length, max(seldepth, length), judged, seconds, pv, rank + 1,
            self._changes, scale=self.question.scale, visits=visits,
        )  # fmt: skip
