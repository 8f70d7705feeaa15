"""The block shared by the threads of a search: parameters, stop flag, transposition table.

An entry of the table is two words: the key XOR the data, and the data. After a torn write by
another thread the pair does not match, so the entry is not found. ``probe`` returns a copy of the
data word, ``store`` writes an entry.
"""

import numpy as np

from ...kernel import fill_line, kernel, record
from ...kernel.bits import U64, packed, prefetch
from ...position.board import bucket_of
from ...position.geometry import PADDED_CELLS
from ...values import EVAL_LIMIT, WIN, WIN_BAND
from ..parameters import ONE, PARAMETERS

BUCKET_WORDS = 8  # a cache line: four entries of a key and a word
MAX_WORDS = 3 << 26  # 1.5 GiB of table: the largest that a record type can describe

PARAMS = record(**dict.fromkeys(PARAMETERS, np.int32))
SHARED = record(
    params=PARAMS,
    gap=fill_line(PARAMS.itemsize, 3 * 8),
    stop=np.int64,  # set by the host: searches return as soon as they see it
    generation=np.int64,  # of the table's entries, below GENERATIONS
    buckets=np.int64,  # number of buckets allocated by the host
    words=(np.uint64, MAX_WORDS),  # bucket * BUCKET_WORDS + entry * 2: key ^ data, data
)
HEAD_BYTES = SHARED.itemsize - 8 * MAX_WORDS

UPPER = 1  # bounds, as bits: the value is at most, at least, or exactly this
LOWER = 2
EXACT = 3

# The data word; depths are in quarter plies, from ``LOWEST_STEP`` on.
value_of, eval_of, cell_of_entry, steps_of, bound_of, generation_of, pack_data = packed(
    value=-16, eval=-16, cell=10, depth=8, bound=2, generation=6
)
GENERATIONS = 64
DEPTH_STEP = ONE // 4
LOWEST_STEP, HIGHEST_STEP = -8, 247


@kernel
def depth_of(data):
    """Return the stored depth in depth units, rounded down to a quarter ply."""
    return (steps_of(data) + LOWEST_STEP) * DEPTH_STEP


@kernel
def shift_ends(value, plies):
    """Return a value with forced ends ``plies`` nearer; the table counts them from the node."""
    if value >= WIN_BAND:
        return value + plies
    if value <= -WIN_BAND:
        return value - plies
    return value


@kernel
def expect(shared, key):
    """Prefetch the bucket of a key."""
    prefetch(shared.words, bucket_of(key, shared.buckets) * BUCKET_WORDS)


@kernel
def begin_generation(shared):
    """Begin a new generation of entries; older ones are replaced first."""
    shared.generation = (shared.generation + 1) & (GENERATIONS - 1)


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
def bound_within(best, alpha, beta):
    """Return what a fail-soft result of a search in the window is a bound of."""
    return LOWER if best >= beta else (EXACT if best > alpha else UPPER)


@kernel
def store(shared, key, ply, value, static, cell, depth, bound):
    """Store a result; ``value`` counts forced ends from the root, ``depth`` is in units.

    An entry of the same position is overwritten unless it is much deeper; otherwise the entry with
    the least depth, minus eight plies per generation of age, is replaced.
    """
    assert -WIN <= value <= WIN and -EVAL_LIMIT <= static <= EVAL_LIMIT
    assert 0 <= cell < PADDED_CELLS and UPPER <= bound <= EXACT and 0 <= ply
    start = bucket_of(key, shared.buckets) * BUCKET_WORDS
    steps = min(max(depth // DEPTH_STEP, LOWEST_STEP), HIGHEST_STEP)
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
        age = (shared.generation - generation_of(data)) & (GENERATIONS - 1)
        worth = depth_of(data) - age * 8 * ONE
        if worth < lowest:
            lowest = worth
            target = at
    data = pack_data(
        np.int64(shift_ends(value, ply)), np.int64(static), np.int64(cell),
        np.int64(steps - LOWEST_STEP), np.int64(bound), np.int64(shared.generation),
    )  # fmt: skip
    shared.words[target] = key ^ data
    shared.words[target + 1] = data
