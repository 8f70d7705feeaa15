"""The C interface of the trainer: inputs and outputs of evaluation and network in games.

It is part of the same library.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..eval.evaluator import (
    ENEMY_WINNING_FOUR,
    EVALUATOR,
    ask_moves,
    begin,
    evaluate,
    judge,
    logit_of,
    move_score,
    threat_mask,
)
from ..kernel import export, kernel
from ..patterns.shapes import COMBINATIONS
from ..patterns.state import STATE, entry_of, play
from ..patterns.tables import TABLES, combination_in
from ..position.board import contains
from ..position.geometry import MARGIN, MAX_STONES, STRIDE
from ..position.rules import BLACK, EMPTY, WHITE
from ..search.alphabeta.worker import WORKER


@kernel
def cell_at(flat, width):
    """Return the padded cell of ``y * width + x``."""
    return (flat // width + MARGIN) * STRIDE + flat % width + MARGIN


@export
def game_lessons(state: STATE, tables: TABLES, moves_p, count, fours_p, facts_p, near_p, scores_p):
    """Play the moves of a game from an empty board; write training data before each of them.

    ``moves``: int16, ``y * width + x``. ``fours``: a byte for each combination, 1 if it contains a
    four. Written for each position: to ``facts`` three int16, the threat mask of the side to move,
    its linear evaluation, and the number of candidates; to ``near`` 64 bytes with a bit for each
    cell of the board, set for candidates; to ``scores`` the linear score of each candidate as
    int16, in the order of cells. Returns the number of scores.

    Candidates are the cells near stones; if the enemy threatens a winning four, only those where a
    side makes a four, which is close to the set of answers.
    """
    moves = carray(moves_p, (count,), np.int16)
    fours = carray(fours_p, (COMBINATIONS,), np.uint8)
    facts = carray(facts_p, (count, 3), np.int16)
    near = carray(near_p, (count, 64), np.uint8)
    scores = carray(scores_p, (count * MAX_STONES,), np.int16)
    near[:] = 0
    width, height = np.int64(state.position.width), np.int64(state.position.height)
    end = 0
    for i in range(count):
        side = np.int64(state.position.side)
        mask = threat_mask(state, side)
        first = end
        for flat in range(width * height):
            cell = cell_at(flat, width)
            if state.position.holds[cell] != EMPTY or not contains(state.near[i], cell):
                continue
            black = combination_in(entry_of(state.entries[cell], BLACK))
            white = combination_in(entry_of(state.entries[cell], WHITE))
            if mask & ENEMY_WINNING_FOUR == 0 or fours[black] + fours[white] > 0:
                near[i, flat >> 3] |= np.uint8(1 << (flat & 7))
                scores[end] = move_score(state, tables, side, cell)
                end += 1
        facts[i, 0] = mask
        facts[i, 1] = evaluate(state, tables)
        facts[i, 2] = end - first
        play(state, tables, cell_at(np.int64(moves[i]), width))
    return end


@export
def worker_lessons(
    worker: WORKER, evaluator: EVALUATOR, moves_p, count, near_p, values_p, logits_p
):
    """Play the moves of a game from an empty board; write the network's outputs before each.

    ``moves`` and ``near`` are as in ``game_lessons``, which writes ``near``. ``values``: int16, for
    the side to move; ``logits``: int16, in 256ths, of each candidate. Returns the number of logits.
    """
    moves = carray(moves_p, (count,), np.int16)
    near = carray(near_p, (count, 64), np.uint8)
    values = carray(values_p, (count,), np.int16)
    logits = carray(logits_p, (count * MAX_STONES,), np.int16)
    state = worker.state
    width, height = np.int64(state.position.width), np.int64(state.position.height)
    begin(worker.accumulator, evaluator, state)
    end = 0
    for i in range(count):
        side = np.int64(state.position.side)
        values[i] = judge(worker.accumulator, evaluator, state)
        ask_moves(worker.accumulator, evaluator, state)
        for flat in range(width * height):
            if np.int64(near[i, flat >> 3]) >> (flat & 7) & 1:
                cell = cell_at(flat, width)
                score = np.int64(move_score(state, evaluator.tables, side, cell))
                logits[end] = logit_of(worker.accumulator, evaluator, state, cell, score)
                end += 1
        play(state, evaluator.tables, cell_at(np.int64(moves[i]), width))
    return end
