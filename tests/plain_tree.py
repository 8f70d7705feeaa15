"""The tree search without the compiler: the exported kernels called as plain Python functions."""

from __future__ import annotations

import ctypes

from pbrain_engine.native import exports, exports_mcts, exports_threats
from pbrain_engine.position.geometry import cell_of
from pbrain_engine.search.parameters import MCTS


def block(length: int) -> ctypes.c_void_p:
    """Return zeroed memory that lives as long as its address."""
    memory = ctypes.create_string_buffer(length)
    address = ctypes.cast(memory, ctypes.c_void_p)
    address.memory = memory  # type: ignore[attr-defined]
    return address


class PlainTree:
    """A tree search on a small board, in plain Python."""

    def __init__(self, size: int, rule: int, buckets: int = 512, blocks: int = 1024) -> None:
        """Make the memory, and an empty board."""
        sizes = (ctypes.c_int64 * 5)()
        exports.layout(ctypes.cast(sizes, ctypes.c_void_p))
        self.tables, self.game = block(sizes[0]), block(sizes[1])
        exports.build_tables(self.tables, rule)
        exports.game_new(self.game, self.tables, size, size)
        layout = (ctypes.c_int64 * 5)()
        exports_mcts.tree_layout(ctypes.cast(layout, ctypes.c_void_p))
        head, bucket, of_block, walker, node = layout
        self.tree = block(head + node + buckets * bucket)
        self.lists = block(blocks * of_block)
        self.walker = block(walker)
        threats = (ctypes.c_int64 * 2)()
        exports_threats.threats_layout(ctypes.cast(threats, ctypes.c_void_p))
        self.threats = block(threats[0] + 256 * threats[1])
        exports_threats.threats_new(self.threats, 192, 64)
        exports_mcts.tree_new(self.tree, buckets, blocks)
        for name, parameter in MCTS.items():
            self.set(name, parameter.default)

    def set(self, name: str, value: int) -> None:
        """Set a parameter of the search."""
        exports_mcts.tree_parameter(self.tree, list(MCTS).index(name), value)

    def play(self, x: int, y: int) -> None:
        """Play a stone of the side to move."""
        side = exports.carray(self.game, (1,), exports.STATE)[0].position.side
        exports.game_place(self.game, self.tables, cell_of(x, y), int(side))
        exports.game_pass(self.game)

    def plant(self) -> None:
        """Make the position the root."""
        exports_mcts.tree_begin(self.tree, 1, 250)
        moves = exports_mcts.walker_plant(
            self.walker, self.threats, self.tables, self.tree, self.lists, self.game, 1
        )
        assert moves > 0

    def walk(self, visits: int) -> list[int]:
        """Make that many visits and return the cells that the last one passed."""
        exports_mcts.walker_walk(
            self.walker, self.threats, self.tables, self.tree, self.lists, visits
        )
        walker = exports_mcts.carray(self.walker, (1,), exports_mcts.WALKER)[0]
        return [int(cell) for cell in walker.cells[: walker.depth]]

    def search(self, visits: int) -> tuple[int, ...]:
        """Return value, visits and line of the best move after that many visits, and the effort."""
        self.plant()
        self.walk(visits)
        exports_mcts.walker_rank(self.walker, self.tree, self.lists)
        out = (ctypes.c_int64 * 10)()
        pointer = ctypes.cast(out, ctypes.c_void_p)
        length = exports_mcts.walker_way(
            self.walker, self.tables, self.tree, self.lists, 0, pointer, 8
        )
        effort = (ctypes.c_int64 * 3)()
        exports_mcts.walker_effort(self.walker, ctypes.cast(effort, ctypes.c_void_p))
        return (*effort, *out[: length + 2])
