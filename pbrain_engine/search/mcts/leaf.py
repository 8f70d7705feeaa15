"""The judgement of a new position: decided at a glance, by fours, or by the evaluation."""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...patterns import shapes as s
from ...patterns.state import count_of, first_of, last_stone_wins, play, undo
from ..threats.defence import closes_rows, loss_in, static_result, win_in
from ..threats.memory import begin
from ..threats.proof import holds
from ..threats.vcf import wins_by_fours
from ..threats.vct import solve_threats
from .chances import UNIT, chance_of
from .tree import NO_PROOF, PROVEN_DRAW, before, sure_chance
from .walker import doubt_of, judge_value

_FIRST = np.int64(0)
_UNLIMITED = np.int64(1) << 40
_REPLAYS = 50  # stones to play a proof through, for each that found it
_FORCED = 24  # answers to fives that are followed before a position is judged


@kernel
def has_rich_four(state):
    """Return whether the side to move has a four that gains something beside it.

    Wins by fours begin with others too, but seldom; those are found where moves are listed.
    """
    side = np.int64(state.position.side)
    rich = count_of(state, side, s.MAKES_FOUR_PLUS) + count_of(state, side, s.MAKES_FOUR_THREE)
    return rich + count_of(state, side, s.MAKES_FOUL) > 0


@kernel
def decided(threats, tables, params):
    """Return what is proven of the position on the board at a glance or by few fours."""
    state = threats.state
    if last_stone_wins(state):
        return np.int64(loss_in(0))
    if state.position.ply >= state.position.width * state.position.height:
        return np.int64(PROVEN_DRAW)
    value = np.int64(static_result(state, tables, 0))
    if value != 0:
        return value
    if params.mcts_fours > 0 and has_rich_four(state):
        stones = wins_by_fours(threats, tables, _FIRST, np.int64(params.mcts_fours))
        if stones > 0:
            return win_in(2 * stones - 1)
    return np.int64(NO_PROOF)


@kernel
def wins_at_second_look(threats, tables, params):
    """Return the proof of a win by fours that a longer search finds where it pays, or NO_PROOF."""
    if params.mcts_more_fours == 0:
        return np.int64(NO_PROOF)
    stones = wins_by_fours(threats, tables, _FIRST, np.int64(params.mcts_more_fours))
    return win_in(2 * stones - 1) if stones > 0 else np.int64(NO_PROOF)


@kernel
def wins_by_threats(threats, tables, nodes):
    """Return the proof of a win by fours and threes found within a budget of stones, or NO_PROOF.

    It is played through against every answer before it is believed.
    """
    begin(threats, nodes)
    stones = solve_threats(threats, tables, _FIRST)
    if stones > 0:
        begin(threats, _REPLAYS * nodes)
        if holds(threats, tables, _FIRST) == 0:
            stones = np.int64(0)
    begin(threats, _UNLIMITED)
    return win_in(2 * stones - 1) if stones > 0 else np.int64(NO_PROOF)


@kernel
def judge_leaf(walker, threats, evaluator, tree):
    """Return the chance of the side to move; ``walker.proof`` is what is proven of it.

    While a five has to be stopped by the one cell that there is, the position after that
    counts: the evaluation knows little of one in which half a move is missing.
    """
    state = threats.state
    tables = evaluator.tables
    params = tree.params
    scale = tree.scale * doubt_of(evaluator, params) // 100
    walker.judged += 1
    proof = decided(threats, tables, params)
    turns = 0
    if not closes_rows(tables):
        while proof == NO_PROOF and turns < _FORCED:
            enemy = 1 - np.int64(state.position.side)
            if count_of(state, enemy, s.MAKES_FIVE) == 0:
                break
            play(state, tables, first_of(state, enemy, s.MAKES_FIVE))
            turns += 1
            proof = decided(threats, tables, params)
    chance = np.int64(0)
    if proof != NO_PROOF:
        for _ in range(turns):
            proof = before(proof)
        chance = np.int64(sure_chance(proof))
    else:
        chance = chance_of(judge_value(walker, threats, evaluator), scale)
        if turns & 1:
            chance = UNIT - chance
    for _ in range(turns):
        undo(state, tables)
    walker.proof = proof
    return chance
