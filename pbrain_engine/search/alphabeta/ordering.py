"""Move generation and ordering.

A node's moves are in its frame, each a cell and its score in one number, and are picked best first.
Equal scores are ordered by cell, so the search is the same on every machine.
"""

import numpy as np

from ...eval.evaluator import ask_moves, has_network, linear_logit, logit_of, move_score
from ...kernel import kernel
from ...kernel.bits import U64, lowest_bit
from ...patterns import shapes as s
from ...patterns.state import class_at, count_of, near_cells, sets_of
from ...position.board import bit_of, last_move
from ...position.geometry import MARGIN, MAX_STONES, NO_CELL, STRIDE
from ...position.rules import EMPTY
from ..threats.defence import clear_marks, mark_answers, mark_class, mark_empties
from ..threats.memory import cell_in, number_in, pack_entry, pick
from .margins import LOG_BITS, log_of
from .worker import STACK_BASE, TALLIES, is_attack

MOST_UNLIKELY = 32767
LOG2_E = 369  # 256 / ln 2
LN_2 = 177  # 256 * ln 2
OCTAVE_BITS = 8  # 256 such units are a factor of two
CHANCE_BITS = 16  # the best move's chance is 1 << 16
MOST_HALVINGS = 40  # cap of a move's improbability
SUM_BITS = 10  # low bits dropped in the logarithm of a sum of chances
STEP_BITS = 3  # low bits of a linear score dropped in the selection of the best
QUOTIENT_BITS = 40
LIFT = 1 << 16  # makes the divided numbers positive
FIRST = 1 << 24  # a move with this score is picked before all others


@kernel
def mark_candidates(worker):
    """Mark the empty cells near stones; if there are none, the centre or else all empty cells."""
    state = worker.state
    position = state.position
    found = U64(0)
    for word in sets_of(state):
        worker.marks[word] = near_cells(state, word)
        found |= worker.marks[word]
    if found == U64(0):
        row = MARGIN + np.int64(position.height) // 2
        centre = row * STRIDE + MARGIN + np.int64(position.width) // 2
        worker.marks[centre >> 6] |= bit_of(centre) & position.empties[centre >> 6]
        if worker.marks[centre >> 6] == U64(0):
            mark_empties(worker)


@kernel
def counter_of(worker, side):
    """Return the counter move to the enemy's last move, or NO_CELL."""
    previous = last_move(worker.state.position, 1)
    return np.int64(worker.counters[side, previous]) if previous != NO_CELL else NO_CELL


