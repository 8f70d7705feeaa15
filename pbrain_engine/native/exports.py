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

from ..eval.evaluate import (
    WEIGHTS,
    apply_weights,
    evaluate,
    threat_mask,
    write_features,
    write_lesson,
)
from ..eval.evaluator import EVALUATOR, has_network
from ..eval.network.unpack import fill_hidden_codes
from ..kernel import BOUNDS_CHECK, export
from ..kernel.bits import U64, lowest_bit
from ..patterns.forbidden import is_forbidden
from ..patterns.shapes import COMBINATIONS
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
from ..position.geometry import MARGIN, MAX_STONES, STRIDE
from ..search.alphabeta.leaf import quick_move
from ..search.alphabeta.memory import HEAD_BYTES, SHARED, WORKER, fade_history, forget
from ..search.alphabeta.root import drop_root, iterate, note_win, prepare_root, think_alone
from ..search.parameters import ALPHABETA
from . import exports_mcts as exports_mcts
from . import exports_network as exports_network
from . import exports_threats as exports_threats

if BOUNDS_CHECK:
    from . import exports_checks as exports_checks

_EVALUATOR_BYTES = EVALUATOR.itemsize
_STATE_BYTES = STATE.itemsize
_WORKER_BYTES = WORKER.itemsize
_WEIGHTS_BYTES = WEIGHTS.itemsize
_PARAMETERS = len(ALPHABETA)


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
def build_tables(tables: TABLES, rule):
    """Fill the tables of a rule; the memory must be zero at first use."""
    fill_tables(tables, rule)
    return 0


@export
def allow_walls(evaluator: EVALUATOR):
    """Extend tables and network to boards with blocked cells among the open ones."""
    tables = evaluator.tables
    fill_lines(tables, tables.half, tables.rule, True)
    if has_network(evaluator):
        fill_hidden_codes(evaluator.network, np.int64(tables.half))
    return 0


@export
def set_weights(tables: TABLES, weights: WEIGHTS):
    """Write one block of weights into the tables; games on them have to be set up anew."""
    apply_weights(tables, weights)
    return 0


# Games -------------------------------------------------------------------------------


@export
def game_new(game: STATE, tables: TABLES, width, height):
    """Make the game an empty board."""
    clear_state(game, tables, width, height)
    return 0


@export
def game_place(game: STATE, tables: TABLES, cell, kind):
    """Put a stone or wall on an empty cell; the turn does not pass."""
    place(game, tables, cell, kind)
    return 0


@export
def game_take_back(game: STATE, tables: TABLES):
    """Take the last stone or wall off; the turn does not change. Returns its cell."""
    return take_back(game, tables)


@export
def game_pass(game: STATE):
    """Give the move to the other side."""
    skip(game)
    return 0


@export
def game_wins(game: STATE):
    """Return 1 if the last stone completed a winning row, else 0."""
    return 1 if last_stone_wins(game) else 0


@export
def game_forbids(game: STATE, tables: TABLES, cell):
    """Return 1 if the rule forbids the side to move this empty cell, else 0."""
    return 1 if is_forbidden(game, tables, cell) else 0


@export
def game_value(game: STATE, tables: TABLES):
    """Return the static evaluation for the side to move."""
    return evaluate(game, tables)


@export
def game_quick_move(state: STATE, tables: TABLES):
    """Return a sensible legal cell, or 0 if there is none."""
    return quick_move(state, tables)


@export
def game_check(game: STATE, tables: TABLES):
    """Return 0 if the incremental state equals one computed afresh, else the part that differs."""
    return same_as_fresh(game, tables)


@export
def game_pairs(state: STATE, tables: TABLES, rounds):
    """Play and undo every near empty cell ``rounds`` times; return the number of pairs."""
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
def shared_new(shared: SHARED, buckets):
    """Set up the shared block: ``buckets`` of 64 bytes follow its head, all zero."""
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
def shared_stop(shared: SHARED, stop):
    """Tell all searches to return (1), or make them free to run (0)."""
    shared.stop = stop
    return 0


@export
def shared_age(shared: SHARED):
    """Begin a new generation of table entries: older ones make room first."""
    shared.generation = (shared.generation + 1) & 63
    return shared.generation


@export
def worker_forget(worker: WORKER):
    """Clear history, counter moves and barred cells."""
    forget(worker)
    return 0


@export
def worker_fade(worker: WORKER):
    """Halve the history scores, between two moves of a game."""
    fade_history(worker)
    return 0


