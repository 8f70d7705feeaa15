"""The moves of a node with their shares of the policy, best first, and which a visit follows.

Under a threat they are the complete answers to it: every other move is known to lose. Else
they are the cells near the stones, the likeliest ones first and more when they are asked
for; and when all of those are proven to lose, whatever is legal, so that no loss is claimed
before every move has been looked at.

A visit follows the most promising one by mean and doubt: PUCT (Rosin 2011, in the form of Silver
et al. 2017) doubts a move by its share of the policy and its visits.
"""

import numpy as np

from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.forbidden import is_forbidden
from ...patterns.state import count_of
from ...position.board import contains
from ..alphabeta.ordering import mark_candidates
from ..threats.defence import clear_marks, mark_answers, mark_class, mark_empties
from ..threats.memory import cell_in, list_marks, number_in
from ..threats.replies import mark_replies
from .chances import UNIT, rough_root, share_of, slope_of
from .tree import (
    BLOCK_EDGES,
    NEAR,
    NO_EDGE,
    PART,
    PROVEN_DRAW,
    WHOLE,
    edge_at,
    first_edge,
    mean_of,
    next_edge,
)
from .walker import judge_moves, score_unit

_FIRST = np.int64(0)  # where the threat searches may write their move lists


@kernel
def write_marks(walker, threats, tables):
    """Write the marked legal moves to the list."""
    count = 0
    for i in range(list_marks(threats, walker.moves, 0)):
        cell = walker.moves[i]
        if not is_forbidden(threats.state, tables, cell):
            walker.moves[count] = cell
            count += 1
    walker.count = count


@kernel
def drop_taken(walker):
    """Take the moves off the list that the node has already; those left keep their order."""
    kept = 0
    for i in range(walker.count):
        cell = cell_in(walker.moves[i])
        if not contains(walker.taken, cell):
            walker.moves[kept] = walker.moves[i]
            walker.priors[kept] = walker.priors[i]
            kept += 1
    walker.count = kept


@kernel
def sort_moves(walker, first):
    """Bring the best ``first`` moves to the front, best first; equal ones by their cell.

    What is not among them goes behind them in any order.
    """
    for i in range(1, walker.count):
        packed = walker.moves[i]
        prior = walker.priors[i]
        place = i
        if i >= first:
            if packed <= walker.moves[first - 1]:
                continue
            place = first - 1
            walker.moves[i] = walker.moves[place]
            walker.priors[i] = walker.priors[place]
        while place > 0 and walker.moves[place - 1] < packed:
            walker.moves[place] = walker.moves[place - 1]
            walker.priors[place] = walker.priors[place - 1]
            place -= 1
        walker.moves[place] = packed
        walker.priors[place] = prior


@kernel
def write_priors(walker, threats, evaluator, params):
    """Give the listed moves their shares: a softmax of their scores.

    The shares are still to be divided by what is returned.
    """
    judge_moves(walker, threats, evaluator)
    best = number_in(walker.moves[0])
    for i in range(walker.count):
        best = max(best, number_in(walker.moves[i]))
    total = np.int64(0)
    slope = slope_of(score_unit(evaluator, params))
    for i in range(walker.count):
        walker.priors[i] = share_of(best - number_in(walker.moves[i]), slope)
        total += walker.priors[i]
    return total


