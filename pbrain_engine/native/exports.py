"""The C interface of the kernel for the Python layers.

Every function takes addresses of memory that the caller owns (records, parameters ``..._p``) and
int64s, and returns an int64. Cells are padded cell indices (``position.geometry``). Blocks are
opaque to the caller; the library tells their ``SIZES``. A *game* is a STATE; a *worker* begins with
its game, so its address can be used as a game's, and likewise an *evaluator* begins with the
tables.
"""

from __future__ import annotations

import numpy as np
from numba import carray

from ..eval.evaluator import (
    EVALUATOR,
    WEIGHTS,
    apply_weights,
    ask_moves,
    begin,
    evaluate,
    has_network,
    judge,
    logit_of,
    move_score,
    quick_move,
)
from ..eval.network.unpack import fill_hidden_codes, unpack
from ..kernel import SIZES, export, export_kernel, kernel
from ..kernel.bits import U64, lowest_bit, rotate_right
from ..patterns.forbidden import is_forbidden
from ..patterns.state import (
    STATE,
    clear_state,
    last_stone_wins,
    near_cells,
    pass_turn,
    place,
    play,
    same_as_fresh,
    take_back,
    undo,
)
from ..patterns.tables import TABLES, fill_lines, fill_tables
from ..position.board import bit_of
from ..position.geometry import MAX_STONES, NO_CELL
from ..search.alphabeta.ordering import mark_moves
from ..search.alphabeta.root import (
    drop_root,
    iterate,
    note_win,
    prepare_root,
)
from ..search.alphabeta.table import HEAD_BYTES, SHARED, begin_generation
from ..search.alphabeta.worker import WORKER, fade_history, forget
from ..search.threats.memory import THREATS, list_marks
from . import exports_lessons as exports_lessons
from . import exports_threats as exports_threats

_BYTES = STATE.itemsize
SIZES.update(
    evaluator=EVALUATOR.itemsize,
    weights=WEIGHTS.itemsize,
    game=_BYTES,
    worker=WORKER.itemsize,
    shared_head=HEAD_BYTES,
)

# Kernels exported directly -----------------------------------------------------------

# the traits of a rule: half, exact for black and white, closing, fouls; the memory must be zero
export_kernel("build_tables", fill_tables, TABLES, int, int, int, int, int)
export_kernel("set_weights", apply_weights, TABLES, WEIGHTS)  # then set up games on them anew
export_kernel("game_new", clear_state, STATE, TABLES, int, int)  # width, height
export_kernel("game_place", place, STATE, TABLES, int, int)  # cell, kind: the turn does not pass
export_kernel("game_take_back", take_back, STATE, TABLES)  # same here; returns the cell
export_kernel("game_play", play, STATE, TABLES, int)  # cell
export_kernel("game_undo", undo, STATE, TABLES)
export_kernel("game_pass", pass_turn, STATE)
export_kernel("game_wins", last_stone_wins, STATE)
export_kernel("game_forbids", is_forbidden, STATE, TABLES, int)  # cell
export_kernel("game_value", evaluate, STATE, TABLES)
export_kernel("game_quick_move", quick_move, STATE, TABLES)
export_kernel("game_check", same_as_fresh, STATE, TABLES)
export_kernel("worker_forget", forget, WORKER)
export_kernel("worker_fade", fade_history, WORKER)
export_kernel("shared_age", begin_generation, SHARED)
# node limit; whether to search only one of several moves equivalent by symmetry:
export_kernel("worker_prepare", prepare_root, WORKER, EVALUATOR, SHARED, int, int)
export_kernel("worker_drop", drop_root, WORKER, int)  # cell
export_kernel("worker_iterate", iterate, WORKER, EVALUATOR, SHARED, int, int)  # depth, first

# Tables and games --------------------------------------------------------------------


@export
def game_copy(game_p, other_p):
    """Copy a game completely, so that moves can be taken back in the copy, too."""
    game, other = carray(game_p, (_BYTES,), np.uint8), carray(other_p, (_BYTES,), np.uint8)
    for i in range(_BYTES):
        game[i] = other[i]
    return 0


@export
def allow_walls(evaluator: EVALUATOR):
    """Extend tables and network to boards with blocked cells."""
    fill_lines(evaluator.tables, True)
    if has_network(evaluator):
        fill_hidden_codes(evaluator.network, np.int64(evaluator.tables.half))
    return 0


WALK = 12  # most stones of a walk


@export
def game_pairs(state: STATE, tables: TABLES, count):
    """Play and undo ``count`` stones near others, in a random walk; return the number.

    A walk, as in a search: of what is done again and again a processor learns each branch.
    """
    position = state.position
    start = np.int64(position.ply)
    chance = U64(1)
    pairs = 0
    while pairs < count or position.ply > start:
        chance ^= chance << U64(13)  # xorshift
        chance ^= chance >> U64(7)
        chance ^= chance << U64(17)
        number = np.int64(chance >> U64(40))
        stones = position.ply - start
        cell = NO_CELL
        if pairs < count and stones < WALK and (stones == 0 or number & 1 != 0):
            cell = near_cell(state, number >> 1)
        if cell != NO_CELL:
            play(state, tables, cell)
            pairs += 1
        elif stones > 0:
            undo(state, tables)
        else:
            return pairs
    return pairs


