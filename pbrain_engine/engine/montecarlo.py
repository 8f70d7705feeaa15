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
from .searcher import Question, Search, Searcher, Tactics
from .thought import Thought, rank_lines

NODES_SHARE = 4  # one part in this many of the memory is for nodes, the others for their moves
MOST_BUCKETS = 1 << 23
MOST_BLOCKS = 1 << 22
EVERYTHING = 1 << 62  # bytes
THREATS_BYTES = 2 << 20  # of each table, of wins by fours and by threes, that a walker looks for
THREATS_PART = 16  # but no more than one part in this many of the memory
LEAST_BYTES = 1 << 20
FIRST_ROUND = 32  # visits
ROUND_PART = 5  # each further round is one part in this many of the visits so far
MOST_VISITS = 1 << 40
HELP_VISITS = 1_000  # after which a helper lets go of a tree that it need not leave otherwise
HELP_PAUSE = 0.001  # seconds that it leaves the tree alone where it has found nothing new
SURE_VISITS = 256  # an only move is looked at so long before it is played
MAX_LINE = 64  # moves of a line that a thought reports
CHANCE_UNIT = 65536  # a sure win, as the kernel counts chances
VISIT_WORTH = 40  # positions of the alpha-beta that a visit counts as, for the tactics


class Walker(NamedTuple):
    """Where a thread's walker and its threat searches live."""

    address: int
    threats: int


class Effort(NamedTuple):
    """What a walker counts, in the kernel's order."""

    visits: int
    judged: int
    seldepth: int


class TreeSearch(Search):
    """A search on memory that is set up: the tree with the position at its root, and walkers."""

    def __init__(
        self,
        library: Library,
        question: Question,
        tactics: Tactics | None,
        walkers: list[Walker],
        tree: int,
        lists: int,
        moves: int,
    ) -> None:
        """Take the addresses, and how many moves may be played at the root."""
        super().__init__(library, question, tactics)
        self._walkers = walkers
        self._leader = walkers[0]
        self._tree = tree
        self._lists = lists
        self._moves = moves
        self._tables = question.game.tables
        self._changes = 0
        self._line = (ctypes.c_int64 * (MAX_LINE + 2))()
        self.helpers += [partial(self._help, walker) for walker in walkers[1:]]

    def _walk(self, walker: Walker, visits: int) -> bool:
        """Make this many visits; False if they were stopped or there is nothing to find out."""
        return bool(
            self.library.walker_walk(
                walker.address, walker.threats, self._tables, self._tree, self._lists, visits
            )
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
        if self._moves == 0 or self.has_won():
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
        return self.library.walker_rank(self._leader.address, self._tree, self._lists)

    def _count(self, walker: Walker) -> Effort:
        """Return what a walker has counted."""
        out = (ctypes.c_int64 * len(Effort._fields))()
        self.library.walker_effort(walker.address, ctypes.addressof(out))
        return Effort(*out)

    def _effort(self) -> tuple[int, int]:
        """Return the positions and visits of all threads."""
        efforts = [self._count(walker) for walker in self._walkers]
        return sum(e.judged for e in efforts), sum(e.visits for e in efforts)

    def _read(self, rank: int) -> Thought:
        """Make a thought of what the tree knows of a root move."""
        out = self._line
        length = self.library.walker_way(
            self._leader.address, self._tables, self._tree, self._lists, rank,
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
        """Begin without a tree."""
        super().__init__(library, "tree", MCTS)
        self._game = Block(library.sizes["worker"])
        self._walkers: list[tuple[Block, Block]] = []
        self._lists: Block | None = None
        self._buckets = 0

    @property
    def game_memory(self) -> Block:
        """The engine's game, in a worker, which says values and moves; every walker gets a copy."""
        return self._game

    @property
    def table_bytes(self) -> int:
        """The bytes of the tree, 0 while there is none."""
        if self._block is None or self._lists is None:
            return 0
        return self._block.length + self._lists.length

    def forget_game(self) -> None:
        """Nothing: a tree is about positions, whichever game they come up in."""

    def _still_to_come(self) -> int:
        """Return the bytes of the walkers still to allocate."""
        sizes = self._library.sizes
        each = sizes["walker"] + sizes["threats_head"] + 2 * THREATS_BYTES
        return max(self.threads - len(self._walkers), 0) * each

    def _useful(self, seconds: float) -> int:
        """Return all that there is: a tree is kept from move to move as long as there is room."""
        return EVERYTHING

    def _take(self, length: int, patient: bool) -> None:
        """Take about ``length`` bytes for the tree."""
        sizes = self._library.sizes
        length = max(length, LEAST_BYTES) - sizes["tree_head"]
        buckets = min(length // NODES_SHARE // sizes["tree_bucket"], MOST_BUCKETS)
        blocks = min((length - length // NODES_SHARE) // sizes["tree_block"], MOST_BLOCKS)
        share = min(THREATS_BYTES, length // THREATS_PART)
        self._buckets = max(share // sizes["threats_bucket"], 64)
        tree = Block(sizes["tree_head"] + buckets * sizes["tree_bucket"], huge=patient)
        self._lists = Block(blocks * sizes["tree_block"], huge=patient)
        self._library.tree_new(tree.address, buckets, blocks)
        self._adopt(tree)

    def _give_back(self) -> None:
        """Give the memory of the tree and of the walkers back."""
        blocks = [self._block, self._lists, *(block for pair in self._walkers for block in pair)]
        self._block = self._lists = None
        self._walkers = []
        for block in blocks:
            if block is not None:
                block.close()

    def _begin(self, question: Question, tactics: Tactics | None) -> TreeSearch:
        """Plant the position in the tree, and give every thread a walker at it."""
        assert self._block is not None and self._lists is not None, "the tree comes first"
        library, game = self._library, question.game
        tree, lists = self._block.address, self._lists.address
        sizes = library.sizes
        while len(self._walkers) < self.threads:
            tables = 2 * self._buckets * sizes["threats_bucket"]
            memory = Block(sizes["threats_head"] + tables)
            library.threats_new(memory.address, self._buckets, self._buckets)
            self._walkers.append((Block(sizes["walker"]), memory))
        walkers = [Walker(w.address, t.address) for w, t in self._walkers[: self.threads]]
        library.tree_begin(tree, question.multipv, max(round(question.game.scale), 1))
        for move in question.exclude:
            library.tree_bar(tree, cell_of(*move))
        first, *others = walkers
        moves = library.walker_plant(
            first.address, first.threats, game.tables, tree, lists, game.address,
            int(question.multipv == 1),
        )  # fmt: skip
        for walker in others:
            library.walker_board(walker.address, walker.threats, game.tables, game.address)
        return TreeSearch(library, question, tactics, walkers, tree, lists, moves)