@export
def worker_bar(worker: WORKER, cell):
    """Keep a cell out of the root moves; cell 0 frees all of them."""
    if cell == 0:
        worker.barred[:] = U64(0)
    else:
        worker.barred[cell >> 6] |= bit_of(cell)
    return 0


@export
def worker_prepare(worker: WORKER, evaluator: EVALUATOR, shared: SHARED, node_limit, distinct):
    """Make a worker ready to search its game; return the number of root moves.

    ``distinct`` 1 keeps one of the moves that a symmetry of the position takes to each other.
    """
    return prepare_root(worker, evaluator, shared, node_limit, distinct)


@export
def worker_drop(worker: WORKER, cell):
    """Take a cell off the root moves, unless it is the only one; return how many are left."""
    return drop_root(worker, cell)


@export
def worker_iterate(worker: WORKER, evaluator: EVALUATOR, shared: SHARED, depth, first):
    """Search one iteration to ``depth`` plies; return 1 if completed, 0 if stopped."""
    return iterate(worker, evaluator, shared, depth, first)


@export
def worker_think(worker: WORKER, evaluator: EVALUATOR, shared: SHARED, node_limit, out_p):
    """Search the worker's game by nodes; return the number of root moves, 0: all are forbidden.

    Writes the best move and its value, then the position in which the search met its limit, which
    is any one of its tree: how many stones (0: it ended before) and the cells of those.
    """
    out = carray(out_p, (3 + MAX_STONES,), np.int64)
    shared.generation = (shared.generation + 1) & 63
    worker.barred[:] = U64(0)
    out[1] = think_alone(worker, evaluator, shared, node_limit)
    out[0] = worker.root_moves[0]
    out[2] = worker.end_ply
    for i in range(worker.end_ply):
        out[3 + i] = worker.end_moves[i]
    return worker.root_count


@export
def worker_note(worker: WORKER, evaluator: EVALUATOR, shared: SHARED, line_p, length, first, value):
    """Write a proven win to the table: the positions of a line from the worker's position on.

    The winner makes its moves number ``first``, 0 or 1, and every second one from there on;
    ``value`` is his, seen from the beginning of the line.
    """
    line = carray(line_p, (length,), np.int64)
    note_win(worker, evaluator, shared, line, length, first, value)
    return 0


@export
def worker_counters(worker: WORKER, out_p):
    """Write nodes, seldepth, completed depth, changes of the best move, stopped, root moves."""
    out = carray(out_p, (6,), np.int64)
    out[0] = worker.nodes
    out[1] = worker.seldepth
    out[2] = worker.root_depth
    out[3] = worker.root_changes
    out[4] = worker.stopped
    out[5] = worker.root_count
    return 6


@export
def worker_line(worker: WORKER, place_in_order, out_p, room):
    """Write value and line of a root move; return the length of the line, at most ``room``."""
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
def game_features(game: STATE, out_p):
    """Write what the evaluation sees, as int32, and return how many numbers that are.

    The threat mask of the side to move, then four numbers for every empty cell: the cell,
    its combination for black and for white, and 1 if it is near a stone, else 0.
    """
    out = carray(out_p, (1 + 4 * MAX_STONES,), np.int32)
    return write_features(game, out)


@export
def game_lessons(
    state: STATE, tables: TABLES, width, height, moves_p, count, fours_p, facts_p, near_p, scores_p
):
    """Play the moves of a game; write what is learned of the position before each of them.

    ``moves``: int16, ``y * width + x``. ``fours``: of each combination, a byte that is 1 if it
    has a four. Of each position three int16: the threat mask of the side to move, the linear
    evaluation for it, and the number of its candidates; and 64 bytes, in which a bit for each
    cell of the board says whether it is one. Then the linear score, as int16, of each
    candidate in the order of cells, for all positions. Returns how many scores there are.
    """
    moves = carray(moves_p, (count,), np.int16)
    fours = carray(fours_p, (COMBINATIONS,), np.uint8)
    facts = carray(facts_p, (count, 3), np.int16)
    near = carray(near_p, (count, 64), np.uint8)
    scores = carray(scores_p, (count * MAX_STONES,), np.int16)
    clear_state(state, tables, width, height)
    end = 0
    for i in range(count):
        found = write_lesson(state, tables, fours, near[i], scores, end)
        facts[i, 0] = threat_mask(state, np.int64(state.position.side))
        facts[i, 1] = evaluate(state, tables)
        facts[i, 2] = found - end
        end = found
        move = np.int64(moves[i])
        play(state, tables, (move // width + MARGIN) * STRIDE + move % width + MARGIN)
    return end
