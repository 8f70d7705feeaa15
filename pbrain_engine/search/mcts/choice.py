"""Which move a visit follows: the most promising one by mean and doubt.

PUCT (Rosin 2011, in the form of Silver et al. 2017) doubts a move by its share of the policy
and its visits.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64
from .chances import UNIT, rough_root
from .tree import (
    BLOCK_EDGES,
    NO_EDGE,
    PART,
    PROVEN_DRAW,
    WHOLE,
    edge_at,
    first_edge,
    mean_of,
    next_edge,
)

WIDEN = -2  # no listed move, but the next one that is not listed

_NEVER = np.int64(-(1 << 60))
_MOST_STAYING = np.int64(8)  # visits that follow one choice
_DIVISIONS = 1024  # divisors for which a multiplication does
RECIPROCALS = np.array([(1 << 20) // (1 + visits) for visits in range(_DIVISIONS)], np.int32)


@kernel
def is_open(tree, edge, at_root):
    """Return whether a visit may take a move: no proven loss, and not barred at the root."""
    if edge.proof < 0:
        return False
    cell = np.int64(edge.cell)
    return not (at_root and (tree.barred[cell >> 6] >> U64(cell & 63)) & U64(1) != U64(0))


@kernel
def promise(doubt, mean, prior, visits):
    """Return what PUCT orders moves by; ``doubt`` is 256 times the weight of the whole policy."""
    if visits < _DIVISIONS:
        return mean + (((doubt * prior) >> 8) * np.int64(RECIPROCALS[visits]) >> 20)
    return mean + ((doubt * prior) >> 8) // (1 + visits)


@kernel
def choose_puct(tree, lists, number, at_root):
    """Return the edge to follow by PUCT, WIDEN, or NO_EDGE if none is open.

    Moves stand in the order of the policy, so of those without a visit only the first
    counts. Such a move is taken for a little worse than the node, the more so the larger the
    share of the policy that has been looked at. Where the best is a proven draw, moves that are
    not listed may be better; without one the node is a draw.
    """
    node = tree.nodes[number]
    params = tree.params
    visits = np.int64(node.visits) + np.int64(node.flying)
    doubt = np.int64(params.mcts_explore) * rough_root(visits) // 100
    best = np.int64(NO_EDGE)
    most = _NEVER
    seen = np.int64(0)  # share of the policy
    prior = np.int64(0)
    fresh = False
    at = first_edge(node)
    while at != NO_EDGE and not fresh:
        edge = edge_at(lists, at)
        prior = np.int64(edge.prior)
        if is_open(tree, edge, at_root):
            own = np.int64(edge.visits)
            flying = np.int64(params.mcts_virtual) * np.int64(edge.flying)
            if own + flying == 0:
                fresh = True
                break
            mean = np.int64(edge.average)
            if flying > 0:
                mean = mean * own // (own + flying)
            score = promise(doubt, mean, prior, own + flying)
            if score > most:
                most = score
                best = at
        seen += prior
        at = next_edge(lists, at)
    if fresh or node.listing == PART:
        fear = np.int64(params.mcts_fpu) * rough_root(min(seen, UNIT)) // 1000
        score = promise(doubt, mean_of(node) - fear, prior, 0)
        if score > most:
            return at if fresh else np.int64(WIDEN)
    if node.listing != WHOLE and (best == NO_EDGE or edge_at(lists, best).proof == PROVEN_DRAW):
        return np.int64(WIDEN)
    return best


@kernel
def choose_evenly(tree, lists, number):
    """Return the least visited of the root's ``tree.lines`` most visited open edges."""
    node = tree.nodes[number]
    bound = np.int64(1) << 40
    best = np.int64(NO_EDGE)
    for _ in range(tree.lines):
        most = np.int64(-1)
        at = first_edge(node)
        found = np.int64(NO_EDGE)
        while at != NO_EDGE:
            edge = edge_at(lists, at)
            rank = (np.int64(edge.visits) << 16) - (at & 0xFFFF)
            if is_open(tree, edge, True) and edge.proof == 0 and most < rank < bound:
                most = rank
                found = at
            at = next_edge(lists, at)
        if found == NO_EDGE:
            break
        bound = most
        best = found
    return best


@kernel
def choose(tree, lists, number, at_root):
    """Return the edge that the next visit follows at a node with lists, WIDEN or NO_EDGE."""
    node = tree.nodes[number]
    if at_root and tree.lines > 1 and node.visits & 1:
        at = choose_evenly(tree, lists, number)
        if at != NO_EDGE:
            return at
    return choose_puct(tree, lists, number, at_root)


@kernel
def edge_to_stay(walker, tree, lists, number, depth):
    """Return the edge that the visit before took at a node if this one may follow it, or NO_EDGE.

    Where a node has been visited often, one visit hardly changes the choice; to make it only
    every few visits leaves more of the path as it is on the board.
    """
    node = tree.nodes[number]
    visits = np.int64(node.visits)
    each = min(1 + visits // np.int64(tree.params.mcts_stay), _MOST_STAYING)
    at = np.int64(walker.edges[depth])
    block = lists.blocks[at // BLOCK_EDGES]
    if visits % each == 0 or block.owner != number or at % BLOCK_EDGES >= block.used:
        return np.int64(NO_EDGE)
    if depth == 0 and tree.lines > 1:
        return np.int64(NO_EDGE)
    return at if is_open(tree, edge_at(lists, at), depth == 0) else np.int64(NO_EDGE)