@kernel
def list_scored(worker, evaluator, ply, shaped):
    """Write the marked cells with their linear scores; return their number and the best score.

    ``shaped``: only cells that make a shape for either side.
    """
    state = worker.state
    side = np.int64(state.position.side)
    frame = worker.stack[ply + STACK_BASE]
    count = 0
    top = np.int64(-FIRST)
    for word in sets_of(state):
        cells = worker.marks[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if shaped and class_at(state, 0, cell) | class_at(state, 1, cell) == s.QUIET:
                continue  # no shape for either side
            score = np.int64(move_score(state, evaluator.tables, side, cell))
            top = max(top, score)
            assert state.position.holds[cell] == EMPTY and count < MAX_STONES
            frame.moves[count] = pack_entry(cell, score)
            count += 1
    return count, top


@kernel
def add_learned(worker, params, ply, count):
    """Add to the listed moves' scores what earlier cutoffs taught: history and counter move."""
    side = np.int64(worker.state.position.side)
    counter = counter_of(worker, side)
    divisor = np.int64(params.history_order)
    # Divisions of numbers up to +-LIFT, by a divisor up to 4,000, cost a single one.
    reciprocal = ((1 << QUOTIENT_BITS) + divisor - 1) // divisor
    frame = worker.stack[ply + STACK_BASE]
    for i in range(count):
        cell = cell_in(frame.moves[i])
        kind = class_at(worker.state, side, cell)
        history = np.int64(worker.history[side, is_attack(kind), cell])
        quotient = ((history + LIFT * divisor) * reciprocal >> QUOTIENT_BITS) - LIFT
        score = number_in(frame.moves[i]) + quotient
        if cell == counter:
            score += params.counter_score
        frame.moves[i] = pack_entry(cell, score)


@kernel
def note_chances(frame, count, highest):
    """Turn the logits of the listed moves into improbabilities; ``highest``: the best logit.

    Exponentials are interpolated linearly between powers of two.
    """
    total = np.int64(0)
    for i in range(count):
        logit = np.int64(frame.unlikely[cell_in(frame.moves[i])])
        octaves = (highest - logit) * LOG2_E >> 8
        part = (octaves & ((1 << OCTAVE_BITS) - 1)) << (CHANCE_BITS - OCTAVE_BITS)
        halvings = min(octaves >> OCTAVE_BITS, MOST_HALVINGS)
        total += ((2 << CHANCE_BITS) - part) >> (halvings + 1)  # 2 ** -x is nearly 1 - x / 2
    logs = log_of(total >> SUM_BITS) - ((CHANCE_BITS - SUM_BITS) << LOG_BITS)  # best = 1
    spread = logs * LN_2 >> LOG_BITS
    for i in range(count):
        cell = cell_in(frame.moves[i])
        against = highest - np.int64(frame.unlikely[cell]) + spread
        frame.unlikely[cell] = min(max(against, 0), MOST_UNLIKELY)


@kernel
def score_of_best(worker, ply, count, top, wanted):
    """Return a linear score that about ``wanted`` moves reach; ``top``: the best score."""
    frame = worker.stack[ply + STACK_BASE]
    tally = worker.tally
    tally[:] = 0
    for i in range(count):
        tally[min((top - (number_in(frame.moves[i]))) >> STEP_BITS, TALLIES - 1)] += 1
    place = 0
    while tally[place] < wanted and place < TALLIES - 1:
        wanted -= tally[place]
        place += 1
    if place == TALLIES - 1:
        return np.int64(-FIRST)
    return top + 1 - ((place + 1) << STEP_BITS)


@kernel
def list_ranked(worker, evaluator, params, ply, shaped):
    """Write the marked cells, scored by the policy of the network; return their number.

    The policy is computed for the moves with the best linear scores. The other moves get the mean
    gain of these over their linear scores, less ``policy_others``.
    """
    state = worker.state
    side = np.int64(state.position.side)
    frame = worker.stack[ply + STACK_BASE]
    ask_moves(worker.accumulator, evaluator, state)
    count, top = list_scored(worker, evaluator, ply, shaped)
    least = np.int64(-FIRST)
    if count > params.policy_moves:
        least = score_of_best(worker, ply, count, top, np.int64(params.policy_moves))
    highest = np.int64(-MOST_UNLIKELY)
    asked = np.int64(0)
    gained = np.int64(0)  # sum of the logits over those of the linear scores
    for i in range(count):
        score = number_in(frame.moves[i])
        if score >= least:
            cell = cell_in(frame.moves[i])
            logit = logit_of(worker.accumulator, evaluator, state, cell, score)
            highest = max(highest, logit)
            frame.unlikely[cell] = logit
            gained += logit - linear_logit(evaluator, side, score)
            asked += 1
    gained = gained // max(asked, 1) - params.policy_others
    for i in range(count):
        score = number_in(frame.moves[i])
        cell = cell_in(frame.moves[i])
        if score < least:
            logit = gained + linear_logit(evaluator, side, score)
            frame.unlikely[cell] = min(max(logit, -MOST_UNLIKELY), highest)
        score = np.int64(frame.unlikely[cell]) * params.policy_order >> 8
        frame.moves[i] = pack_entry(cell, score)
    note_chances(frame, count, highest)
    return count


@kernel
def list_marked(worker, evaluator, params, ply, shaped, ranked):
    """Write the marked cells to the frame, ranked by the policy or not; return their number."""
    worker.stack[ply + STACK_BASE].ranked = 1 if ranked else 0
    if ranked:
        count = list_ranked(worker, evaluator, params, ply, shaped)
    else:
        count, _ = list_scored(worker, evaluator, ply, shaped)
    add_learned(worker, params, ply, count)
    return count


@kernel
def mark_moves(worker, tables):
    """Mark fives, else answers to a threat, else all candidates; return whether it is the last."""
    side = np.int64(worker.state.position.side)
    clear_marks(worker)
    if count_of(worker.state, side, s.MAKES_FIVE) > 0:
        mark_class(worker, side, s.MAKES_FIVE)
        return False
    if mark_answers(worker, tables) != s.QUIET:
        return False
    mark_candidates(worker)
    return True


@kernel
def list_moves(worker, evaluator, shared, ply, depth):
    """List the moves of a node (``mark_moves``).

    Near the leaves, only candidates that make a shape, as others would be pruned. At greater depth,
    the network ranks the candidates, if there is one.
    """
    params = shared.params
    if not mark_moves(worker, evaluator.tables):
        return list_marked(worker, evaluator, params, ply, False, False)
    ranked = has_network(evaluator) and depth >= params.policy_depth
    if depth < params.shaped_depth:
        count = list_marked(worker, evaluator, params, ply, True, ranked)
        if count > 0:
            return count
    return list_marked(worker, evaluator, params, ply, False, ranked)


@kernel
def pick_move(worker, ply, first, count):
    """Move the best of ``moves[first:count]`` to ``first`` and return its cell."""
    return pick(worker.stack[ply + STACK_BASE].moves, first, count)


@kernel
def raise_move(worker, ply, count, cell):
    """Score a move above all others of the list, if it is listed."""
    frame = worker.stack[ply + STACK_BASE]
    for i in range(count):
        if cell_in(frame.moves[i]) == cell:
            frame.moves[i] = pack_entry(cell, FIRST)


@kernel
def put_first(worker, ply, count, cell):
    """Put a move first on the list, listed before or not; return the number of moves."""
    frame = worker.stack[ply + STACK_BASE]
    place = count
    for i in range(count):
        if cell_in(frame.moves[i]) == cell:
            place = i
    frame.moves[place] = frame.moves[0]
    frame.moves[0] = pack_entry(cell, FIRST)
    return max(count, place + 1)