@kernel
def near_cell(state, number):
    """Return an empty cell near stones, chosen by a number, or NO_CELL."""
    position = state.position
    words = np.int64(position.end_set) - np.int64(position.first_set)
    for i in range(words):
        word = np.int64(position.first_set) + (number + i) % words
        cells = near_cells(state, word)
        if cells != U64(0):
            turn = number >> 4
            return word * 64 + (lowest_bit(rotate_right(cells, turn)) + turn & 63)
    return NO_CELL


# The network --------------------------------------------------------------------------

SCORE_TEMPERATURE = 26  # points of score, as learned, that make a move e times likelier


@export
def network_load(evaluator: EVALUATOR, block_p, words):
    """Load the network of a rule family from ``words`` int16; return 1, or 0 if it is invalid."""
    block = carray(block_p, (words,), np.int16)
    return unpack(evaluator.network, block, words, np.int64(evaluator.tables.half))


@export
def worker_value(worker: WORKER, evaluator: EVALUATOR):
    """Return the static evaluation of the worker's position for the side to move."""
    begin(worker.accumulator, evaluator, worker.state)
    return judge(worker.accumulator, evaluator, worker.state)


@export
def worker_policy(worker: WORKER, evaluator: EVALUATOR, out_p, room):
    """Write cell and logit (in 256ths) of the legal moves of a search; return their number.

    ``room``: capacity of ``out`` in pairs. Without a network, logits come from the move scores.
    """
    out = carray(out_p, (2 * room,), np.int64)
    side = np.int64(worker.state.position.side)
    begin(worker.accumulator, evaluator, worker.state)
    if has_network(evaluator):
        ask_moves(worker.accumulator, evaluator, worker.state)
    mark_moves(worker, evaluator.tables)
    count = 0
    moves = worker.stack[0].moves
    for i in range(list_marks(worker, moves, 0)):
        cell = np.int64(moves[i])
        if count == room or is_forbidden(worker.state, evaluator.tables, cell):
            continue
        out[2 * count] = cell
        score = np.int64(move_score(worker.state, evaluator.tables, side, cell))
        if has_network(evaluator):
            logit = logit_of(worker.accumulator, evaluator, worker.state, cell, score)
        else:
            logit = score * 256 // SCORE_TEMPERATURE
        out[2 * count + 1] = logit
        count += 1
    return count


# Search ------------------------------------------------------------------------------


@kernel
def set_stop(memory, stop):
    """Make all searches on a memory return (1), or let them run again (0)."""
    memory.stop = stop


export_kernel("shared_stop", set_stop, SHARED, int)
export_kernel("threats_stop", set_stop, THREATS, int)


@export
def set_parameter(parameters_p, number, value):
    """Set a search parameter in a search's memory, by its index in ``search.parameters``."""
    carray(parameters_p, (number + 1,), np.int32)[number] = value
    return 0


@export
def shared_new(shared: SHARED, buckets):
    """Set up the shared block: ``buckets`` of 64 bytes follow its head, all zero."""
    shared.buckets = buckets
    return 0


@export
def worker_bar(worker: WORKER, cell):
    """Exclude a cell from the root moves; cell 0 clears all exclusions."""
    if cell == 0:
        worker.barred[:] = U64(0)
    else:
        worker.barred[cell >> 6] |= bit_of(cell)
    return 0


@export
def worker_end(worker: WORKER, out_p):
    """Write the cells of the position where the search reached its node limit; return their number.

    The cells start with the first stone of the game; 0: the search ended before its limit.
    """
    out = carray(out_p, (MAX_STONES,), np.int64)
    for i in range(worker.end_ply):
        out[i] = worker.end_moves[i]
    return worker.end_ply


@export
def worker_note(worker: WORKER, evaluator: EVALUATOR, shared: SHARED, line_p, length, first, value):
    """Store a proven win in the table for the positions of a line from the worker's position on.

    The winner plays move number ``first``, 0 or 1, and every second one after it; ``value`` is the
    winner's, seen from the start of the line.
    """
    line = carray(line_p, (length,), np.int64)
    note_win(worker, evaluator, shared, line, length, first, value)
    return 0


@export
def worker_counters(worker: WORKER, out_p):
    """Write nodes, seldepth, changes of the best move, root moves."""
    out = carray(out_p, (4,), np.int64)
    out[0] = worker.nodes
    out[1] = worker.seldepth
    out[2] = worker.root_changes
    out[3] = worker.root_count
    return 4


@export
def worker_line(worker: WORKER, place_in_order, out_p, room):
    """Write value and line of a root move; return the length of the line, capped at ``room``."""
    out = carray(out_p, (room + 1,), np.int64)
    cell = np.int64(worker.root_moves[place_in_order])
    out[0] = worker.root_values[cell]
    length = min(np.int64(worker.root_pv_length[cell]), room)
    if length == 0 and room > 0:
        out[1] = cell
        return 1
    for i in range(length):
        out[i + 1] = worker.root_pv[cell, i]
    return length
