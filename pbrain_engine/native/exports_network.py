"""The C interface of the network: loading it, and value and policy of a position.

A *worker* has the game and the accumulator, an *evaluator* the tables and the network.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..bits import U64, lowest_bit
from ..eval.evaluator import EVALUATOR, ask_moves, begin, has_network, judge, logit_of, score_of
from ..eval.network.unpack import unpack
from ..kernel import export
from ..patterns.forbidden import is_forbidden
from ..patterns.state import sets_of
from ..search.alphabeta.root import mark_moves
from ..search.alphabeta.worker import WORKER

SCORE_TEMPERATURE = 26  # points of score that make a move e times likelier, as they were learned


@export
def network_load(evaluator_p, block_p, words):
    """Write out the network of a rule family, ``words`` int16; return 0, or what is wrong."""
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    block = carray(block_p, (words,), np.int16)
    return unpack(evaluator.network, block, words, np.int64(evaluator.tables.half))


@export
def worker_value(worker_p, evaluator_p):
    """Return the value of the worker's position without search, for the side to move."""
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    begin(worker.accumulator, evaluator, worker.state)
    return judge(worker.accumulator, evaluator, worker.state)


@export
def worker_policy(worker_p, evaluator_p, out_p, room):
    """Write cell and logit (in 256ths) of the legal moves of a search; return how many.

    ``room``: pairs that there is place for. Without a network the scores of the moves take the
    place of the logits.
    """
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
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
