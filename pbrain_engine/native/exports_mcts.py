"""The C interface of the tree search: its memory, its visits, and what the root has learned.

A *tree* is a head with its nodes, *lists* the pool of their moves, both shared by all threads;
a *walker* is one thread's. A walker plays on the game of a *threats* block of its own.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..eval.evaluator import EVALUATOR
from ..kernel import export
from ..kernel.bits import U64
from ..patterns.state import STATE
from ..patterns.tables import TABLES
from ..position.board import bit_of
from ..search.mcts.chances import chance_of, value_of_chance
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
    complaint_about_tree,
    edge_at,
    lock_tree,
    unlock_tree,
)
from ..search.mcts.walk import walk
from ..search.mcts.walker import WALKER
from ..search.parameters import MCTS
from ..search.threats.memory import THREATS

_PARAMETERS = len(MCTS)
_BUCKET_BYTES = BUCKET * NODE.itemsize
_NODE_BYTES = NODE.itemsize
_BLOCK_BYTES = BLOCK.itemsize
_WALKER_BYTES = WALKER.itemsize


@export
def tree_layout(out_p):
    """Write sizes in bytes: head of a tree, bucket of nodes, block of moves, walker, node."""
    out = carray(out_p, (5,), np.int64)
    out[0] = HEAD_BYTES
    out[1] = _BUCKET_BYTES
    out[2] = _BLOCK_BYTES
    out[3] = _WALKER_BYTES
    out[4] = _NODE_BYTES
    return 5


@export
def tree_new(tree: TREE, buckets, blocks):
    """Set up a tree in zeroed memory: buckets and one node behind its head, blocks in its lists."""
    tree.buckets = buckets
    tree.blocks = blocks
    tree.unused = 1
    tree.lines = 1
    return 0


@export
def tree_parameter(tree_p, number, value):
    """Set a search parameter by its number in ``search.mcts.params``."""
    if 0 <= number < _PARAMETERS:
        carray(tree_p, (_PARAMETERS,), np.int32)[number] = value
    return 0


@export
def tree_stop(tree: TREE, stop):
    """Tell all searches to return (1), or make them free to run (0)."""
    tree.stop = stop
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
def tree_prove(tree: TREE, lists: LISTS, cell, proof):
    """Note what is proven of a root move, as a value seen from the root; 1 if it is one."""
    lock_tree(tree)
    found = prove_move(tree, lists, cell, proof)
    unlock_tree(tree)
    return found


@export
def tree_root(tree: TREE, out_p):
    """Write visits, sum of chances and proof of the root, its generation, and what was recycled."""
    out = carray(out_p, (5,), np.int64)
    node = tree.nodes[tree.root]
    out[0] = node.visits
    out[1] = node.total
    out[2] = node.proof
    out[3] = tree.generation
    out[4] = tree.recycled
    return 5


@export
def walker_plant(
    walker: WALKER,
    threats: THREATS,
    evaluator: EVALUATOR,
    tree: TREE,
    lists: LISTS,
    game: STATE,
    distinct,
):
    """Make a game's position the root; return how many moves may be played there.

    ``distinct`` 1 keeps one of the moves that a symmetry of the position takes to each other.
    """
    return plant(
        walker,
        threats,
        evaluator,
        tree,
        lists,
        game,
        distinct,
    )


@export
def walker_board(walker: WALKER, threats: THREATS, evaluator: EVALUATOR, game: STATE):
    """Let a walker beside the first one begin at the same game."""
    board_at(walker, threats, evaluator, game)
    return 0


@export
def walker_walk(
    walker: WALKER, threats: THREATS, evaluator: EVALUATOR, tree: TREE, lists: LISTS, visits
):
    """Make this many visits; return 1, or 0 if stopped or if there is nothing left to find out."""
    return walk(
        walker,
        threats,
        evaluator,
        tree,
        lists,
        visits,
    )


@export
def walker_effort(walker: WALKER, out_p):
    """Write visits, judged positions and the deepest ply of a walker's search."""
    out = carray(out_p, (3,), np.int64)
    out[0] = walker.visits
    out[1] = walker.judged
    out[2] = walker.seldepth
    return 3


@export
def walker_rank(walker: WALKER, tree: TREE, lists: LISTS):
    """Bring the root moves that may be played in order, best first; return how many they are."""
    lock_tree(tree)
    count = rank_root(walker, tree, lists)
    unlock_tree(tree)
    return count


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


@export
def chance_from_value(value, scale):
    """Return the chance to win, of 65536, that a value stands for."""
    return chance_of(value, scale)


@export
def value_from_chance(chance, scale):
    """Return the value that a chance to win, of 65536, stands for."""
    return value_of_chance(chance, scale)


@export
def tree_check(tree: TREE, lists: LISTS):
    """Return 0 if a tree that no thread walks is whole, else the number of what is wrong."""
    return complaint_about_tree(tree, lists)
