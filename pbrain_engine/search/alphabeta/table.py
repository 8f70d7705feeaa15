"""What all threads of a search share: parameters, the stop flag and the transposition table.

An entry is two words: the key mixed with the data, and the data. A torn write by another
thread makes the pair disagree, so it is not found rather than believed. Reading gives a
copy (``probe`` returns the data word), writing is explicit (``store``).
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel, record
from ...kernel.bits import U64, prefetch
from ...position.geometry import PADDED_CELLS
from ...values import EVAL_LIMIT, WIN, WIN_BAND
from ..parameters import ALPHABETA, ONE

ENTRIES = 4  # entries of a bucket: one cache line
MAX_WORDS = 3 << 26  # 1.5 GiB of table: the largest that a record type can describe

PARAMS = record(**dict.fromkeys(ALPHABETA, np.int32))
_HEAD = PARAMS.itemsize + 3 * 8
_PAD = -_HEAD % 64

SHARED = record(
    params=PARAMS,
    pad=(np.uint8, _PAD),
    stop=np.int64,  # set by the host: every search returns as soon as it sees it
    generation=np.int64,  # of the table's entries, 0 to 63
    buckets=np.int64,  # how many buckets the host has given memory for
    words=(np.uint64, MAX_WORDS),  # bucket * 8 + entry * 2: key ^ data, data
)
HEAD_BYTES = _HEAD + _PAD

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
def to_table(value, ply):
    """Return a value as the table keeps it: forced ends counted from the node, not the root."""
    if value >= WIN_BAND:
        return value + ply
    if value <= -WIN_BAND:
        return value - ply
    return value


@kernel
def from_table(value, ply):
    """Return a table value as seen from the root; the inverse of ``to_table``."""
    if value >= WIN_BAND:
        return value - ply
    if value <= -WIN_BAND:
        return value + ply
    return value


@kernel
def bucket_of(shared, key):
    """Return the first word of the bucket that a key belongs to."""
    return np.int64(((key >> U64(32)) * U64(shared.buckets)) >> U64(32)) * (2 * ENTRIES)


@kernel
def expect(shared, key):
    """Begin to load the bucket of a key that will soon be probed."""
    prefetch(shared.words, bucket_of(shared, key))


@kernel
def probe(shared, key):
    """Return the data word stored for a key, or 0."""
    start = bucket_of(shared, key)
    for i in range(ENTRIES):
        data = shared.words[start + 2 * i + 1]
        if shared.words[start + 2 * i] ^ data == key and data != U64(0):
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
    start = bucket_of(shared, key)
    steps = min(max(depth // _DEPTH_STEP, -_DEPTH_OFFSET), 255 - _DEPTH_OFFSET)
    target = start
    lowest = 1 << 30
    for i in range(ENTRIES):
        data = shared.words[start + 2 * i + 1]
        if data == U64(0):
            if lowest > -(1 << 29):
                lowest = -(1 << 29)
                target = start + 2 * i
            continue
        if shared.words[start + 2 * i] ^ data == key:
            if bound != EXACT and depth_of(data) > depth + 2 * ONE:
                if generation_of(data) == shared.generation:
                    return
            if cell == 0:
                cell = cell_of_entry(data)
            target = start + 2 * i
            break
        age = (shared.generation - generation_of(data)) & 63
        worth = depth_of(data) - age * 8 * ONE
        if worth < lowest:
            lowest = worth
            target = start + 2 * i
    data = U64(to_table(value, ply) + _OFFSET) | (U64(static + _OFFSET) << U64(16))
    data |= (U64(cell) << U64(32)) | (U64(steps + _DEPTH_OFFSET) << U64(42))
    data |= (U64(bound) << U64(50)) | (U64(shared.generation) << U64(52))
    shared.words[target] = key ^ data
    shared.words[target + 1] = data
