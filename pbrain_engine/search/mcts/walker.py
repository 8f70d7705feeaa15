"""One thread of the tree search: its path, its move list, and how it judges a position.

The board that it plays on is the one of its threat searches (``threats.memory``), so that a
leaf can ask for a win by fours where it stands. A new position is decided at a glance, by fours,
or by the evaluation.
"""

import numpy as np

from ...eval.evaluator import ACCUMULATOR, ask_moves, has_network, judge, logit_of, move_score
from ...kernel import kernel, record
from ...patterns import shapes as s
from ...patterns.state import count_of, first_of, last_stone_wins, play, undo
from ...position.board import SETS
from ...position.geometry import MAX_STONES
from ..threats.defence import closes_rows, loss_in, static_result, win_in
from ..threats.memory import UNLIMITED, begin, cell_in, pack_entry
from ..threats.proof import holds
from ..threats.vcf import wins_by_fours
from ..threats.vct import solve_threats
from .chances import UNIT, chance_of
from .tree import NO_PROOF, PROVEN_DRAW, before, sure_chance

MAX_PATH = MAX_STONES + 2
LOGIT_UNIT = 256  # points of a network's logit that make a move e times likelier

WALKER = record(
    accumulator=ACCUMULATOR,  # first, for it begins with a cache line
    moves=(np.int64, MAX_STONES),  # moves[:count] of a position with their scores
    priors=(np.int64, MAX_STONES),  # and their shares of the policy, of UNIT
    taken=(np.uint64, SETS),  # moves that are on the node's lists already
    key=np.uint64,  # of the position at the end of the path
    depth=np.int64,  # edges of the path
    line_end=np.int64,  # line[:line_end] is on the board, beyond the root
    count=np.int64,
    listing=np.int64,  # WHOLE if the list is all that matters
    least=np.int64,  # plies that a loss takes at least, where moves were left out
    proof=np.int64,  # what the last judgement has proven
    side=np.int64,  # to move at the root
    visits=np.int64,  # since the search began
    judged=np.int64,  # positions judged since then
    seldepth=np.int64,
    order=(np.int32, MAX_STONES),  # the root's edges, best first
    nodes=(np.int32, MAX_PATH),  # nodes[k] and edges[k]: what the path passes at ply k
    edges=(np.int32, MAX_PATH),
    cells=(np.int32, MAX_PATH),  # the moves of the path
    line=(np.int32, MAX_PATH),
)


@kernel
def follow(walker, threats, tables, depth):
    """Bring the board to the first ``depth`` moves of the path, from wherever it stands.

    Visits that follow each other mostly share the beginning of their paths.
    """
    same = 0
    most = min(depth, walker.line_end)
    while same < most and walker.line[same] == walker.cells[same]:
        same += 1
    while walker.line_end > same:
        undo(threats.state, tables)
        walker.line_end -= 1
    while walker.line_end < depth:
        step(walker, threats, tables, np.int64(walker.cells[walker.line_end]))


@kernel
def step(walker, threats, tables, cell):
    """Play a move on the board."""
    play(threats.state, tables, cell)
    walker.line[walker.line_end] = cell
    walker.line_end += 1


# What it asks of the evaluator: with a network all comes from it, else from the linear evaluation
# and the learned scores. Nothing else in the search knows which it is.


@kernel
def judge_moves(walker, threats, evaluator):
    """Give each listed move its score: logarithms of the policy, times ``score_unit``."""
    state = threats.state
    side = np.int64(state.position.side)
    network = has_network(evaluator)
    if network:
        ask_moves(walker.accumulator, evaluator, state)
    for i in range(walker.count):
        cell = cell_in(walker.moves[i])
        score = np.int64(move_score(state, evaluator.tables, side, cell))
        if network:
            score = np.int64(logit_of(walker.accumulator, evaluator, state, cell, score))
        walker.moves[i] = pack_entry(cell, score)


@kernel
def score_unit(evaluator, params):
    """Return how many points of score make a move e times likelier."""
    if has_network(evaluator):
        return max(LOGIT_UNIT * np.int64(params.mcts_policy) // 100, 1)
    return np.int64(params.mcts_temperature)


# Leaves ------------------------------------------------------------------------------

_FIRST = np.int64(0)
_REPLAYS = 50  # stones to play a proof through, for each that found it
_FORCED = 24  # answers to fives that are followed before a position is judged


@kernel
def proof_by_fours(threats, tables, nodes):
    """Return the proof of a win by fours found within a budget of stones, or NO_PROOF."""
    stones = np.int64(0)
    if nodes > 0:
        stones = wins_by_fours(threats, tables, _FIRST, nodes)
    return win_in(2 * stones - 1) if stones > 0 else np.int64(NO_PROOF)


@kernel
def prove_quickly(threats, tables, params):
    """Return what is proven of the position on the board at a glance or by few fours."""
    state = threats.state
    if last_stone_wins(state):
        return np.int64(loss_in(0))
    if state.position.ply >= state.position.width * state.position.height:
        return np.int64(PROVEN_DRAW)
    value = np.int64(static_result(state, tables, 0))
    if value != 0:
        return value
    # Wins by fours begin with others, too, but seldom; those are found where moves are listed.
    side = np.int64(state.position.side)
    rich = count_of(state, side, s.MAKES_FOUR_PLUS) + count_of(state, side, s.MAKES_FOUR_THREE)
    if rich + count_of(state, side, s.MAKES_FOUL) == 0:
        return np.int64(NO_PROOF)
    return proof_by_fours(threats, tables, np.int64(params.mcts_fours))


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
    begin(threats, UNLIMITED)
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
    doubt = np.int64(params.mcts_trust if has_network(evaluator) else params.mcts_doubt)
    scale = tree.scale * doubt // 100
    walker.judged += 1
    proof = prove_quickly(threats, tables, params)
    turns = 0
    if not closes_rows(tables):
        while proof == NO_PROOF and turns < _FORCED:
            enemy = 1 - np.int64(state.position.side)
            if count_of(state, enemy, s.MAKES_FIVE) == 0:
                break
            play(state, tables, first_of(state, enemy, s.MAKES_FIVE))
            turns += 1
            proof = prove_quickly(threats, tables, params)
    chance = np.int64(0)
    if proof != NO_PROOF:
        for _ in range(turns):
            proof = before(proof)
        chance = np.int64(sure_chance(proof))
    else:
        chance = chance_of(np.int64(judge(walker.accumulator, evaluator, state)), scale)
        if turns & 1:
            chance = UNIT - chance
    for _ in range(turns):
        undo(state, tables)
    walker.proof = proof
    return chance
