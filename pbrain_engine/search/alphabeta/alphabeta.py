"""The main search: principal variation search with pruning, reductions and extensions.

The techniques are known from Rapfi, Stockfish and similar engines; all numbers are in
``parameters.py``. To keep claimed losses sound, nothing is pruned before a move has been found
that does not lose.
"""

import numpy as np

from ...eval.evaluator import EVALUATOR, judge, judge_near
from ...kernel import kernel, recursive_kernel
from ...kernel.bits import U64
from ...patterns import shapes as s
from ...patterns.forbidden import first_allowed, is_forbidden
from ...patterns.state import class_at, count_of, play, undo
from ...position.board import is_full, key_after, last_move
from ...position.geometry import NO_CELL
from ...position.rules import EMPTY
from ...values import DRAW, INFINITE, WIN_BAND
from ..parameters import ONE
from ..threats.defence import loss_in, static_result, win_in
from ..threats.memory import cell_in
from .leaf import leaf
from .margins import (
    count_limit,
    futility_margin,
    history_bonus,
    late_reduction,
    policy_reduction,
    razor_margin,
)
from .ordering import list_moves, pick_move, put_first, raise_move
from .table import (
    LOWER,
    SHARED,
    UPPER,
    bound_of,
    bound_within,
    cell_of_entry,
    depth_of,
    eval_of,
    expect,
    probe,
    shift_ends,
    store,
    value_of,
)
from .worker import MAX_STACK, STACK_BASE, WORKER, add_history, is_attack, must_stop, set_pv

# Expected results of a node. Typed constants, as numba would compile the recursive search once more
# for a literal argument.
CUT = np.int64(1)  # at least beta
NO_CUT = np.int64(0)


@kernel
def is_quiet_value(value):
    """Return whether a value is an evaluation, not a forced end."""
    return -WIN_BAND < value < WIN_BAND


@kernel
def credit_cut(worker, shared, ply, number, depth):
    """Give the move that cut a history bonus, and the moves tried before it a malus."""
    frame = worker.stack[ply + STACK_BASE]
    state = worker.state
    side = np.int64(state.position.side)
    bonus = history_bonus(shared.params, depth)
    for i in range(number + 1):
        cell = cell_in(frame.moves[i])
        kind = class_at(state, side, cell)
        add_history(worker, shared.params, side, kind, cell, bonus if i == number else -bonus)
    previous = last_move(state.position, 1)
    worker.counters[side, previous] = cell_in(frame.moves[number])


