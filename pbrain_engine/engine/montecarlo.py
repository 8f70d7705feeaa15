"""Monte Carlo tree search as a searcher: one tree for all threads, and a walker for each."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from ..native.load.library import Library
from ..native.load.memory import Block
from ..position.geometry import cell_of
from ..search.mcts.params import NAMES, PARAMETERS
from .searcher import Question
from .tree_search import TreeSearch, Walker

NODES_SHARE = 4  # one part in so many of the memory is for nodes, the others for their moves
MOST_BUCKETS = 1 << 23
MOST_BLOCKS = 1 << 22
EVERYTHING = 1 << 62  # bytes
THREATS_BYTES = 2 << 20  # of each table, of wins by fours and by threes, that a walker looks for
THREATS_PART = 16  # but no more than one part in so many of the memory
LEAST_BYTES = 1 << 20


class Layout(NamedTuple):
    """The sizes in bytes of the kernel's memory blocks."""

    head: int
    bucket: int
    block: int
    walker: int
    node: int
    threats_head: int
    threats_bucket: int


def layout_of(library: Library) -> Layout:
    """Return the block sizes of a kernel."""
    out = (ctypes.c_int64 * 5)()
    library.tree_layout(ctypes.addressof(out))
    threats = (ctypes.c_int64 * 2)()
    library.threats_layout(ctypes.addressof(threats))
    return Layout(*out, *threats)


class MonteCarlo:
    """The memory of the tree search.

    The tree stays from move to move: what a search has found out about the position that
    comes to the board serves the next one. Where memory is short, what was least visited or
    longest not seen makes room.
    """

    def __init__(self, library: Library) -> None:
        """Begin without a tree."""
        self._library = library
        self._layout = layout_of(library)
        self._game = Block(_game_bytes(library))
        self._walkers: list[tuple[Block, Block]] = []
        self._tree: Block | None = None
        self._lists: Block | None = None
        self._board: tuple[int, ...] = ()
        self._buckets = 0
        self._parameters = {name: p.default for name, p in PARAMETERS.items()}

    @property
    def game_memory(self) -> Block:
        """The engine's game; every walker gets a copy."""
        return self._game

    @property
    def table_bytes(self) -> int:
        """The bytes of the tree, 0 while there is none."""
        if self._tree is None or self._lists is None:
            return 0
        return self._tree.length + self._lists.length

    def beside(self, threads: int) -> int:
        """Return the bytes of the walkers that so many threads have to be given yet."""
        each = self._layout.walker + self._layout.threats_head + 2 * THREATS_BYTES
        return max(threads - len(self._walkers), 0) * each

    def enough(self, seconds: float, threads: int) -> int:
        """Return all that there is: a tree is kept from move to move as long as there is room."""
        return EVERYTHING

    def set_parameter(self, name: str, value: int) -> None:
        """Take a parameter of the tree search over."""
        if name in NAMES:
            self._parameters[name] = value
            if self._tree is not None:
                self._library.tree_parameter(self._tree.address, NAMES.index(name), value)

    def forget_game(self) -> None:
        """Nothing: a tree is about positions, whichever game they come up in."""

    def prepare(self, length: int, patient: bool) -> None:
        """Take about so many bytes for the tree, unless there is one."""
        if self._tree is not None:
            return
        layout, library = self._layout, self._library
        length = max(length, LEAST_BYTES) - layout.head - layout.node
        buckets = min(length // NODES_SHARE // layout.bucket, MOST_BUCKETS)
        blocks = min((length - length // NODES_SHARE) // layout.block, MOST_BLOCKS)
        self._buckets = max(min(THREATS_BYTES, length // THREATS_PART) // layout.threats_bucket, 64)
        tree = Block(layout.head + layout.node + buckets * layout.bucket, huge=patient)
        self._lists = Block(blocks * layout.block, huge=patient)
        library.tree_new(tree.address, buckets, blocks)
        for name, value in self._parameters.items():
            library.tree_parameter(tree.address, NAMES.index(name), value)
        self._tree = tree
        self._board = ()

    def clear(self) -> None:
        """Give the memory of the tree and of the walkers back."""
        blocks = [self._tree, self._lists, *(block for pair in self._walkers for block in pair)]
        self._tree = self._lists = None
        self._walkers = []
        for block in blocks:
            if block is not None:
                block.close()

    def stop(self) -> None:
        """Make all threads return."""
        if self._tree is not None:
            self._library.tree_stop(self._tree.address, 1)

    def release(self) -> None:
        """Make them free to run again."""
        if self._tree is not None:
            self._library.tree_stop(self._tree.address, 0)

    def begin(self, question: Question, threads: int) -> TreeSearch:
        """Plant the position in the tree, and give every thread a walker at it."""
        assert self._tree is not None and self._lists is not None, "prepare comes first"
        library, game = self._library, question.game
        tree, lists = self._tree.address, self._lists.address
        while len(self._walkers) < threads:
            self._walkers.append(self._new_walker())
        walkers = [Walker(w.address, t.address) for w, t in self._walkers[:threads]]
        library.tree_begin(tree, question.multipv, max(round(question.scale), 1))
        for move in question.exclude:
            library.tree_bar(tree, cell_of(*move))
        first, *others = walkers
        moves = library.walker_plant(
            first.address, first.threats, game.tables, tree, lists, game.address,
            int(question.multipv == 1),
        )  # fmt: skip
        for walker in others:
            library.walker_board(walker.address, walker.threats, game.tables, game.address)
        return TreeSearch(library, walkers, tree, lists, moves, question)

    def _new_walker(self) -> tuple[Block, Block]:
        """Return the memory of a walker and of its threat searches."""
        layout = self._layout
        threats = Block(layout.threats_head + 2 * self._buckets * layout.threats_bucket)
        self._library.threats_new(threats.address, self._buckets, self._buckets)
        return Block(layout.walker), threats


def _game_bytes(library: Library) -> int:
    """Return the bytes of a game."""
    out = (ctypes.c_int64 * 5)()
    library.layout(ctypes.addressof(out))
    return out[1]
