"""The root: its move list, and one iteration at a depth.

Of moves equivalent by symmetry only one is searched, if the host wants so.
"""

import numpy as np

from ...eval.evaluator import begin, judge
from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.forbidden import is_forbidden
from ...patterns.state import class_at, play, undo
from ...position.board import contains, has_twin, symmetries_of
from ...position.geometry import NO_CELL
from ...values import INFINITE, WIN_BAND
from ..parameters import ONE
from ..threats.defence import mark_empties, win_in
from .alphabeta import search
from .margins import late_reduction
from .ordering import list_marked, list_moves, mark_candidates, pick_move
from .table import EXACT, LOWER, UPPER, store
from .worker import STACK_BASE

EVERY_MOVE = 1 << 20  # a depth at which no candidate is left out
PROVEN_DEPTH = 40 * ONE  # table depth of proven wins


@kernel
def list_root(worker, evaluator, shared, distinct):
    """List the legal root moves, best first; return their number.

    A five if there is one, else the answers to a threat; if there is no answer or all are
    forbidden, any legal moves, so that a lost game is played on. Barred cells are used only if no
    other is left. With ``distinct`` 1, of moves equivalent by symmetry only the first is kept.
    """
    state = worker.state
    symmetries = symmetries_of(state.position) if distinct != 0 else 0
    count = 0
    for attempt in range(4):
        if attempt == 0:
            count = list_moves(worker, evaluator, shared, 0, EVERY_MOVE)
        else:
            if attempt == 1:
                mark_candidates(worker)
            else:
                mark_empties(worker)
            count = list_marked(worker, evaluator, shared.params, 0, False, False)
        kept = 0
        for i in range(count):
            cell = pick_move(worker, 0, i, count)
            if contains(worker.barred, cell) and attempt < 3:
                continue
            if is_forbidden(state, evaluator.tables, cell):
                continue
            if has_twin(state.position, symmetries, worker.root_moves, kept, cell):
                continue
            worker.root_moves[kept] = cell
            worker.root_values[cell] = -INFINITE
            worker.root_pv_length[cell] = 0
            kept += 1
        if kept > 0:
            worker.root_count = kept
            return kept
    worker.root_count = 0
    return 0


@kernel
def prepare_root(worker, evaluator, shared, node_limit, distinct):
    """Prepare a worker for the first iteration; return the number of root moves."""
    worker.nodes = 0
    worker.node_limit = node_limit
    worker.stopped = 0
    worker.end_ply = 0
    worker.seldepth = 0
    worker.root_changes = 0
    begin(worker.accumulator, evaluator, worker.state)
    static = judge(worker.accumulator, evaluator, worker.state)
    for i in range(STACK_BASE + 1):
        worker.stack[i].excluded = NO_CELL
        worker.stack[i].value = static
    return list_root(worker, evaluator, shared, distinct)


@kernel
def drop_root(worker, cell):
    """Remove a root move, unless it is the only one; return the number left."""
    kept = 0
    for i in range(worker.root_count):
        if worker.root_moves[i] != cell or worker.root_count == 1:
            worker.root_moves[kept] = worker.root_moves[i]
            kept += 1
    worker.root_count = kept
    return worker.root_count


@kernel
def note_win(worker, evaluator, shared, line, length, first, value):
    """Store the positions of a proven win's line in the table, from move ``first`` on.

    That move is the winner's. The value is a bound: there may be a quicker win, or less resistance.
    """
    state = worker.state
    for i in range(length):
        cell = np.int64(line[i])
        if i >= first:
            wins = (i - first) & 1 == 0
            proven = value if wins else -value
            bound = LOWER if wins else UPPER
            static = judge(worker.accumulator, evaluator, state)
            key = state.position.key
            store(shared, key, i, proven, static, cell, PROVEN_DEPTH, bound)
        play(state, evaluator.tables, cell)
    for _ in range(length):
        undo(state, evaluator.tables)


