"""The moves of a node with their shares of the policy, best first.

Under a threat they are the complete answers to it: every other move is known to lose. Else
they are the cells near the stones, the likeliest ones first and more when they are asked
for; and when all of those are proven to lose, whatever is legal, so that no loss is claimed
before every move has been looked at.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit
from ...patterns import shapes as s
from ...patterns.forbidden import is_forbidden
from ...patterns.state import count_of, sets_of
from ...position.board import bit_of
from ..alphabeta.ordering import mark_candidates
from ..threats.defence import clear_marks, mark_answers
from ..threats.replies import mark_replies
from .chances import UNIT, share_of, slope_of
from .tree import BLOCK_EDGES, NEAR, PART, WHOLE
from .walker import cell_in, judge_moves, score_in, score_unit

_FIRST = np.int64(0)  # where the threat searches may write their move lists


@kernel
def write_marks(walker, threats, tables):
    """Write the marked legal moves to the list."""
    state = threats.state
    count = 0
    for word in sets_of(state):
        cells = threats.marks[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if not is_forbidden(state, tables, cell):
                walker.moves[count] = cell
                count += 1
    walker.count = count


@kernel
def drop_taken(walker):
    """Take the moves off the list that the node has already; those left keep their order."""
    kept = 0
    for i in range(walker.count):
        cell = cell_in(walker.moves[i])
        if walker.taken[cell >> 6] & bit_of(cell) == U64(0):
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
    best = score_in(walker.moves[0])
    for i in range(walker.count):
        best = max(best, score_in(walker.moves[i]))
    total = np.int64(0)
    slope = slope_of(score_unit(evaluator, params))
    for i in range(walker.count):
        walker.priors[i] = share_of(best - score_in(walker.moves[i]), slope)
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
def mark_fives(threats, side):
    """Mark the cells where a side completes a five."""
    clear_marks(threats)
    for word in sets_of(threats.state):
        threats.marks[word] = threats.state.listed[side, s.MAKES_FIVE - s.FIRST_LISTED, word]


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
        for word in sets_of(threats.state):
            threats.marks[word] = threats.state.position.empties[word]
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
        mark_fives(threats, side)
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
    state = threats.state
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
        for word in sets_of(state):
            threats.marks[word] = state.position.empties[word]
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