@recursive_kernel(WORKER, EVALUATOR, SHARED, int, int, int, int, int)
def search(worker, evaluator, shared, alpha, beta, depth, ply, cut):
    """Return the value of the position for the side to move, searched to ``depth`` units.

    Let v be the true value at this depth. The result r is fail-soft: r <= alpha means
    v <= r, r >= beta means v >= r, else r = v and ``worker.pv[ply]`` is the line.
    ``cut`` is 1 if a result of at least beta is expected. ``ply`` counts from the root.
    """
    assert -INFINITE <= alpha < beta <= INFINITE and 0 < ply <= MAX_STACK
    assert cut == CUT or cut == NO_CUT
    state = worker.state
    tables = evaluator.tables
    params = shared.params
    if depth <= 0:
        return leaf(worker, evaluator, shared, alpha, beta, 0, ply)
    side = np.int64(state.position.side)
    frame = worker.stack[ply + STACK_BASE]
    worker.pv_length[ply] = 0
    pv = beta - alpha > 1

    # Step 1. Ends: a full board, a statically decided position, no shorter win possible.
    worker.nodes += 1
    if must_stop(worker, shared):
        return 0
    worker.seldepth = max(worker.seldepth, ply)
    if is_full(state.position):
        return DRAW
    value = static_result(state, tables, ply)
    if value != 0:
        return value
    alpha = max(alpha, loss_in(ply + 2))
    beta = min(beta, win_in(ply + 3))
    if alpha >= beta:
        return alpha
    if ply >= MAX_STACK:
        return judge(worker.accumulator, evaluator, state)

    # Step 2. The transposition table.
    excluded = np.int64(frame.excluded)
    key = state.position.key
    data = U64(0)
    if excluded == NO_CELL:
        data = probe(shared, key)
    table_move = NO_CELL
    table_value = -INFINITE
    table_bound = 0
    table_depth = 0
    if data != U64(0):
        table_move = cell_of_entry(data)
        table_value = shift_ends(value_of(data), -ply)
        table_bound = bound_of(data)
        table_depth = depth_of(data)
        if not pv and table_depth >= depth:
            if table_bound & (LOWER if table_value >= beta else UPPER):
                return table_value
        if table_move != NO_CELL and state.position.holds[table_move] != EMPTY:
            table_move = NO_CELL

    # Step 3. The static evaluation; under a threat, the negated evaluation of the parent.
    enemy = 1 - side
    blocked = count_of(state, enemy, s.MAKES_FIVE) > 0
    threatened = blocked or count_of(state, enemy, s.MAKES_WINNING_FOUR) > 0
    if threatened:
        static = -np.int64(worker.stack[ply + STACK_BASE - 1].value)
    elif data != U64(0):
        static = eval_of(data)
    else:
        margin = params.network_margin
        static = judge_near(worker.accumulator, evaluator, state, alpha, beta, margin)
    frame.value = static
    improving = 1 if static > worker.stack[ply + STACK_BASE - 2].value else 0
    estimate = static
    if data != U64(0) and is_quiet_value(table_value):
        if table_bound & (LOWER if table_value > static else UPPER):
            estimate = table_value

    if not pv and not blocked and excluded == NO_CELL:
        # Step 4. Razoring: far below alpha, only a forced win could help. Under a threat the
        # evaluation is just a guess, so the leaf search is tried in any case.
        hopeless = estimate + razor_margin(params, depth) <= alpha
        if depth < params.razor_depth and (threatened or hopeless):
            value = leaf(worker, evaluator, shared, alpha, alpha + 1, 0, ply)
            if value <= alpha or (depth < ONE and not threatened):
                return value
        # Step 5. Futility: so far above beta that the enemy's best reply will not matter.
        if depth < params.futility_depth and not threatened and is_quiet_value(beta):
            if estimate - futility_margin(params, depth, improving) >= beta:
                return estimate

    # Step 6. PV nodes with a stale or missing table entry are searched at less depth.
    if pv and depth >= 3 * ONE:
        if table_move == NO_CELL:
            depth -= params.no_move_pv
        elif table_depth < depth:
            depth -= min(params.stale_pv * (depth - table_depth) // ONE, 3 * ONE)
        depth = max(depth, 2 * ONE)

    # Step 7. Singular extension: is the table's move much better than every other?
    extension = 0
    if (
        excluded == NO_CELL
        and table_move != NO_CELL
        and not blocked
        and depth >= params.singular_depth
        and table_bound & LOWER
        and table_depth >= depth - 3 * ONE
        and is_quiet_value(table_value)
    ):
        target = table_value - params.singular_margin * depth // (100 * ONE)
        frame.excluded = table_move
        value = search(worker, evaluator, shared, target - 1, target, depth // 2, ply, cut)
        frame.excluded = NO_CELL
        worker.pv_length[ply] = 0
        frame.value = static
        if worker.stopped != 0:
            return 0
        if value < target:
            extension = np.int64(params.singular_extend)
        elif target >= beta:
            return target
        elif table_value >= beta:
            extension = -ONE

    # Step 8. The moves, best first. In quiet positions the table's move is tried before the others
    # are listed: it often cuts.
    is_listed = threatened or excluded != NO_CELL or table_move == NO_CELL
    if is_listed:
        count = list_moves(worker, evaluator, shared, ply, depth)
        raise_move(worker, ply, count, table_move)
    else:
        frame.ranked = 0
        count = put_first(worker, ply, 0, table_move)
    best = -INFINITE
    best_move = NO_CELL
    raised = 0
    number = 0
    lower = alpha
    limit = count_limit(params, depth, improving, pv)
    expects_cut = cut != 0 and estimate >= beta - params.fail_high_margin
    i = -1
    while True:
        i += 1
        if i == count and not is_listed:
            is_listed = True
            count = list_moves(worker, evaluator, shared, ply, depth)
            count = put_first(worker, ply, count, table_move)
        if i == count:
            break
        cell = pick_move(worker, ply, i, count)
        unlikely = np.int64(frame.unlikely[cell]) if frame.ranked != 0 else 0
        if cell == excluded or is_forbidden(state, tables, cell):
            continue
        kind = class_at(state, side, cell)
        number += 1

        # Step 9. Move count pruning, once some move does not lose.
        quiet = not threatened and best > -WIN_BAND
        if quiet and number > limit and kind < s.MAKES_FOUR:
            break

        longer = 0
        if blocked:
            longer = np.int64(params.extend_block)
        elif cell == table_move:
            longer = extension
        rest = depth - ONE + longer
        expect(shared, key_after(key, tables.zobrist, side, cell))
        play(state, tables, cell)
        if number == 1:
            expected = NO_CUT if pv else 1 - cut
            value = -search(worker, evaluator, shared, -beta, -lower, rest, ply + 1, expected)
        else:
            # Step 10. Late moves are searched with less depth, unless they turn out good.
            assert best > -INFINITE and lower < beta  # else the first move has cut
            reduction = raised
            if depth >= 2 * ONE and not blocked:
                reduction += late_reduction(params, depth, number)
                if pv:
                    reduction -= params.reduction_pv
                if improving == 0:
                    reduction += params.reduction_worse
                if cut != 0:
                    reduction += params.reduction_cut
                if expects_cut and kind < s.MAKES_FOUR:
                    reduction += ONE // 2
                if kind >= s.MAKES_THREE:
                    reduction -= params.reduction_threat
                if unlikely > 0:
                    reduction += policy_reduction(params, unlikely)
                history = np.int64(worker.history[side, is_attack(kind), cell])
                reduction -= history // params.reduction_history
                reduction = min(max(reduction, 0), max(rest - ONE // 2, 0))
            value = -search(
                worker, evaluator, shared, -(lower + 1), -lower, rest - reduction, ply + 1, CUT
            )
            if value > lower and reduction > 0 and worker.stopped == 0:
                value = -search(
                    worker, evaluator, shared, -(lower + 1), -lower, rest, ply + 1, 1 - cut
                )
            if pv and value > lower and worker.stopped == 0:
                value = -search(worker, evaluator, shared, -beta, -lower, rest, ply + 1, NO_CUT)
        undo(state, tables)
        if worker.stopped != 0:
            return 0

        # Step 11. The value of the move.
        if value > best:
            best = value
            if value > lower:
                best_move = cell
                if pv:
                    set_pv(worker, ply, cell)
                if value >= beta:
                    credit_cut(worker, shared, ply, i, depth)
                    break
                lower = value
                if 2 * ONE < depth < 12 * ONE and is_quiet_value(value):
                    raised = np.int64(params.alpha_raise)

    # Step 12. No move: lost to the threat, or by the foul that must be played.
    if number == 0:
        if excluded != NO_CELL:
            return alpha
        if blocked:
            return loss_in(ply + 2)
        if threatened:
            return loss_in(ply + 4)
        return static if first_allowed(state, tables) != NO_CELL else loss_in(ply + 2)

    if excluded == NO_CELL:
        bound = bound_within(best, alpha, beta)
        assert state.position.key == key and best > -INFINITE
        store(shared, key, ply, best, static, best_move, depth, bound)
    return best
