"""Rollouts: games played out at random, guided by the scores of the moves.

The form that textbooks teach, kept for comparison: an evaluation of a microsecond says more
than a game of forty random moves.
"""

from __future__ import annotations

import numpy as np

from ...bits import U64, lowest_bit
from ...eval.evaluate import move_score
from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.forbidden import is_forbidden
from ...patterns.state import count_of, first_of, is_full, play, sets_of, undo
from ...position.geometry import NO_CELL
from ..threats.defence import static_result
from .chances import EVEN, UNIT, share_of, slope_of

LENGTH = 40  # moves after which a rollout counts as drawn


@kernel
def draw_number(walker):
    """Return the next random number, 31 bits."""
    walker.random = walker.random * U64(6364136223846793005) + U64(1442695040888963407)
    return np.int64(walker.random >> U64(33))


@kernel
def random_move(walker, threats, tables, temperature):
    """Return a move near the stones, drawn by its score, or NO_CELL; a five is blocked first."""
    state = threats.state
    side = np.int64(state.position.side)
    cell = first_of(state, 1 - side, s.MAKES_FIVE)
    if cell != NO_CELL:
        return NO_CELL if is_forbidden(state, tables, cell) else cell
    count = 0
    best = np.int64(-(1 << 40))
    for word in sets_of(state):
        cells = state.near[state.position.ply, word] & state.position.empties[word]
        while cells != U64(0):
            cell = word * 64 + lowest_bit(cells)
            cells &= cells - U64(1)
            score = move_score(state, tables, side, cell)
            walker.moves[count] = score * 65536 + cell
            best = max(best, score)
            count += 1
    slope = slope_of(temperature)
    total = np.int64(0)
    for i in range(count):
        walker.priors[i] = share_of(best - (walker.moves[i] >> 16), slope)
        total += walker.priors[i]
    if count == 0:
        return np.int64(NO_CELL)
    place = (draw_number(walker) * total) >> 31
    for i in range(count):
        place -= walker.priors[i]
        if place < 0:
            cell = walker.moves[i] & 0xFFFF
            return NO_CELL if is_forbidden(state, tables, cell) else cell
    return np.int64(NO_CELL)


@kernel
def play_out(walker, threats, tables, temperature):
    """Return the chance, 0, EVEN or UNIT, that one game played out gives the side to move."""
    state = threats.state
    chance = np.int64(EVEN)
    played = 0
    while played < LENGTH and not is_full(state):
        if count_of(state, 1 - state.position.side, s.MAKES_FIVE) != 1:
            value = static_result(state, tables, 0)
            if value != 0:
                chance = np.int64(UNIT if value > 0 else 0)
                break
        cell = random_move(walker, threats, tables, temperature)
        if cell == NO_CELL:
            break
        if count_of(state, state.position.side, s.MAKES_FIVE) > 0:
            chance = np.int64(UNIT)
            break
        play(state, tables, cell)
        played += 1
    if played & 1:
        chance = UNIT - chance
    for _ in range(played):
        undo(state, tables)
    return chance


@kernel
def rollout_chance(walker, threats, tables, temperature, games):
    """Return the mean chance of so many games played out from the position on the board.

    The random numbers begin with the position, so the answer is the same whoever asks.
    """
    walker.random = threats.state.position.key
    total = np.int64(0)
    for _ in range(games):
        total += play_out(walker, threats, tables, temperature)
    return total // games