@kernel
def divide_priors(walker, total):
    """Make the shares of the listed moves parts of ``UNIT``."""
    for i in range(walker.count):
        walker.priors[i] = max(walker.priors[i] * UNIT // total, 1)


@kernel
def keep_first(walker):
    """Sort the list and keep no more moves than a block holds."""
    sort_moves(walker, BLOCK_EDGES)
    if walker.count > BLOCK_EDGES:
        walker.count = BLOCK_EDGES
        walker.listing = PART


@kernel
def list_answers(walker, threats, tables, params):
    """List the complete answers to what the enemy threatens; return 1 if he threatens something."""
    if params.mcts_replies > 0:
        threats.test_nodes = np.int64(params.mcts_replies)
        kind = mark_replies(threats, tables, _FIRST)
        plies = 2 * threats.length
    else:
        kind = mark_answers(threats, tables)
        plies = np.int64(2 if kind == s.MAKES_FIVE else 4)
    if kind == s.QUIET:
        return 0
    write_marks(walker, threats, tables)
    walker.listing = WHOLE
    walker.least = plies
    return 1


@kernel
def list_candidates(walker, threats, tables):
    """List the legal moves near the stones, or all there are if none of those is legal."""
    clear_marks(threats)
    mark_candidates(threats)
    write_marks(walker, threats, tables)
    if walker.count == 0:
        mark_empties(threats)
        write_marks(walker, threats, tables)
        walker.listing = WHOLE


@kernel
def list_first(walker, threats, evaluator, params, all_near):
    """List the moves that a node begins with; ``all_near``: not only the likeliest ones.

    None at all means that the threat cannot be met, in ``walker.least`` plies, or, where
    that is 0, that there is no legal move.
    """
    tables = evaluator.tables
    side = np.int64(threats.state.position.side)
    walker.listing = NEAR
    walker.least = 0
    if count_of(threats.state, side, s.MAKES_FIVE) > 0:
        clear_marks(threats)
        mark_class(threats, side, s.MAKES_FIVE)
        write_marks(walker, threats, tables)
        all_near = True
    elif list_answers(walker, threats, tables, params) != 0:
        all_near = True
    else:
        list_candidates(walker, threats, tables)
    if walker.count == 0:
        return
    total = write_priors(walker, threats, evaluator, params)
    if all_near:
        sort_moves(walker, walker.count)
    else:
        keep_first(walker)
    divide_priors(walker, total)


@kernel
def list_more(walker, threats, evaluator, params):
    """List the next moves of a node that has those in ``walker.taken`` already."""
    tables = evaluator.tables
    walker.listing = NEAR
    walker.least = 0
    clear_marks(threats)
    mark_candidates(threats)
    write_marks(walker, threats, tables)
    total = np.int64(1)
    if walker.count > 0:
        total = write_priors(walker, threats, evaluator, params)
        drop_taken(walker)
    if walker.count == 0:
        mark_empties(threats)
        write_marks(walker, threats, tables)
        for i in range(walker.count):
            walker.priors[i] = 1
        drop_taken(walker)
        if walker.count <= BLOCK_EDGES:
            walker.listing = WHOLE
        walker.count = min(walker.count, BLOCK_EDGES)
        return
    keep_first(walker)
    divide_priors(walker, total)


# Which one a visit follows -----------------------------------------------------------

WIDEN = -2  # no listed move, but the next one that is not listed

_NEVER = np.int64(-(1 << 60))
_MOST_STAYING = np.int64(8)  # visits that follow one choice
_DIVISIONS = 1024  # divisors for which a multiplication does
RECIPROCALS = np.array([(1 << 20) // (1 + visits) for visits in range(_DIVISIONS)], np.int32)


@kernel
def is_open(tree, edge, at_root):
    """Return whether a visit may take a move: no proven loss, and not barred at the root."""
    return edge.proof >= 0 and not (at_root and contains(tree.barred, np.int64(edge.cell)))


@kernel
def promise(doubt, mean, prior, visits):
    """Return what PUCT orders moves by; ``doubt`` is 256 times the weight of the whole policy."""
    if visits < _DIVISIONS:
        return mean + (((doubt * prior) >> 8) * np.int64(RECIPROCALS[visits]) >> 20)
    return mean + ((doubt * prior) >> 8) // (1 + visits)


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
    """Return the edge that the next visit follows at a node with lists, WIDEN or NO_EDGE.

    It is the best by PUCT, but where several lines are wanted, for every other visit of the root,
    one that has been visited less than other good ones. Moves stand in the order of the policy, so
    of those without a visit only the first counts. Such a move is taken for a little worse than the
    node, the more so the larger the share of the policy that has been looked at. Where the best is
    a proven draw, moves that are not listed may be better; without one the node is a draw.
    """
    node = tree.nodes[number]
    if at_root and tree.lines > 1 and node.visits & 1:
        at = choose_evenly(tree, lists, number)
        if at != NO_EDGE:
            return at
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
