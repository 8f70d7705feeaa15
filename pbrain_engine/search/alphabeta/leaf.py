"""The leaf search: fours near a side's last stone, until the position is quiet."""

import numpy as np

from ...eval.evaluator import EVALUATOR, judge, judge_near
from ...kernel import kernel, recursive_kernel
from ...kernel.bits import U64, lowest_bit
from ...patterns import shapes as s
from ...patterns.state import class_at, count_of, first_of, play, sets_of, undo
from ...position.board import distances, is_full, last_move
from ...position.geometry import NO_CELL
from ...values import DRAW, INFINITE, WIN_BAND
from ..threats.defence import (
    clear_marks,
    closes_rows,
    four_cells,
    loss_in,
    mark_killers,
    static_result,
)
from ..threats.memory import list_marks, pack_entry
from .ordering import pick_move
from .table import (
    EXACT,
    LOWER,
    SHARED,
    UPPER,
    bound_of,
    bound_within,
    probe,
    shift_ends,
    store,
    value_of,
)
from .worker import MAX_STACK, STACK_BASE, WORKER, must_stop, set_pv


@kernel
def is_close(cell, other):
    """Return whether two cells are within three of each other, or within four on one line."""
    dx, dy = distances(cell, other)
    if dx <= 3 and dy <= 3:
        return True
    return dx <= 4 and dy <= 4 and (dx == 0 or dy == 0 or dx == dy)


@kernel
def list_fours(worker, tables, ply, first):
    """List the fours to try, near the side's own last stone; return their number.

    Plain fours, which make no other shape, are only tried on the ``first`` move of a leaf search.
    """
    state = worker.state
    side = np.int64(state.position.side)
    last = last_move(state.position, 2)
    frame = worker.stack[ply + STACK_BASE]
    count = 0
    for word in sets_of(state):
        cells = four_cells(state, tables, side, word)
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            kind = class_at(state, side, cell)
            if kind == s.MAKES_FOUR and not first:
                continue
            if last != NO_CELL and not is_close(cell, last):
                continue
            frame.moves[count] = pack_entry(cell, kind)
            count += 1
    return count


@recursive_kernel(WORKER, EVALUATOR, SHARED, int, int, int, int)
def leaf(worker, evaluator, shared, alpha, beta, fours, ply):
    """Return the value of the position if only fours and their answers are played.

    Fail-soft: at most alpha means that no four tried raises the value above alpha. The side to
    move may stand pat on the static evaluation, except when it has to stop a five. ``fours``:
    fours played so far by both sides. Claimed wins are sound.
    """
    assert -INFINITE <= alpha <= INFINITE and 0 < ply <= MAX_STACK + 1 and fours >= 0
    state = worker.state
    tables = evaluator.tables
    side = np.int64(state.position.side)
    worker.nodes += 1
    worker.pv_length[ply] = 0
    if must_stop(worker, shared):
        return 0
    worker.seldepth = max(worker.seldepth, ply)
    if is_full(state.position):
        return DRAW
    value = static_result(state, tables, ply)
    if value != 0:
        return value
    if ply >= MAX_STACK:
        return judge(worker.accumulator, evaluator, state)

    if count_of(state, 1 - side, s.MAKES_FIVE) > 0:
        if not closes_rows(tables):  # one answer, for two fives are a static loss
            cell = first_of(state, 1 - side, s.MAKES_FIVE)
            play(state, tables, cell)
            value = -leaf(worker, evaluator, shared, -beta, -alpha, fours, ply + 1)
            undo(state, tables)
            set_pv(worker, ply, cell)
            return value
        clear_marks(worker)
        mark_killers(worker, tables, s.MAKES_FIVE)
        frame = worker.stack[ply + STACK_BASE]
        count = list_marks(worker, frame.moves, 0)
        best = loss_in(ply + 2)
        for i in range(count):
            cell = np.int64(frame.moves[i])
            play(state, tables, cell)
            value = -leaf(worker, evaluator, shared, -beta, -max(alpha, best), fours, ply + 1)
            undo(state, tables)
            if value > best:
                best = value
                set_pv(worker, ply, cell)
                if best >= beta:
                    break
        return best

    key = state.position.key
    if fours == 0:
        data = probe(shared, key)
        if data != U64(0):
            value = shift_ends(value_of(data), -ply)
            bound = bound_of(data)
            if bound == EXACT or (bound == LOWER and value >= beta):
                return value
            if bound == UPPER and value <= alpha:
                return value
    margin = shared.params.network_margin
    static = judge_near(worker.accumulator, evaluator, state, alpha, beta, margin)
    best = static
    if best < beta and best + shared.params.delta > alpha:
        lower = max(alpha, best)
        count = list_fours(worker, tables, ply, fours == 0)
        for i in range(count):
            cell = pick_move(worker, ply, i, count)
            play(state, tables, cell)
            value = -leaf(worker, evaluator, shared, -beta, -lower, fours + 1, ply + 1)
            undo(state, tables)
            if worker.stopped != 0:
                return best
            if value > best:
                best = value
                set_pv(worker, ply, cell)
                if best >= beta or best >= WIN_BAND:
                    break
                lower = max(lower, best)
    if fours == 0:
        assert state.position.key == key
        bound = bound_within(best, alpha, beta)
        best_move = worker.pv[ply, 0] if worker.pv_length[ply] > 0 else NO_CELL
        store(shared, key, ply, best, static, best_move, 0, bound)
    return best
