"""The C interface of the tree search: its memory, its visits, and what the root has learned.

A *tree* is a head with its nodes, *lists* the pool of their moves, both shared by all threads;
a *walker* is one thread's. A walker plays on the game of a *threats* block of its own.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..eval.evaluator import EVALUATOR
from ..kernel import SIZES, export, export_kernel
from ..kernel.bits import U64
from ..patterns.state import STATE
from ..patterns.tables import TABLES
from ..position.board import bit_of
from ..search.mcts.root import (
    board_at,
    plant,
    prove_move,
    rank_root,
    value_of_edge,
    write_line,
)
from ..search.mcts.tree import (
    BLOCK,
    BUCKET,
    HEAD_BYTES,
    LISTS,
    NODE,
    TREE,
    edge_at,
    lock_tree,
    unlock_tree,
)
from ..search.mcts.walk import walk
from ..search.mcts.walker import WALKER
from ..search.threats.memory import THREATS

SIZES.update(
    tree_head=HEAD_BYTES + NODE.itemsize,  # with the node that is never used
    tree_bucket=BUCKET * NODE.itemsize,
    tree_block=BLOCK.itemsize,
    walker=WALKER.itemsize,
)

_OF_WALKER = (WALKER, THREATS, EVALUATOR, TREE, LISTS)
export_kernel("walker_plant", plant, *_OF_WALKER, STATE, int)  # distinct
export_kernel("walker_board", board_at, WALKER, THREATS, EVALUATOR, STATE)
export_kernel("walker_walk", walk, *_OF_WALKER, int)  # visits
export_kernel("walker_rank", rank_root, WALKER, TREE, LISTS)
export_kernel("tree_prove", prove_move, TREE, LISTS, int, int)  # cell, proof


@export
def tree_new(tree: TREE, buckets, blocks):
    """Set up a tree in zeroed memory: buckets of nodes behind its head, blocks in its lists."""
    tree.buckets = buckets
    tree.blocks = blocks
    tree.unused = 1
    tree.lines = 1
    return 0


@export
def tree_begin(tree: TREE, lines, scale):
    """Begin a search: what earlier ones left makes room first, no cell is barred.

    ``lines``: how many root moves are looked at evenly; ``scale``: points of value that are
    one logistic unit of chance.
    """
    tree.generation = (tree.generation + 1) & 255
    tree.lines = lines
    tree.scale = scale
    tree.barred[:] = U64(0)
    return tree.generation


@export
def tree_bar(tree: TREE, cell):
    """Keep a cell from being played at the root."""
    lock_tree(tree)
    tree.barred[cell >> 6] |= bit_of(cell)
    unlock_tree(tree)
    return 0


@export
def walker_effort(walker: WALKER, out_p):
    """Write visits, judged positions and the deepest ply of a walker's search."""
    out = carray(out_p, (3,), np.int64)
    out[0] = walker.visits
    out[1] = walker.judged
    out[2] = walker.seldepth
    return 3


@export
def walker_way(
    walker: WALKER, tables: TABLES, tree: TREE, lists: LISTS, place_in_order, out_p, room
):
    """Write value, visits and line of a root move by its rank; return the line's length."""
    out = carray(out_p, (room + 2,), np.int64)
    lock_tree(tree)
    at = np.int64(walker.order[place_in_order])
    edge = edge_at(lists, at)
    out[0] = value_of_edge(tree, edge)
    out[1] = edge.visits
    length = write_line(walker, tables, tree, lists, at, out[2:], room)
    unlock_tree(tree)
    return length
