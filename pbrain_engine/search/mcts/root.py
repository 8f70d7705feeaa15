"""The root of the tree: what has to be there before the first visit, and what the host reads."""

import numpy as np

from ...eval.evaluator import begin as begin_evaluation
from ...kernel import kernel
from ...kernel.bits import U64
from ...position.board import bit_of, contains, key_after
from ...values import DRAW, WIN_BAND
from ..alphabeta.root import has_twin, symmetries_of
from ..threats.defence import loss_in
from ..threats.memory import UNLIMITED, adopt, begin
from .chances import value_of_chance
from .moves import (
    divide_priors,
    list_candidates,
    list_first,
    list_more,
    sort_moves,
    write_priors,
)
from .tree import (
    NO_BLOCK,
    NO_EDGE,
    NO_NODE,
    NO_PROOF,
    PART,
    PROVEN_DRAW,
    claim_node,
    edge_at,
    edge_of,
    find_node,
    first_edge,
    lock_tree,
    mean_of,
    next_edge,
    settle,
    unlock_tree,
)
from .walk import hang_moves, note_taken
from .walker import judge_leaf

_SURE = np.int64(1) << 56  # a rank above and below all that is not proven


@kernel
def board_at(walker, threats, evaluator, state):
    """Take a game over: the walker's board is that of the root."""
    adopt(threats, state)
    begin(threats, UNLIMITED)
    begin_evaluation(walker.accumulator, evaluator, threats.state)
    walker.line_end = 0
    walker.depth = 0
    walker.edges[:] = 0
    walker.side = np.int64(state.position.side)
    walker.visits = 0
    walker.judged = 0
    walker.seldepth = 0


@kernel
def list_root(walker, threats, evaluator, tree, lists, number):
    """Give the root its moves: all near the stones, or all answers; in a lost game any.

    Returns what is proven without a move: that it is lost, where no answer is left.
    """
    node = tree.nodes[number]
    proof = np.int64(NO_PROOF)
    if node.block == NO_BLOCK:
        list_first(walker, threats, evaluator, tree.params, True)
        if walker.count == 0:
            if walker.least > 0:
                proof = loss_in(walker.least)
            list_candidates(walker, threats, evaluator.tables)
            if walker.count > 0:
                total = write_priors(walker, threats, evaluator, tree.params)
                sort_moves(walker, walker.count)
                divide_priors(walker, total)
        hang_moves(walker, tree, lists, number)
    while node.listing == PART:
        note_taken(walker, tree, lists, number)
        list_more(walker, threats, evaluator, tree.params)
        if hang_moves(walker, tree, lists, number) == 0:
            break
    return proof


@kernel
def bar_twins(walker, threats, tree, lists, number):
    """Bar the root moves that a symmetry of the position takes to a likelier one."""
    position = threats.state.position
    symmetries = symmetries_of(position)
    kept = 0
    at = first_edge(tree.nodes[number])
    while at != NO_EDGE:
        cell = np.int64(edge_at(lists, at).cell)
        if has_twin(position, symmetries, walker.order, kept, cell):
            tree.barred[cell >> 6] |= bit_of(cell)
        else:
            walker.order[kept] = cell
            kept += 1
        at = next_edge(lists, at)


@kernel
def free_barred(tree, lists, number):
    """Let all root moves be played if every one is barred."""
    at = first_edge(tree.nodes[number])
    while at != NO_EDGE:
        if not contains(tree.barred, np.int64(edge_at(lists, at).cell)):
            return
        at = next_edge(lists, at)
    tree.barred[:] = U64(0)


@kernel
def plant(walker, threats, evaluator, tree, lists, state, distinct):
    """Make a game's position the root, with its moves; return how many may be played.

    What the tree knows of it from earlier searches stays. ``distinct``: of moves that are
    alike by symmetry only one may be played.
    """
    board_at(walker, threats, evaluator, state)
    tree.root = NO_NODE
    key = threats.state.position.key
    number = find_node(tree, key)
    if number == NO_NODE:
        number = claim_node(tree, lists, key)
        node = tree.nodes[number]
        node.total = judge_leaf(walker, threats, evaluator, tree)
        node.visits = 1
    node = tree.nodes[number]
    node.generation = tree.generation
    tree.root = number
    node.proof = NO_PROOF  # a proof alone names no move
    proof = list_root(walker, threats, evaluator, tree, lists, number)
    free_barred(tree, lists, number)
    if distinct != 0:
        bar_twins(walker, threats, tree, lists, number)
    if proof != NO_PROOF:
        node.proof = proof
    else:
        settle(tree, lists, number)
    return rank_root(walker, tree, lists)


# Reading ----------------------------------------------------------------------------


@kernel
def rank_of(edge):
    """Return by how much a move is to be preferred: won, then visited, then lost late."""
    proof = np.int64(edge.proof)
    if proof >= WIN_BAND:
        return _SURE + proof
    if proof <= -WIN_BAND:
        return proof - _SURE
    return (np.int64(edge.visits) << 17) + np.int64(edge.average)


@kernel
def best_edge(lists, node):
    """Return the edge that a node prefers, or NO_EDGE."""
    best = first_edge(node)
    at = best
    while at != NO_EDGE:
        if rank_of(edge_at(lists, at)) > rank_of(edge_at(lists, best)):
            best = at
        at = next_edge(lists, at)
    return best


@kernel
def rank_root(walker, tree, lists):
    """Write the root's edges to be played to ``walker.order``, best first; return how many."""
    lock_tree(tree)
    count = 0
    at = first_edge(tree.nodes[tree.root])
    while at != NO_EDGE:
        edge = edge_at(lists, at)
        if not contains(tree.barred, np.int64(edge.cell)):
            place = count
            rank = rank_of(edge)
            while place > 0 and rank_of(edge_at(lists, np.int64(walker.order[place - 1]))) < rank:
                walker.order[place] = walker.order[place - 1]
                place -= 1
            walker.order[place] = at
            count += 1
        at = next_edge(lists, at)
    unlock_tree(tree)
    return count


@kernel
def value_of_edge(tree, edge):
    """Return the value of a root move: what is proven, or what its mean chance stands for."""
    proof = np.int64(edge.proof)
    if proof == PROVEN_DRAW:
        return np.int64(DRAW)
    if proof != NO_PROOF:
        return proof
    root = tree.nodes[tree.root]
    if root.proof <= -WIN_BAND:
        return np.int64(root.proof)
    if edge.visits == 0:
        return value_of_chance(mean_of(root), tree.scale)
    return value_of_chance(np.int64(edge.average), tree.scale)


@kernel
def write_line(walker, tables, tree, lists, at, out, room):
    """Write a root edge's move and the moves that are preferred after it; return how many."""
    key = tree.nodes[tree.root].key
    side = walker.side
    length = 0
    while at != NO_EDGE and length < room:
        edge = edge_at(lists, at)
        if length > 0 and edge.visits == 0:
            break
        cell = np.int64(edge.cell)
        out[length] = cell
        length += 1
        key = key_after(key, tables.zobrist, side, cell)
        side = 1 - side
        at = best_edge(lists, tree.nodes[find_node(tree, key)])  # NO_NODE has no edges
    return length


@kernel
def prove_move(tree, lists, cell, proof):
    """Note what another search has proven of a root move, seen from the root, if it is one."""
    lock_tree(tree)
    at = edge_of(lists, tree.nodes[tree.root], cell)
    if at != NO_EDGE:
        edge_at(lists, at).proof = proof
        settle(tree, lists, tree.root)
    unlock_tree(tree)
    return at != NO_EDGE
