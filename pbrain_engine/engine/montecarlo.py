"""Monte Carlo tree search as a searcher: the memory that lasts, and one search to its thought.

There is one tree for all threads, and a walker for each. A round is a fifth more visits than all
before it. The first thread makes the rounds and asks the solver after each; the others visit
the same tree until it stops them.
"""

from __future__ import annotations

import ctypes
from functools import partial
from time import perf_counter, sleep
from typing import NamedTuple

from ..game.game import move_of
from ..native.load.library import Library
from ..native.load.memory import Block
from ..position.geometry import cell_of
from ..search.parameters import MCTS
from ..values import WIN_BAND, loss_in
from .searcher import LARGEST, MAX_LINE, Question, Search, Searcher, Tactics
from .thought import Thought, rank_lines

NODES_SHARE = 4  # one part in this many of the memory is for nodes, the others for their moves
MOST_BUCKETS = 1 << 23
MOST_BLOCKS = 1 << 22
THREATS_BYTES = 2 << 20  # of each table, of wins by fours and by threes, that a walker looks for
THREATS_PART = 16  # but no more than one part in this many of the memory
FIRST_ROUND = 32  # visits
ROUND_PART = 5  # each further round is one part in this many of the visits so far
MOST_VISITS = 1 << 40
HELP_VISITS = 1_000  # after which a helper lets go of a tree that it need not leave otherwise
HELP_PAUSE = 0.001  # seconds that it leaves the tree alone where it has found nothing new
SURE_VISITS = 256  # an only move is looked at so long before it is played
VISIT_WORTH = 40  # positions of the alpha-beta that a visit counts as, for the tactics


Walker = tuple[int, int]  # where a thread's walker and its threat searches live


class Effort(NamedTuple):
    """What a walker counts, in the kernel's order."""

    visits: int
    judged: int
    seldepth: int


