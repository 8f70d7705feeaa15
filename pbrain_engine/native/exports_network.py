"""The C interface of the network: loading it, and value and policy of a position.

A *worker* has the game and the accumulator, an *evaluator* the tables and the network.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..bits import U64, lowest_bit
from ..eval.evaluate import evaluate, threat_mask
from ..eval.evaluator import EVALUATOR, ask_moves, begin, has_network, judge, logit_of, score_of
from ..eval.network.accumulator import bring_up
from ..eval.network.twin import same_as_twin
from ..eval.network.unpack import unpack
from ..kernel import export
from ..patterns.forbidden import is_forbidden
from ..patterns.state import play, sets_of, undo
from ..position.geometry import MARGIN, STRIDE
from ..position.rules import EMPTY
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
            if has_network(evaluator):
                out[2 * count + 1] = logit_of(worker.accumulator, evaluator, worker.state, cell)
            else:
                score = score_of(evaluator, worker.state, side, cell)
                out[2 * count + 1] = score * 256 // SCORE_TEMPERATURE
            count += 1
    return count


@export
def worker_network_walk(worker_p, evaluator_p, seed, steps, every):
    """Play and undo at random, comparing the network with its twin now and then.

    From the worker's game as it stands. The accumulator is asked only every so many steps, so
    that several stones wait for it. Returns 0, or ``step * 8 + part`` at the first difference.
    """
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    tables = evaluator.tables
    network = evaluator.network
    state = worker.state
    position = state.position
    half = np.int64(tables.half)
    first = np.int64(position.ply)
    width = np.int64(position.width)
    height = np.int64(position.height)
    random = U64(seed)
    begin(worker.accumulator, evaluator, state)
    for step in range(steps):
        random = random * U64(6364136223846793005) + U64(1442695040888963407)
        draw = np.int64(random >> U64(33))
        if position.ply > first and ((draw & 15) < 7 or position.ply >= width * height):
            undo(state, tables)
        else:
            draw >>= 4
            cell = (draw % height + MARGIN) * STRIDE + (draw >> 12) % width + MARGIN
            if position.holds[cell] == EMPTY:
                play(state, tables, cell)
        if step % every == 0 and position.ply < width * height:
            bring_up(worker.accumulator, network, position, half)
            side = np.int64(position.side)
            cell = np.int64(random >> U64(50)) & 1023
            part = same_as_twin(
                worker.accumulator,
                network,
                position,
                half,
                threat_mask(state, side),
                evaluate(state, tables),
                np.int64(draw & 255),
            )
            if part != 0:
                return step * 8 + part
    while position.ply > first:
        undo(state, tables)
    return 0


@export
def worker_network_rounds(worker_p, evaluator_p, rounds, what):
    """Play every near empty cell, ask for something, undo; return how often: for timing.

    ``what``: 0 nothing, 1 the accumulator alone, 2 the value, 3 value and policy of 32 moves.
    """
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    state = worker.state
    position = state.position
    half = np.int64(evaluator.tables.half)
    begin(worker.accumulator, evaluator, state)
    asked = 0
    total = 0
    for _ in range(rounds):
        for word in sets_of(state):
            cells = state.near[position.ply, word] & position.empties[word]
            while cells != U64(0):
                cell = word * 64 + lowest_bit(cells)
                cells &= cells - U64(1)
                play(state, evaluator.tables, cell)
                if what == 1:
                    bring_up(worker.accumulator, evaluator.network, position, half)
                elif what > 1:
                    total += judge(worker.accumulator, evaluator, state)
                if what == 3:
                    ask_moves(worker.accumulator, evaluator, state)
                    for move in range(32):
                        other = (MARGIN + (move & 7)) * STRIDE + MARGIN + move
                        total += logit_of(worker.accumulator, evaluator, state, other)
                undo(state, evaluator.tables)
                asked += 1
    return asked + (total & 0)
