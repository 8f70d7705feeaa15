"""A visit: down the tree to a position it does not know, judge that, and carry the news up.

What is proven goes up too (MCTS-Solver, Winands et al. 2008). Going down needs the tree
alone; the board follows only to where something has to be judged or listed. A visit that
comes by another way to a node that knows more than its edge does takes over what the node
knows, and ends there.
"""

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, breathe
from ...position.board import bit_of, key_after
from ...position.geometry import NO_CELL
from ..threats.defence import loss_in
from ..threats.memory import UNLIMITED, begin, cell_in
from .chances import UNIT
from .moves import WIDEN, choose, edge_to_stay, list_first, list_more
from .tree import (
    NO_BLOCK,
    NO_EDGE,
    NO_NODE,
    NO_PROOF,
    WHOLE,
    add_edge,
    before,
    claim_node,
    edge_at,
    edge_of,
    find_node,
    first_edge,
    lock_tree,
    mean_of,
    next_edge,
    settle,
    sure_chance,
    unlock_tree,
)
from .walker import (
    MAX_PATH,
    follow,
    judge_leaf,
    proof_by_fours,
    step,
    wins_by_threats,
)

# How a way down ends.
NEW = 0  # at a position that has no node
LISTLESS = 1  # at a node that has no moves yet
WIDER = 2  # at a node that needs more moves
BUSY = 4  # at a node that is worth a look for a forced win
KNOWN = 3  # where the tree knows the answer: walker.proof, or the node's mean
NOWHERE = 5  # at the root: no move is open


@kernel
def child_of(tree, edge, key):
    """Return the node behind an edge, whose position has this key, or NO_NODE."""
    child = np.int64(edge.child)
    if child != NO_NODE and tree.nodes[child].key == key and tree.nodes[child].visits > 0:
        return child
    child = find_node(tree, key)
    edge.child = child
    return child


@kernel
def pass_node(walker, tree, number, depth):
    """Note a node on the path; it is not recycled before the visit has gone up again."""
    walker.nodes[depth] = number
    walker.depth = depth
    tree.nodes[number].flying += 1
    tree.nodes[number].generation = tree.generation


@kernel
def busy_rank(params, visits):
    """Return which time it is that a node is looked at for a forced win, or -1 if it is none."""
    rank = 0
    at = np.int64(params.mcts_busy)
    if params.mcts_threes == 0:
        return -1
    while at < visits:
        at = at * 8
        rank += 1
    return rank if at == visits else -1


@kernel
def go_down(walker, tables, tree, lists):
    """Choose the path of a visit; return how it ends. ``walker.depth`` is its edges.

    The path's last node, unless the way ends behind an edge, is ``walker.nodes[depth]``.
    """
    number = tree.root
    side = walker.side
    walker.key = tree.nodes[number].key
    pass_node(walker, tree, number, 0)
    while True:
        depth = walker.depth
        node = tree.nodes[number]
        if node.block == NO_BLOCK:
            return LISTLESS
        if depth > 0 and busy_rank(tree.params, np.int64(node.visits)) >= 0:
            return BUSY
        at = edge_to_stay(walker, tree, lists, number, depth)
        if at == NO_EDGE:
            at = choose(tree, lists, number, depth == 0)
        if at == WIDEN:
            return WIDER
        if at == NO_EDGE:
            return NOWHERE
        edge = edge_at(lists, at)
        cell = np.int64(edge.cell)
        edge.flying += 1
        walker.edges[depth] = at
        walker.cells[depth] = cell
        walker.key = key_after(walker.key, tables.zobrist, side, cell)
        walker.depth = depth + 1
        side = 1 - side
        child = child_of(tree, edge, walker.key)
        if child == NO_NODE:
            return NEW
        known = tree.nodes[child]
        if known.proof != NO_PROOF or known.visits >= edge.visits + edge.flying:
            return KNOWN
        if depth + 2 >= MAX_PATH:
            return KNOWN
        number = child
        pass_node(walker, tree, number, depth + 1)