class TreeSearch(Search):
    """A search in a tree that has the position at its root."""

    def __init__(self, memory: Searcher, question: Question, tactics: Tactics | None) -> None:
        """Plant the position in the tree, and give every thread a walker at it."""
        super().__init__(memory, question, tactics)
        library, game = memory.library, question.game
        tree, lists, *walkers = [block.address for block in memory.blocks]
        self._walkers = [*zip(walkers[::2], walkers[1::2], strict=True)]
        self._leader, *others = self._walkers
        self._tree, self._lists, self._tables = tree, lists, game.tables
        self._changes = 0
        self._line = (ctypes.c_int64 * (MAX_LINE + 2))()
        library.tree_begin(tree, question.multipv, max(round(game.scale), 1))
        for move in question.exclude:
            library.tree_bar(tree, cell_of(*move))
        self._moves = library.walker_plant(  # how many may be played
            *self._leader, self._tables, tree, lists, game.address, question.multipv == 1
        )
        for walker in others:
            library.walker_board(*walker, self._tables, game.address)
            self.helpers.append(partial(self._help, walker))

    def _walk(self, walker: Walker, visits: int) -> bool:
        """Make this many visits; False if they were stopped or there is nothing to find out."""
        return bool(
            self.library.walker_walk(*walker, self._tables, self._tree, self._lists, visits)
        )

    def _help(self, walker: Walker) -> None:
        """Visit beside the first thread until stopped.

        A visit lets go of the tree while it judges a position. Where all of them are known
        there is nothing to judge, and one long walk would keep the first thread out for ever; so
        would short ones, where the first thread has no core at the moment between two.
        """
        judged = 0
        while self._walk(walker, HELP_VISITS):
            before, judged = judged, self._count(walker).judged
            if judged == before:
                sleep(HELP_PAUSE)

    def lead(self) -> None:
        """Make rounds until the limit, the listener or the tree says that it is enough."""
        limit, pace = self.question.limit, self.question.pace
        if self._moves == 0 or (self.tactics is not None and self.has_won(self.tactics)):
            return
        for move in self.tactics.losing_moves() if self.tactics else ():
            self.library.tree_bar(self._tree, cell_of(*move))
        most = MOST_VISITS if limit.nodes is None else limit.nodes
        is_timed = limit.time is not None and limit.depth is None and limit.nodes is None
        is_sure = self._moves == self.question.multipv == 1 and is_timed
        visits = 0
        goes_on = True
        while goes_on:
            visits = min(visits + max(FIRST_ROUND, visits // ROUND_PART), most)
            done = self._count(self._leader).visits
            goes_on = self._walk(self._leader, visits - done) and visits < most
            if self.tactics and not self._consult(self.tactics):
                goes_on = False
            is_enough = self._report()
            best = self.best
            if best is None or (limit.depth is not None and best.depth >= limit.depth):
                return
            if is_sure and visits >= SURE_VISITS:
                return
            if pace.should_stop(best, perf_counter() - pace.start):
                return
            goes_on = goes_on and not is_enough

    def _report(self) -> bool:
        """Note the best lines and report them; return whether the listener has enough."""
        count = self._rank()
        if count == 0:
            return False
        before = self.best
        if before is not None and before.proof:
            thoughts = [before]
        else:
            lines = min(self.question.multipv, count)
            thoughts = rank_lines([self._read(rank) for rank in range(lines)])
        self.best = thoughts[0]
        self._changes = int(before is not None and before.move != self.best.move)
        return self.tell(thoughts)

    def _consult(self, tactics: Tactics) -> bool:
        """Ask the solver about the best move; False if that ends the search."""
        while True:
            if self._rank() == 0:
                return True
            best = self._read(0)
            if abs(best.value) >= WIN_BAND:
                return True
            nodes = VISIT_WORTH * self._count(self._leader).visits
            win = tactics.win(nodes)
            if win is not None:
                self.best = self.thought_of(win)
                return False
            loss = tactics.refutes(best.move, nodes)
            if loss is None or self._moves == 1:
                return True
            value = loss_in(2 * loss.length)
            self.library.tree_prove(self._tree, self._lists, cell_of(*best.move), value)

    # Reading -----------------------------------------------------------------------

    def _rank(self) -> int:
        """Bring the root moves in order; return how many there are."""
        return self.library.walker_rank(self._leader[0], self._tree, self._lists)

    def _count(self, walker: Walker) -> Effort:
        out = (ctypes.c_int64 * len(Effort._fields))()
        self.library.walker_effort(walker[0], ctypes.addressof(out))
        return Effort(*out)

    def _effort(self) -> tuple[int, int]:
        efforts = [self._count(walker) for walker in self._walkers]
        return sum(e.judged for e in efforts), sum(e.visits for e in efforts)

    def _read(self, rank: int) -> Thought:
        """Make a thought of what the tree knows of a root move."""
        out = self._line
        length = self.library.walker_way(
            self._leader[0], self._tables, self._tree, self._lists, rank,
            ctypes.addressof(out), MAX_LINE,
        )  # fmt: skip
        pv = tuple(map(move_of, out[2 : length + 2]))
        seldepth = max(self._count(walker).seldepth for walker in self._walkers)
        return self._thought(out[0], length, max(seldepth, length), pv, changes=self._changes)


class MonteCarlo(Searcher):
    """The memory of the tree search.

    The tree stays from move to move: what a search has found out about the position that
    comes to the board serves the next one. Where memory is short, what was least visited or
    longest not seen makes room.
    """

    def __init__(self, library: Library) -> None:
        """Begin without a tree; every walker gets a copy of the game."""
        super().__init__(library, "tree", MCTS, TreeSearch)

    def forget_game(self) -> None:
        """Nothing: a tree is about positions, whichever game they come up in."""

    def _useful(self, seconds: float) -> int:
        """Return all that there is: a tree is kept from move to move as long as there is room."""
        return LARGEST

    def _beside(self) -> int:
        """Return the bytes of the walkers."""
        sizes = self.library.sizes
        return self.threads * (sizes["walker"] + sizes["threats_head"] + 2 * THREATS_BYTES)

    def _take(self, length: int, patient: bool) -> tuple[list[Block], int]:
        """Take about ``length`` bytes for the tree and its lists, and a walker for each thread."""
        sizes = self.library.sizes
        length -= sizes["tree_head"]
        buckets = min(length // NODES_SHARE // sizes["tree_bucket"], MOST_BUCKETS)
        blocks = min((length - length // NODES_SHARE) // sizes["tree_block"], MOST_BLOCKS)
        share = min(THREATS_BYTES, length // THREATS_PART)
        wins = max(share // sizes["threats_bucket"], 64)
        tree = Block(sizes["tree_head"] + buckets * sizes["tree_bucket"], huge=patient)
        lists = Block(blocks * sizes["tree_block"], huge=patient)
        self.library.tree_new(tree.address, buckets, blocks)
        walkers = []
        for _ in range(self.threads):
            threats = Block(sizes["threats_head"] + 2 * wins * sizes["threats_bucket"])
            self.library.threats_new(threats.address, wins, wins)
            walkers += [Block(sizes["walker"]), threats]
        return [tree, lists, *walkers], tree.length + lists.length
