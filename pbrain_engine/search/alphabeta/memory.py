"""The memory of the search: what its threads share, and what each of them has.

Shared are the parameters, with the margins that follow from them, the stop flag and the
transposition table. An entry of that is two words: the key mixed with the data, and the data. A
torn write by another thread makes the pair disagree, so it is not found rather than believed.
Reading gives a copy (``probe`` returns the data word), writing is explicit (``store``).

Each thread has a worker: its game, the stack of nodes, history and root moves.
"""

import numpy as np

from ...eval.evaluator import ACCUMULATOR
from ...kernel import fill_line, kernel, record
from ...kernel.bits import U64, breathe, prefetch
from ...patterns.shapes import MAKES_THREE
from ...patterns.state import STATE
from ...position.board import SETS, bucket_of
from ...position.geometry import MAX_STONES, NO_CELL, PADDED_CELLS
from ...values import EVAL_LIMIT, WIN, WIN_BAND
from ..parameters import ONE, PARAMETERS

BUCKET_WORDS = 8  # a cache line: four entries of a key and a word
MAX_WORDS = 3 << 26  # 1.5 GiB of table: the largest that a record type can describe

PARAMS = record(**dict.fromkeys(PARAMETERS, np.int32))
SHARED = record(
    params=PARAMS,
    gap=fill_line(PARAMS.itemsize, 3 * 8),
    stop=np.int64,  # set by the host: every search returns as soon as it sees it
    generation=np.int64,  # of the table's entries, 0 to 63
    buckets=np.int64,  # how many buckets the host has given memory for
    words=(np.uint64, MAX_WORDS),  # bucket * BUCKET_WORDS + entry * 2: key ^ data, data
)
HEAD_BYTES = SHARED.itemsize - 8 * MAX_WORDS

UPPER = 1  # bounds, as bits: the value is at most, at least, or exactly this
LOWER = 2
EXACT = 3

# Data word, lowest bits first: value 16, eval 16, cell 10, depth 8, bound 2, generation 6.
_OFFSET = 32768
_DEPTH_STEP = ONE // 4
_DEPTH_OFFSET = 8


@kernel
def value_of(data):
    """Return the stored value, still relative to the entry's own ply."""
    return np.int64(data & U64(0xFFFF)) - _OFFSET


@kernel
def eval_of(data):
    """Return the stored static evaluation."""
    return np.int64((data >> U64(16)) & U64(0xFFFF)) - _OFFSET


@kernel
def cell_of_entry(data):
    """Return the stored best move, or NO_CELL."""
    return np.int64((data >> U64(32)) & U64(1023))


@kernel
def depth_of(data):
    """Return the stored depth in depth units, rounded down to a quarter ply."""
    return (np.int64((data >> U64(42)) & U64(255)) - _DEPTH_OFFSET) * _DEPTH_STEP


@kernel
def bound_of(data):
    """Return UPPER, LOWER or EXACT."""
    return np.int64((data >> U64(50)) & U64(3))


@kernel
def generation_of(data):
    """Return the generation in which the entry was written or last used."""
    return np.int64((data >> U64(52)) & U64(63))


@kernel
def shift_ends(value, plies):
    """Return a value with forced ends so many plies nearer; the table counts them from the node."""
    if value >= WIN_BAND:
        return value + plies
    if value <= -WIN_BAND:
        return value - plies
    return value


@kernel
def expect(shared, key):
    """Begin to load the bucket of a key that will soon be probed."""
    prefetch(shared.words, bucket_of(key, shared.buckets) * BUCKET_WORDS)


@kernel
def probe(shared, key):
    """Return the data word stored for a key, or 0."""
    start = bucket_of(key, shared.buckets) * BUCKET_WORDS
    for at in range(start, start + BUCKET_WORDS, 2):
        data = shared.words[at + 1]
        if shared.words[at] ^ data == key and data != U64(0):
            return data
    return U64(0)


