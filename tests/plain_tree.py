"""The tree search without the compiler: the exported kernels called as plain Python functions."""

from __future__ import annotations

import ctypes
from functools import cache

import numba

from pbrain_engine.kernel import EXPORTS, SIZES
from pbrain_engine.native import exports as exports
from pbrain_engine.position.geometry import cell_of
from pbrain_engine.search.mcts.walker import WALKER
from pbrain_engine.search.parameters import MCTS


def call(name: str, *arguments: object) -> int:
    """Call an exported kernel."""
    return int(EXPORTS[name][0](*arguments))


def block(length: int) -> ctypes.c_void_p:
    """Return zeroed memory that lives as long as its address."""
    memory = ctypes.create_string_buffer(length)
    address = ctypes.cast(memory, ctypes.c_void_p)
    address.memory = memory  # type: ignore[attr-defined]
    return address


@cache
def tables_of(rule: int) -> ctypes.c_void_p:
    """Return the tables of a rule, which no search changes."""
    tables = block(SIZES["evaluator"])
    call("build_tables", tables, rule)
    return tables


class PlainTree:
    """A tree search on a small board, in plain Python."""

    def __init__(self, size: int, rule: int, buckets: int = 512, blocks: int = 1024) -> None:
        """Make the memory, and an empty board."""
        self.tables, self.game = tables_of(rule), block(SIZES["game"])
        call("game_new", self.game, self.tables, size, size)
        self.tree = block(SIZES["tree_head"] + buckets * SIZES["tree_bucket"])
        self.lists = block(blocks * SIZES["tree_block"])
        self.walker = block(SIZES["walker"])
        self.threats = block(SIZES["threats_head"] + 256 * SIZES["threats_bucket"])
        call("threats_new", self.threats, 192, 64)
        call("tree_new", self.tree, buckets, blocks)
        for name, parameter in MCTS.items():
            self.set(name, parameter.default)

    def set(self, name: str, value: int) -> None:
        """Set a parameter of the search."""
        call("set_parameter", self.tree, list(MCTS).index(name), value)

    def play(self, x: int, y: int) -> None:
        """Play a stone of the side to move."""
        call("game_play", self.game, self.tables, cell_of(x, y))

    def plant(self) -> None:
        """Make the position the root."""
        call("tree_begin", self.tree, 1, 250)
        blocks = (self.walker, self.threats, self.tables, self.tree, self.lists)
        assert call("walker_plant", *blocks, self.game, 1) > 0

    def walk(self, visits: int) -> list[int]:
        """Make that many visits and return the cells that the last one passed."""
        blocks = (self.walker, self.threats, self.tables, self.tree, self.lists)
        call("walker_walk", *blocks, visits)
        walker = numba.carray(self.walker, (1,), WALKER)[0]
        return [int(cell) for cell in walker.cells[: walker.depth]]

    def search(self, visits: int) -> tuple[int, ...]:
        """Return value, visits and line of the best move after that many visits, and the effort."""
        self.plant()
        self.walk(visits)
        call("walker_rank", self.walker, self.tree, self.lists)
        out = (ctypes.c_int64 * 10)()
        pointer = ctypes.cast(out, ctypes.c_void_p)
        blocks = (self.walker, self.tables, self.tree, self.lists)
        length = call("walker_way", *blocks, 0, pointer, 8)
        effort = (ctypes.c_int64 * 3)()
        call("walker_effort", self.walker, ctypes.cast(effort, ctypes.c_void_p))
        return (*effort, *out[: length + 2])