@kernel
def search_root(worker, evaluator, shared, alpha, beta, depth, first):
    """Search the root moves from place ``first`` on, move the best to ``first``, return its value.

    The value is as in ``search``. A move gets its line and value only if it raises alpha, so an
    interrupted iteration leaves the best move found so far in front.
    """
    assert -INFINITE <= alpha < beta <= INFINITE and 0 <= first < worker.root_count
    state = worker.state
    params = shared.params
    side = np.int64(state.position.side)
    best = -INFINITE
    for i in range(first, worker.root_count):
        cell = np.int64(worker.root_moves[i])
        kind = class_at(state, side, cell)
        if kind == s.MAKES_FIVE:
            worker.pv_length[1] = 0
            value = win_in(1)
        else:
            play(state, evaluator.tables, cell)
            rest = depth - ONE
            if i == first:
                value = -search(worker, evaluator, shared, -beta, -alpha, rest, 1, 0)
            else:
                reduction = 0
                number = i - first + 1
                if depth >= 3 * ONE and number > 2 and kind < s.MAKES_FOUR:
                    reduction = late_reduction(params, depth, number) - params.reduction_pv
                    reduction = min(max(reduction, 0), rest - ONE)
                value = -search(
                    worker, evaluator, shared, -(alpha + 1), -alpha, rest - reduction, 1, 1
                )
                if value > alpha and reduction > 0 and worker.stopped == 0:
                    value = -search(worker, evaluator, shared, -(alpha + 1), -alpha, rest, 1, 1)
                if value > alpha and worker.stopped == 0:
                    value = -search(worker, evaluator, shared, -beta, -alpha, rest, 1, 0)
            undo(state, evaluator.tables)
        if worker.stopped != 0:
            return best
        if value > best:
            best = value
        if value > alpha or i == first:
            length = worker.pv_length[1]
            worker.root_pv[cell, 0] = cell
            for at in range(length):
                worker.root_pv[cell, at + 1] = worker.pv[1, at]
            worker.root_pv_length[cell] = length + 1
            worker.root_values[cell] = value
            if i > first and first == 0:
                worker.root_changes += 1
            for place in range(i, first, -1):  # the moves between keep their order
                worker.root_moves[place] = worker.root_moves[place - 1]
            worker.root_moves[first] = cell
            alpha = max(alpha, value)
            if value >= beta:
                break
        else:
            worker.root_values[cell] = -INFINITE
    return best


@kernel
def iterate(worker, evaluator, shared, depth, first):
    """Search one iteration; return 1 if it was completed, 0 if it was stopped.

    A stopped iteration may be repeated, with the results in the table. ``depth`` in plies;
    ``first`` > 0 searches for the best move after the first ``first`` ones (n-best). The
    aspiration window is narrow around the last value and widens on the side where it fails.
    """
    assert depth > 0 and worker.root_count > first >= 0
    worker.stopped = 0
    if first == 0:
        worker.root_changes = 0
    last = np.int64(worker.root_values[worker.root_moves[first]])
    width = np.int64(shared.params.aspiration)
    alpha = -INFINITE
    beta = INFINITE
    if depth >= 5 and -WIN_BAND < last < WIN_BAND:
        alpha = last - width
        beta = last + width
    while True:
        value = search_root(worker, evaluator, shared, alpha, beta, depth * ONE, first)
        if worker.stopped != 0:
            return 0
        width = width * 2
        if value <= alpha and alpha > -INFINITE:
            alpha = value - width if value > -WIN_BAND else -INFINITE
        elif value >= beta and beta < INFINITE:
            beta = value + width if value < WIN_BAND else INFINITE
        else:
            break
    if first == 0:
        key = worker.state.position.key
        static = worker.stack[STACK_BASE].value
        store(shared, key, 0, value, static, worker.root_moves[0], depth * ONE, EXACT)
    return 1