@kernel
def store(shared, key, ply, value, static, cell, depth, bound):
    """Write what a search found out; values are seen from the root, ``depth`` in units.

    The same position is overwritten unless it holds much deeper knowledge; otherwise the
    entry that is shallowest, less eight plies a generation of age, makes room.
    """
    assert -WIN <= value <= WIN and -EVAL_LIMIT <= static <= EVAL_LIMIT
    assert 0 <= cell < PADDED_CELLS and UPPER <= bound <= EXACT and 0 <= ply
    start = bucket_of(key, shared.buckets) * BUCKET_WORDS
    steps = min(max(depth // _DEPTH_STEP, -_DEPTH_OFFSET), 255 - _DEPTH_OFFSET)
    target = start
    lowest = 1 << 30
    for at in range(start, start + BUCKET_WORDS, 2):
        data = shared.words[at + 1]
        if data == U64(0):
            if lowest > -(1 << 29):
                lowest = -(1 << 29)
                target = at
            continue
        if shared.words[at] ^ data == key:
            if bound != EXACT and depth_of(data) > depth + 2 * ONE:
                if generation_of(data) == shared.generation:
                    return
            if cell == 0:
                cell = cell_of_entry(data)
            target = at
            break
        age = (shared.generation - generation_of(data)) & 63
        worth = depth_of(data) - age * 8 * ONE
        if worth < lowest:
            lowest = worth
            target = at
    data = U64(shift_ends(value, ply) + _OFFSET) | (U64(static + _OFFSET) << U64(16))
    data |= (U64(cell) << U64(32)) | (U64(steps + _DEPTH_OFFSET) << U64(42))
    data |= (U64(bound) << U64(50)) | (U64(shared.generation) << U64(52))
    shared.words[target] = key ^ data
    shared.words[target + 1] = data


# Margins -----------------------------------------------------------------------------


@kernel
def log_of(number):
    """Return 64 * log2 of a positive number, rounded down to linear steps between powers."""
    power = 0
    while number >> (power + 1):
        power += 1
    return 64 * power + ((number - (1 << power)) * 64 >> power)


@kernel
def futility_margin(params, depth, improving):
    """Return by how much the evaluation must exceed beta to be believed at this depth."""
    return params.futility_slope * (depth - ONE * improving) // ONE


@kernel
def razor_margin(params, depth):
    """Return how far below alpha the evaluation leaves the question to the leaf search."""
    return params.razor_base + params.razor_slope * depth // ONE


@kernel
def count_limit(params, depth, improving, pv):
    """Return how many moves a node looks at before it prunes the rest by number."""
    rise = params.count_slope + params.count_curve * depth // ONE
    limit = 100 * params.count_base + rise * depth // ONE
    if pv:
        limit = limit * params.count_pv // 100
    return limit // (100 * (2 - improving))


@kernel
def late_reduction(params, depth, number):
    """Return the reduction, in depth units, of the move with this number."""
    logs = log_of(max(depth // ONE, 1)) * log_of(number)
    return params.reduction_base + (params.reduction_scale * logs >> 12)


@kernel
def policy_reduction(params, unlikely):
    """Return how much more, or less, a move is reduced for what the policy says against it."""
    change = (unlikely - params.policy_even) * params.policy_reduce >> 8
    return min(max(change, -params.policy_less), params.policy_more)


@kernel
def history_bonus(params, depth):
    """Return the history bonus of a move that cut at this depth."""
    plies = depth // ONE + 1
    return min(12 * plies * plies + 40 * plies, params.history_bonus)


# Workers -----------------------------------------------------------------------------

MAX_STACK = 250  # plies from the root that a search may reach
TALLIES = 64  # classes of linear scores, where the best of many are found
STACK_BASE = 2  # frames before the root's, so that a node may look two plies back

FRAME = record(
    moves=(np.int64, MAX_STONES),  # candidate moves with their scores (threats.memory.listed)
    value=np.int32,  # static evaluation for the side to move
    move=np.int32,  # the move being searched
    kind=np.int32,  # its class for the side that plays it
    excluded=np.int32,  # a move that a singular search leaves out
    ranked=np.int32,  # 1 where the policy was asked for the candidates
    unlikely=(np.int16, PADDED_CELLS),  # of each: minus the logarithm of its chance, in 256ths
)

WORKER = record(
    state=STATE,
    gap=fill_line(STATE.itemsize),
    accumulator=ACCUMULATOR,
    stack=(FRAME, MAX_STACK + STACK_BASE + 2),
    marks=(np.uint64, SETS),  # scratch set of a move generator
    tally=(np.int32, TALLIES),  # and how many of its moves score how much
    barred=(np.uint64, SETS),  # cells that the host keeps out of the root moves
    nodes=np.int64,
    node_limit=np.int64,
    stopped=np.int64,  # 1 once this worker has seen the stop flag or its node limit
    seldepth=np.int64,
    root_count=np.int64,
    root_value=np.int64,
    root_depth=np.int64,  # of the last completed iteration
    root_changes=np.int64,  # how often the best move changed in the last iteration
    root_moves=(np.int32, MAX_STONES),  # best first
    root_values=(np.int32, PADDED_CELLS),  # of each by its cell: last exact value, or -INFINITE
    root_pv=(np.int16, (PADDED_CELLS, MAX_STACK)),
    root_pv_length=(np.int32, PADDED_CELLS),
    history=(np.int32, (2, 2, PADDED_CELLS)),  # side, attack or quiet, cell
    counters=(np.int32, (2, PADDED_CELLS)),  # side, enemy's last cell -> reply that cut
    pv=(np.int16, (MAX_STACK + 2, MAX_STACK + 2)),
    pv_length=(np.int32, MAX_STACK + 2),
    end_ply=np.int64,  # stones of the position in which the node limit was met, 0: it was not
    end_moves=(np.int16, MAX_STONES),  # and their cells, from the first of the game
)


@kernel
def is_attack(kind):
    """Return 1 for moves that make a threat, else 0: the two kinds of history."""
    return 1 if kind >= MAKES_THREE else 0


@kernel
def add_history(worker, params, side, kind, cell, bonus):
    """Move a history score towards the limit by a bonus, or away from it by a malus."""
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
    """Clear what a worker has learned about a game."""
    worker.history[:] = 0
    worker.counters[:] = 0
    worker.barred[:] = U64(0)


@kernel
def must_stop(worker, shared):
    """Return whether this search has to return now; looked at in every node.

    The node limit is exact, so that a search by nodes is the same on every machine. The
    stop flag is another thread's and is looked at every 256 nodes.
    """
    if worker.nodes >= worker.node_limit:
        if worker.stopped == 0:  # the position is any one of its tree
            position = worker.state.position
            worker.end_ply = position.ply
            for i in range(position.ply):
                worker.end_moves[i] = position.moves[i]
        worker.stopped = 1
    elif worker.nodes & 255 == 0 and (shared.stop != 0 or breathe(256) != 0):
        worker.stopped = 1
    return worker.stopped != 0


@kernel
def set_pv(worker, ply, cell):
    """Make a move followed by the child's line the line of this ply."""
    length = worker.pv_length[ply + 1]
    assert 0 <= length <= MAX_STACK and cell != NO_CELL
    worker.pv[ply, 0] = cell
    for i in range(length):
        worker.pv[ply, i + 1] = worker.pv[ply + 1, i]
    worker.pv_length[ply] = length + 1
