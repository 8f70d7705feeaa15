"""The table of the search by fours: which positions have such a win, and which have none.

An entry is the key and a word, lowest bits first: stones 8, kind 2, cell 10, effort 6.
"""

from __future__ import annotations

import numpy as np

from ...bits import U64, prefetch
from ...kernel import kernel
from ...position.geometry import NO_CELL, PADDED_CELLS
from .memory import BUCKET_WORDS, bucket_from, find_entry, slot_for

KNOWN_CUT = 1  # no win with at most so many stones
KNOWN_WIN = 2  # a win with so many stones, beginning on the cell
KNOWN_NONE = 3  # no win at all
_EFFORT_BIT = 20


@kernel
def stones_of(data):
    """Return the stones of an entry: of the win, or of the bound within which there is none."""
    return np.int64(data & U64(255))


@kernel
def kind_of(data):
    """Return what an entry knows."""
    return np.int64((data >> U64(8)) & U64(3))


@kernel
def cell_of_win(data):
    """Return the first move of an entry's win."""
    return np.int64((data >> U64(10)) & U64(1023))


@kernel
def expect_fours(threats, key):
    """Begin to load the bucket of a key that will soon be probed."""
    prefetch(threats.words, bucket_from(key, threats.vcf_buckets) * BUCKET_WORDS)


@kernel
def probe_fours(threats, key):
    """Return what the table knows about a position, or 0."""
    return find_entry(threats, bucket_from(key, threats.vcf_buckets), key)


@kernel
def store_fours(threats, key, kind, stones, cell, nodes):
    """Write what a search of so many nodes found out about a position."""
    assert KNOWN_CUT <= kind <= KNOWN_NONE and stones > 0 and 0 <= cell < PADDED_CELLS
    assert (cell != NO_CELL) == (kind == KNOWN_WIN)
    effort = 0
    while nodes >> effort > 0:
        effort += 1
    slot = slot_for(threats, bucket_from(key, threats.vcf_buckets), key, _EFFORT_BIT)
    data = U64(min(stones, 255)) | (U64(kind) << U64(8)) | (U64(cell) << U64(10))
    threats.words[slot] = key
    threats.words[slot + 1] = data | (U64(effort) << U64(_EFFORT_BIT))
