"""The memory of one search thread: its game, the stack of nodes, history and root moves."""

import numpy as np

from ...eval.evaluator import ACCUMULATOR
from ...kernel import fill_line, kernel, record
from ...kernel.bits import U64, poll_host
from ...patterns.shapes import MAKES_THREE
from ...patterns.state import STATE
from ...position.board import SETS
from ...position.geometry import MAX_STONES, NO_CELL, PADDED_CELLS

MAX_STACK = 250  # greatest distance of a node from the root in plies
TALLIES = 64  # classes of linear scores for the selection of the best
STACK_BASE = 2  # frames before the root's, so that any node can look two plies back

FRAME = record(
    moves=(np.int64, MAX_STONES),  # candidate moves with their scores (threats.memory.listed)
    value=np.int32,  # static evaluation for the side to move
    excluded=np.int32,  # the move excluded by a singular search
    ranked=np.int32,  # 1 if the candidates were ranked by the policy
    unlikely=(np.int16, PADDED_CELLS),  # for each: minus the logarithm of its chance, in 256ths
)

WORKER = record(
    state=STATE,
    gap=fill_line(STATE.itemsize),
    accumulator=ACCUMULATOR,
    stack=(FRAME, MAX_STACK + STACK_BASE + 2),
    marks=(np.uint64, SETS),  # scratch set of a move generator
    tally=(np.int32, TALLIES),  # and counts of its moves by score
    barred=(np.uint64, SETS),  # cells that the host excludes from the root moves
    nodes=np.int64,
    node_limit=np.int64,
    stopped=np.int64,  # 1 once this worker has seen the stop flag or its node limit
    seldepth=np.int64,
    root_count=np.int64,
    root_changes=np.int64,  # how often the best move changed in the last iteration
    root_moves=(np.int32, MAX_STONES),  # best first
    root_values=(np.int32, PADDED_CELLS),  # by cell: last exact value, or -INFINITE
    root_pv=(np.int16, (PADDED_CELLS, MAX_STACK)),
    root_pv_length=(np.int32, PADDED_CELLS),
    history=(np.int32, (2, 2, PADDED_CELLS)),  # side, attack or quiet, cell
    counters=(np.int32, (2, PADDED_CELLS)),  # side, enemy's last cell -> reply that cut
    pv=(np.int16, (MAX_STACK + 2, MAX_STACK + 2)),
    pv_length=(np.int32, MAX_STACK + 2),
    end_ply=np.int64,  # stones of the position where the node limit was reached, else 0
    end_moves=(np.int16, MAX_STONES),  # and their cells, from the first of the game on
)


@kernel
def is_attack(kind):
    """Return 1 for moves that make a threat, else 0: the two kinds of history."""
    return 1 if kind >= MAKES_THREE else 0


@kernel
def add_history(worker, params, side, kind, cell, bonus):
    """Add a bonus or malus to a history score, scaled so that it stays within the limit."""
    score = np.int64(worker.history[side, is_attack(kind), cell])
    score += bonus - score * abs(bonus) // params.history_limit
    worker.history[side, is_attack(kind), cell] = score


@kernel
def fade_history(worker):
    """Halve all history scores, between the moves of a game."""
    for side in range(2):
        for attack in range(2):
            for cell in range(PADDED_CELLS):
                worker.history[side, attack, cell] //= 2


@kernel
def forget(worker):
    """Clear history, counter moves and barred cells."""
    worker.history[:] = 0
    worker.counters[:] = 0
    worker.barred[:] = U64(0)


@kernel
def must_stop(worker, shared):
    """Return whether this search must return now; called in every node.

    The node limit is exact, so that a search by nodes is the same on every machine. The
    stop flag, set by another thread, is read every 256 nodes.
    """
    if worker.nodes >= worker.node_limit:
        if worker.stopped == 0:  # an arbitrary position of the tree
            position = worker.state.position
            worker.end_ply = position.ply
            for i in range(position.ply):
                worker.end_moves[i] = position.moves[i]
        worker.stopped = 1
    elif worker.nodes & 255 == 0 and (shared.stop != 0 or poll_host(256) != 0):
        worker.stopped = 1
    return worker.stopped != 0


@kernel
def set_pv(worker, ply, cell):
    """Set the line of this ply to a move followed by the child's line."""
    length = worker.pv_length[ply + 1]
    assert 0 <= length <= MAX_STACK and cell != NO_CELL
    worker.pv[ply, 0] = cell
    for i in range(length):
        worker.pv[ply, i + 1] = worker.pv[ply + 1, i]
    worker.pv_length[ply] = length + 1
