"""The exports of the kernel, and what only fuzzing asks of it: ``checked.py`` builds it."""

from __future__ import annotations

import numpy as np
from numba import carray

from pbrain_engine.eval.evaluator import EVALUATOR, ask_moves, begin, judge, logit_of
from pbrain_engine.eval.network.accumulator import RINGS, bring_up, dense
from pbrain_engine.eval.network_block import CHANNELS
from pbrain_engine.kernel import export, export_kernel, kernel
from pbrain_engine.kernel.bits import U64
from pbrain_engine.native import exports as exports
from pbrain_engine.patterns.state import STATE, play, same_as_fresh, undo
from pbrain_engine.patterns.tables import TABLES
from pbrain_engine.position.board import contains
from pbrain_engine.position.geometry import MARGIN, PADDED_CELLS, STRIDE
from pbrain_engine.position.rules import EMPTY
from pbrain_engine.search.alphabeta.worker import WORKER
from pbrain_engine.search.threats.defence import mark_answers, static_result

# Knuth's linear congruential generator (MMIX); its upper bits are the ones that are random.
FACTOR, ADDED = U64(6364136223846793005), U64(1442695040888963407)


export_kernel("game_static", static_result, STATE, TABLES, int)  # ply


@kernel
def walk_step(state, tables, random, first):
    """Play somewhere, or take back a stone played after the first ones, as random bits say."""
    position = state.position
    width, height = np.int64(position.width), np.int64(position.height)
    draw = np.int64(random >> U64(33))
    if position.ply > first and ((draw & 15) < 7 or position.ply >= width * height):
        undo(state, tables)
    else:
        draw >>= 4
        cell = (draw % height + MARGIN) * STRIDE + (draw >> 12) % width + MARGIN
        if position.holds[cell] == EMPTY:
            play(state, tables, cell)


@export
def game_walk(state: STATE, tables: TABLES, seed, steps, every):
    """Play and undo at random, comparing with a fresh state every few steps.

    Starts from the game as it stands and returns 0, or ``step * 8 + part`` at the first
    difference.
    """
    random = U64(seed)
    for step in range(steps):
        random = random * FACTOR + ADDED
        walk_step(state, tables, random, 0)
        if step % every == 0:
            part = same_as_fresh(state, tables)
            if part != 0:
                return step * 8 + part
    return 0


@export
def worker_answers(worker: WORKER, tables: TABLES, out_p):
    """Write 1 for every cell that answers the enemy's threat; return the threat's class."""
    kind = mark_answers(worker, tables)
    out = carray(out_p, (PADDED_CELLS,), np.uint8)
    for cell in range(PADDED_CELLS):
        out[cell] = 1 if contains(worker.marks, cell) else 0
    return kind


@kernel
def difference(kept, fresh, evaluator, state, score):
    """Compare two accumulators at a position, one of them new; 0, or the part that differs.

    1 rows, 2 features, 3 sums, 4 value, 5 the logit of an empty cell with a linear score.
    """
    position = state.position
    width, height = np.int64(position.width), np.int64(position.height)
    probe = 0
    for place in range(width * height):
        cell = (place // width + MARGIN) * STRIDE + place % width + MARGIN
        is_empty = position.holds[cell] == EMPTY
        if is_empty and (probe == 0 or place <= score):
            probe = cell
        for at in range(dense(cell) * CHANNELS, (dense(cell) + 1) * CHANNELS):
            if is_empty and kept.rows[at] != fresh.rows[at]:
                return 1
            if kept.features[at] != fresh.features[at]:
                return 2
    start = np.int64(kept.depth) * RINGS
    for i in range(RINGS):
        if kept.regions[start + i] != fresh.regions[i]:
            return 3
    if judge(kept, evaluator, state) != judge(fresh, evaluator, state):
        return 4
    ask_moves(kept, evaluator, state)
    ask_moves(fresh, evaluator, state)
    logit = logit_of(kept, evaluator, state, probe, score)
    return 0 if logit == logit_of(fresh, evaluator, state, probe, score) else 5


@export
def worker_network_walk(worker: WORKER, other: WORKER, evaluator: EVALUATOR, seed, steps, every):
    """Play and undo at random, comparing the accumulator with a new one now and then.

    From the worker's game as it stands; the new one is that of the ``other`` worker. The
    accumulator is asked only every few steps, so that several stones wait for it: for the value,
    and every other time for all. Returns 0, or ``step * 8 + part`` at the first difference: 6 is
    the value that needs no rows, the others are those of ``difference``.
    """
    tables = evaluator.tables
    state = worker.state
    position = state.position
    first = np.int64(position.ply)
    area = np.int64(position.width) * np.int64(position.height)
    random = U64(seed)
    begin(worker.accumulator, evaluator, state)
    for step in range(steps):
        random = random * FACTOR + ADDED
        walk_step(state, tables, random, first)
        if step % every == 0 and position.ply < area:
            begin(other.accumulator, evaluator, state)
            if judge(worker.accumulator, evaluator, state) != judge(
                other.accumulator, evaluator, state
            ):
                return step * 8 + 6
            if random >> U64(63) != U64(0):
                continue
            half, score = np.int64(tables.half), np.int64(random >> U64(37)) & 255
            bring_up(worker.accumulator, evaluator.network, position, half, True)
            part = difference(worker.accumulator, other.accumulator, evaluator, state, score)
            if part != 0:
                return step * 8 + part
    while position.ply > first:
        undo(state, tables)
    return 0
