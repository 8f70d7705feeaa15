"""The C interface of the kernel: what the Python layers may ask for.

Every function takes addresses of memory that the caller owns (parameters ``..._p``) and
int64s, and returns an int64. Cells are padded cell indices (``position.geometry``). The
caller learns block sizes from ``layout`` and never looks inside a block. A *game* is a
STATE, a *worker* begins with its game, so its address serves wherever a game's does; in the
same way an *evaluator* begins with the tables.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..bits import U64, lowest_bit
from ..eval.evaluate import evaluate
from ..eval.evaluator import EVALUATOR, has_network
from ..eval.features import write_features
from ..eval.layout import WEIGHTS, apply_weights
from ..eval.network.unpack import fill_hidden_codes
from ..kernel import BOUNDS_CHECK, export
from ..patterns.forbidden import is_forbidden
from ..patterns.state import (
    STATE,
    clear_state,
    last_stone_wins,
    place,
    play,
    same_as_fresh,
    sets_of,
    skip,
    take_back,
    undo,
)
from ..patterns.tables import TABLES, fill_lines, fill_tables
from ..position.board import bit_of
from ..position.geometry import MAX_STONES
from ..search.alphabeta.params import NAMES
from ..search.alphabeta.quick import quick_move
from ..search.alphabeta.root import drop_root, iterate, note_win, prepare_root
from ..search.alphabeta.table import HEAD_BYTES, SHARED
from ..search.alphabeta.worker import WORKER, fade_history, forget
from . import exports_mcts as exports_mcts
from . import exports_network as exports_network
from . import exports_threats as exports_threats

if BOUNDS_CHECK:
    from . import exports_checks as exports_checks

_EVALUATOR_BYTES = EVALUATOR.itemsize
_STATE_BYTES = STATE.itemsize
_WORKER_BYTES = WORKER.itemsize
_WEIGHTS_BYTES = WEIGHTS.itemsize
_PARAMETERS = len(NAMES)


@export
def layout(out_p):
    """Write the sizes in bytes: evaluator, game, worker, head of the shared block, weights."""
    out = carray(out_p, (5,), np.int64)
    out[0] = _EVALUATOR_BYTES
    out[1] = _STATE_BYTES
    out[2] = _WORKER_BYTES
    out[3] = HEAD_BYTES
    out[4] = _WEIGHTS_BYTES
    return 5


# Tables ------------------------------------------------------------------------------


@export
def build_tables(tables_p, rule):
    """Fill the tables of a rule; the memory must be zero at first use."""
    fill_tables(carray(tables_p, (1,), TABLES)[0], rule)
    return 0


@export
def allow_walls(evaluator_p):
    """Extend tables and network to boards with blocked cells among the open ones."""
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    tables = evaluator.tables
    fill_lines(tables, tables.half, tables.rule, True)
    if has_network(evaluator):
        fill_hidden_codes(evaluator.network, np.int64(tables.half))
    return 0


@export
def set_weights(tables_p, weights_p):
    """Write one block of weights into the tables; games on them have to be set up anew."""
    tables = carray(tables_p, (1,), TABLES)[0]
    apply_weights(tables, carray(weights_p, (1,), WEIGHTS)[0])
    return 0


# Games -------------------------------------------------------------------------------


@export
def game_new(game_p, tables_p, width, height):
    """Make the game an empty board."""
    tables = carray(tables_p, (1,), TABLES)[0]
    clear_state(carray(game_p, (1,), STATE)[0], tables, width, height)
    return 0


@export
def game_place(game_p, tables_p, cell, kind):
    """Put a stone or wall on an empty cell; the turn does not pass."""
    tables = carray(tables_p, (1,), TABLES)[0]
    place(carray(game_p, (1,), STATE)[0], tables, cell, kind)
    return 0


@export
def game_take_back(game_p, tables_p):
    """Take the last stone or wall off; the turn does not change. Returns its cell."""
    tables = carray(tables_p, (1,), TABLES)[0]
    return take_back(carray(game_p, (1,), STATE)[0], tables)


@export
def game_pass(game_p):
    """Give the move to the other side."""
    skip(carray(game_p, (1,), STATE)[0])
    return 0


@export
def game_wins(game_p):
    """Return 1 if the last stone completed a winning row, else 0."""
    return 1 if last_stone_wins(carray(game_p, (1,), STATE)[0]) else 0


@export
def game_forbids(game_p, tables_p, cell):
    """Return 1 if the rule forbids the side to move this empty cell, else 0."""
    tables = carray(tables_p, (1,), TABLES)[0]
    return 1 if is_forbidden(carray(game_p, (1,), STATE)[0], tables, cell) else 0


@export
def game_value(game_p, tables_p):
    """Return the static evaluation for the side to move."""
    tables = carray(tables_p, (1,), TABLES)[0]
    return evaluate(carray(game_p, (1,), STATE)[0], tables)


@export
def game_quick_move(game_p, tables_p):
    """Return a sensible legal cell, or 0 if there is none."""
    tables = carray(tables_p, (1,), TABLES)[0]
    state = carray(game_p, (1,), STATE)[0]
    return quick_move(state, tables)


@export
def game_check(game_p, tables_p):
    """Return 0 if the incremental state equals one computed afresh, else the part that differs."""
    tables = carray(tables_p, (1,), TABLES)[0]
    return same_as_fresh(carray(game_p, (1,), STATE)[0], tables)


@export
def game_pairs(game_p, tables_p, rounds):
    """Play and undo every near empty cell ``rounds`` times; return the number of pairs."""
    tables = carray(tables_p, (1,), TABLES)[0]
    state = carray(game_p, (1,), STATE)[0]
    position = state.position
    pairs = 0
    for _ in range(rounds):
        for word in sets_of(state):
            cells = state.near[position.ply, word] & position.empties[word]
            while cells != U64(0):
                cell = word * 64 + lowest_bit(cells)
                cells &= cells - U64(1)
                play(state, tables, cell)
                undo(state, tables)
                pairs += 1
    return pairs


# Search ------------------------------------------------------------------------------


@export
def shared_new(shared_p, buckets):
    """Set up the shared block: ``buckets`` of 64 bytes follow its head, all zero."""
    shared = carray(shared_p, (1,), SHARED)[0]
    shared.buckets = buckets
    shared.stop = 0
    shared.generation = 0
    return 0


@export
def shared_parameter(shared_p, number, value):
    """Set a search parameter by its number in ``search.params``."""
    if 0 <= number < _PARAMETERS:
        carray(shared_p, (_PARAMETERS,), np.int32)[number] = value
    return 0


@export
def shared_stop(shared_p, stop):
    """Tell all searches to return (1), or make them free to run (0)."""
    carray(shared_p, (1,), SHARED)[0].stop = stop
    return 0


@export
def shared_age(shared_p):
    """Begin a new generation of table entries: older ones make room first."""
    shared = carray(shared_p, (1,), SHARED)[0]
    shared.generation = (shared.generation + 1) & 63
    return shared.generation


@export
def worker_forget(worker_p):
    """Clear history, counter moves and barred cells."""
    forget(carray(worker_p, (1,), WORKER)[0])
    return 0


@export
def worker_fade(worker_p):
    """Halve the history scores, between two moves of a game."""
    fade_history(carray(worker_p, (1,), WORKER)[0])
    return 0


@export
def worker_bar(worker_p, cell):
    """Keep a cell out of the root moves; cell 0 frees all of them."""
    worker = carray(worker_p, (1,), WORKER)[0]
    if cell == 0:
        worker.barred[:] = U64(0)
    else:
        worker.barred[cell >> 6] |= bit_of(cell)
    return 0


@export
def worker_prepare(worker_p, evaluator_p, shared_p, node_limit, distinct):
    """Make a worker ready to search its game; return the number of root moves.

    ``distinct`` 1 keeps one of the moves that a symmetry of the position takes to each other.
    """
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    shared = carray(shared_p, (1,), SHARED)[0]
    return prepare_root(worker, evaluator, shared, node_limit, distinct)


@export
def worker_drop(worker_p, cell):
    """Take a cell off the root moves, unless it is the only one; return how many are left."""
    return drop_root(carray(worker_p, (1,), WORKER)[0], cell)


@export
def worker_iterate(worker_p, evaluator_p, shared_p, depth, first):
    """Search one iteration to ``depth`` plies; return 1 if completed, 0 if stopped."""
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    shared = carray(shared_p, (1,), SHARED)[0]
    return iterate(worker, evaluator, shared, depth, first)


@export
def worker_note(worker_p, evaluator_p, shared_p, line_p, length, first, value):
    """Write a proven win to the table: the positions of a line from the worker's position on.

    The winner makes its moves number ``first``, 0 or 1, and every second one from there on;
    ``value`` is his, seen from the beginning of the line.
    """
    worker = carray(worker_p, (1,), WORKER)[0]
    evaluator = carray(evaluator_p, (1,), EVALUATOR)[0]
    shared = carray(shared_p, (1,), SHARED)[0]
    line = carray(line_p, (length,), np.int64)
    note_win(worker, evaluator, shared, line, length, first, value)
    return 0


@export
def worker_counters(worker_p, out_p):
    """Write nodes, seldepth, completed depth, changes of the best move, stopped, root moves."""
    worker = carray(worker_p, (1,), WORKER)[0]
    out = carray(out_p, (6,), np.int64)
    out[0] = worker.nodes
    out[1] = worker.seldepth
    out[2] = worker.root_depth
    out[3] = worker.root_changes
    out[4] = worker.stopped
    out[5] = worker.root_count
    return 6


@export
def worker_line(worker_p, place_in_order, out_p, room):
    """Write value and line of a root move; return the length of the line, at most ``room``."""
    worker = carray(worker_p, (1,), WORKER)[0]
    out = carray(out_p, (room + 1,), np.int64)
    out[0] = worker.root_values[place_in_order]
    length = min(np.int64(worker.root_pv_length[place_in_order]), room)
    if length == 0 and room > 0:
        out[1] = worker.root_moves[place_in_order]
        return 1
    for i in range(length):
        out[i + 1] = worker.root_pv[place_in_order, i]
    return length


# Learning ----------------------------------------------------------------------------


@export
def game_features(game_p, out_p):
    """Write what the evaluation sees, as int32, and return how many numbers that are.

    The threat mask of the side to move, then four numbers for every empty cell: the cell,
    its combination for black and for white, and 1 if it is near a stone, else 0.
    """
    out = carray(out_p, (1 + 4 * MAX_STONES,), np.int32)
    return write_features(carray(game_p, (1,), STATE)[0], out)