@kernel
def go_up(walker, tree, lists, depth, child, chance, proof):
    """Carry a chance and a proof of the position behind the path's last edge to the root.

    ``child`` is that position's node, or NO_NODE; ``chance`` is for its side to move.
    """
    for k in range(depth - 1, -1, -1):
        number = np.int64(walker.nodes[k])
        node = tree.nodes[number]
        edge = edge_at(lists, np.int64(walker.edges[k]))
        edge.flying -= 1
        edge.visits += 1
        if child != NO_NODE:
            edge.child = child
            edge.average = UNIT - mean_of(tree.nodes[child])
        else:
            visits = np.int64(edge.visits)
            edge.average = (np.int64(edge.average) * (visits - 1) + UNIT - chance) // visits
        if proof != NO_PROOF and edge.proof == NO_PROOF:
            edge.proof = before(proof)
            settle(tree, lists, number)
        chance = UNIT - chance
        proof = np.int64(node.proof)
        if proof != NO_PROOF:
            chance = np.int64(sure_chance(proof))
        node.flying -= 1
        node.visits += 1
        node.total += chance
        child = number


@kernel
def enter_node(walker, tree, lists, depth, chance, proof):
    """Put the judged position behind the path's last edge into the tree; return its node.

    Where a node was recycled, its edge still knows what visits have brought: the new one
    begins with that.
    """
    number = find_node(tree, walker.key)
    if number == NO_NODE:
        number = claim_node(tree, lists, walker.key)
        if number == NO_NODE:
            return number
        edge = edge_at(lists, np.int64(walker.edges[depth - 1]))
        node = tree.nodes[number]
        node.visits = edge.visits
        node.total = (UNIT - np.int64(edge.average)) * np.int64(edge.visits)
    node = tree.nodes[number]
    if node.proof == NO_PROOF:
        node.proof = proof
    node.visits += 1
    node.total += chance
    return number


@kernel
def note_taken(walker, tree, lists, number):
    """Note the moves that a node has on its lists; return how many they are."""
    walker.taken[:] = U64(0)
    count = 0
    at = first_edge(tree.nodes[number])
    while at != NO_EDGE:
        cell = np.int64(edge_at(lists, at).cell)
        walker.taken[cell >> 6] |= bit_of(cell)
        count += 1
        at = next_edge(lists, at)
    return count


@kernel
def hang_moves(walker, tree, lists, number):
    """Put the listed moves on a node's lists; return 1, or 0 if there was no room for all."""
    for i in range(walker.count):
        if add_edge(tree, lists, number, cell_in(walker.moves[i]), walker.priors[i]) == NO_EDGE:
            return 0
    tree.nodes[number].listing = walker.listing
    tree.nodes[number].least = walker.least
    return 1


@kernel
def grow(walker, threats, evaluator, tree, lists, kind):
    """List moves at the end of the path, try the first of them, and carry that up.

    Called with the tree locked, and returns so; while the moves are listed and judged the
    others may walk.
    """
    tables = evaluator.tables
    depth = walker.depth
    number = np.int64(walker.nodes[depth])
    known = note_taken(walker, tree, lists, number)
    unlock_tree(tree)

    follow(walker, threats, tables, depth)
    chance = np.int64(0)
    proof = np.int64(NO_PROOF)
    walker.count = 0
    if kind == LISTLESS:
        if depth > 0:
            proof = proof_by_fours(threats, tables, np.int64(tree.params.mcts_more_fours))
        if proof == NO_PROOF:
            list_first(walker, threats, evaluator, tree.params, depth == 0)
    else:
        list_more(walker, threats, evaluator, tree.params)
    count = walker.count
    cell = cell_in(walker.moves[0]) if count > 0 else np.int64(NO_CELL)
    side = np.int64(threats.state.position.side)
    key = walker.key
    if count > 0:
        step(walker, threats, tables, cell)
        chance = judge_leaf(walker, threats, evaluator, tree)
        proof = walker.proof

    lock_tree(tree)
    node = tree.nodes[number]
    node.flying -= 1
    at = np.int64(NO_EDGE)
    is_first = note_taken(walker, tree, lists, number) == known  # no other thread was here
    if proof != NO_PROOF and count == 0:
        node.proof = proof
    elif count == 0:
        if is_first:
            if kind == LISTLESS:  # a threat or a foul that cannot be helped
                node.proof = loss_in(walker.least if walker.least > 0 else np.int64(2))
            else:
                node.listing = WHOLE
            if node.proof == NO_PROOF:
                settle(tree, lists, number)
    else:
        if is_first:
            node.flying += 1
            hang_moves(walker, tree, lists, number)
            node.flying -= 1
        at = edge_of(lists, node, cell)
    if at == NO_EDGE:
        chance = mean_of(node) if count == 0 else UNIT - chance
        node.visits += 1
        node.total += chance
        go_up(walker, tree, lists, depth, number, chance, np.int64(node.proof))
        return
    edge_at(lists, at).flying += 1
    node.flying += 1
    walker.edges[depth] = at
    walker.cells[depth] = cell
    walker.key = key_after(key, tables.zobrist, side, cell)
    child = enter_node(walker, tree, lists, depth + 1, chance, proof)
    go_up(walker, tree, lists, depth + 1, child, chance, proof)


