"""The C interface of the network: loading it, and value and policy of a position.

A *worker* has the game and the accumulator, an *evaluator* the tables and the network.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..eval.evaluator import EVALUATOR, ask_moves, begin, has_network, judge, logit_of, score_of
from ..eval.network.unpack import unpack
from ..kernel import export
from ..kernel.bits import U64, lowest_bit
from ..patterns.forbidden import is_forbidden
from ..patterns.state import clear_state, play, sets_of
from ..position.geometry import MARGIN, MAX_STONES, STRIDE
from ..search.alphabeta.memory import WORKER
from ..search.alphabeta.root import mark_moves

SCORE_TEMPERATURE = 26  # points of score that make a move e times likelier, as they were learned


@export
def network_load(evaluator: EVALUATOR, block_p, words):
    """Write out the network of a rule family, ``words`` int16; return 0, or what is wrong."""
    block = carray(block_p, (words,), np.int16)
    return unpack(evaluator.network, block, words, np.int64(evaluator.tables.half))


@export
def worker_value(worker: WORKER, evaluator: EVALUATOR):
    """Return the value of the worker's position without search, for the side to move."""
    begin(worker.accumulator, evaluator, worker.state)
    return judge(worker.accumulator, evaluator, worker.state)


@export
def worker_policy(worker: WORKER, evaluator: EVALUATOR, out_p, room):
    """Write cell and logit (in 256ths) of the legal moves of a search; return how many.

    ``room``: pairs that there is place for. Without a network the scores of the moves take the
    place of the logits.
    """
    out = carray(out_p, (2 * room,), np.int64)
    side = np.int64(worker.state.position.side)
    begin(worker.accumulator, evaluator, worker.state)
    if has_network(evaluator):
        ask_moves(worker.accumulator, evaluator, worker.state)
    mark_moves(worker, evaluator.tables)
    count = 0
    for word in sets_of(worker.state):
        cells = worker.marks[word]
        while cells != U64(0) and count < room:
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            if is_forbidden(worker.state, evaluator.tables, cell):
                continue
            out[2 * count] = cell
            score = np.int64(score_of(evaluator, worker.state, side, cell))
            if has_network(evaluator):
                logit = logit_of(worker.accumulator, evaluator, worker.state, cell, score)
            else:
                logit = score * 256 // SCORE_TEMPERATURE
            out[2 * count + 1] = logit
            count += 1
    return count


@export
def worker_lessons(
    worker_p, evaluator_p, width, height, moves_p, count, near_p, values_p, logits_p
):
    """Play the moves of a game; write what the network says of the position before each of them.

    ``moves`` and ``near`` are those of ``game_lessons``, which writes the latter. ``values``:
    int16, for the side to move; ``logits``: int16, in 256ths, of each candidate. Returns how
    many logits there are.
    """
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    moves = carray(moves_p, (count,), np.int16)
    near = carray(near_p, (count, 64), np.uint8)
    values = carray(values_p, (count,), np.int16)
    logits = carray(logits_p, (count * MAX_STONES,), np.int16)
    state = worker.state
    clear_state(state, evaluator.tables, width, height)
    begin(worker.accumulator, evaluator, state)
    end = 0
    for i in range(count):
        side = np.int64(state.position.side)
        values[i] = judge(worker.accumulator, evaluator, state)
        ask_moves(worker.accumulator, evaluator, state)
        for flat in range(width * height):
            if np.int64(near[i, flat >> 3]) >> (flat & 7) & 1:
                cell = (flat // width + MARGIN) * STRIDE + flat % width + MARGIN
                score = np.int64(score_of(evaluator, state, side, cell))
                logits[end] = logit_of(worker.accumulator, evaluator, state, cell, score)
                end += 1
        move = np.int64(moves[i])
        play(state, evaluator.tables, (move // width + MARGIN) * STRIDE + move % width + MARGIN)
    return end