@kernel
def look(walker, threats, tables, tree, lists):
    """Look for a forced win at the end of the path; the visit brings that, or what is known.

    Called with the tree locked, and returns so.
    """
    depth = walker.depth
    number = np.int64(walker.nodes[depth])
    rank = busy_rank(tree.params, np.int64(tree.nodes[number].visits))
    unlock_tree(tree)
    follow(walker, threats, tables, depth)
    proof = wins_by_threats(threats, tables, np.int64(tree.params.mcts_threes) << (2 * rank))
    lock_tree(tree)
    node = tree.nodes[number]
    if proof != NO_PROOF and node.proof == NO_PROOF:
        node.proof = proof
    chance = mean_of(node)
    node.flying -= 1
    node.visits += 1
    node.total += chance
    go_up(walker, tree, lists, depth, number, chance, np.int64(node.proof))


@kernel
def visit(walker, threats, evaluator, tree, lists):
    """Make one visit with the tree locked; return 0 if no move was open at the root."""
    tables = evaluator.tables
    kind = go_down(walker, tables, tree, lists)
    depth = walker.depth
    walker.seldepth = max(walker.seldepth, depth)
    if kind == NOWHERE:
        number = np.int64(walker.nodes[depth])
        node = tree.nodes[number]
        node.flying -= 1
        if depth == 0:
            return 0
        go_up(walker, tree, lists, depth, number, mean_of(node), np.int64(node.proof))
        walker.visits += 1
        return 1
    if kind == KNOWN:
        edge = edge_at(lists, np.int64(walker.edges[depth - 1]))
        child = np.int64(edge.child)
        node = tree.nodes[child]
        node.generation = tree.generation
        go_up(walker, tree, lists, depth, child, mean_of(node), np.int64(node.proof))
    elif kind == NEW:
        unlock_tree(tree)
        follow(walker, threats, tables, depth)
        chance = judge_leaf(walker, threats, evaluator, tree)
        proof = walker.proof
        lock_tree(tree)
        child = enter_node(walker, tree, lists, depth, chance, proof)
        go_up(walker, tree, lists, depth, child, chance, proof)
    elif kind == BUSY:
        look(walker, threats, tables, tree, lists)
    else:
        grow(walker, threats, evaluator, tree, lists, kind)
    walker.visits += 1
    return 1


@kernel
def walk(walker, threats, evaluator, tree, lists, visits):
    """Make this many more visits; return 1, or 0 if the search was stopped or has nothing to do.

    The board is back at the root when it returns.
    """
    begin(threats, UNLIMITED)
    result = np.int64(1)
    lock_tree(tree)
    for _ in range(visits):
        if tree.stop != 0 or tree.nodes[tree.root].proof != NO_PROOF or breathe(64) != 0:
            result = np.int64(0)
            break
        if visit(walker, threats, evaluator, tree, lists) == 0:
            result = np.int64(0)
            break
    unlock_tree(tree)
    follow(walker, threats, evaluator.tables, 0)
    return result
