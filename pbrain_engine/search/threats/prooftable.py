"""The table of the search by threats: proof and disproof numbers of positions.

An entry is the key and a word, lowest bits first: proof number 20, disproof number 20, cell 10,
length 7, level 3, effort 4. A win holds on whatever level it was found; that there is none is
known for this level and those below.
"""

from __future__ import annotations

import numpy as np

from ...kernel import kernel
from ...kernel.bits import U64, prefetch
from ...position.geometry import PADDED_CELLS
from ...position.rules import WHITE
from .memory import BUCKET_WORDS, bucket_from, find_entry, slot_for

UNPROVABLE = (1 << 20) - 1  # proof number of what cannot be proven
_ATTACKED_BY_WHITE = U64(0x9E3779B97F4A7C15)
_MOST_EFFORT = 15
_EFFORT_BIT = 60


@kernel
def proof_of(data):
    """Return the proof number: 0 where the attacker wins."""
    return np.int64(data & U64(UNPROVABLE))


@kernel
def disproof_of(data):
    """Return the disproof number: 0 where he has no win by threats."""
    return np.int64((data >> U64(20)) & U64(UNPROVABLE))


@kernel
def cell_of_proof(data):
    """Return the winning move, or the answer that holds out longest."""
    return np.int64((data >> U64(40)) & U64(1023))


@kernel
def length_of(data):
    """Return the attacker's stones to the win, where it is proven."""
    return np.int64((data >> U64(50)) & U64(127))


@kernel
def pack(proof, disproof):
    """Return both numbers of a node as one; ``proof_of`` and ``disproof_of`` read them."""
    assert 0 <= proof <= UNPROVABLE and 0 <= disproof <= UNPROVABLE
    return disproof << 20 | proof


PROVEN = np.int64(UNPROVABLE << 20)  # packed numbers of a node that is won
DISPROVEN = np.int64(UNPROVABLE)


@kernel
def level_of(data):
    """Return the level of the search."""
    return np.int64((data >> U64(57)) & U64(7))


@kernel
def effort_in(data):
    """Return how much work an entry stands for, as a power of four."""
    return np.int64(data >> U64(_EFFORT_BIT))


@kernel
def proof_key(threats, key):
    """Return the key of a position in the table: it matters who attacks."""
    return key ^ _ATTACKED_BY_WHITE if threats.attacker == WHITE else key


@kernel
def proof_bucket_of(threats, key):
    """Return the bucket of a key of ``proof_key``: this table's stand behind those of fours."""
    return threats.vcf_buckets + bucket_from(key, threats.vct_buckets)


@kernel
def expect_proof(threats, key):
    """Begin to load the bucket of a key that will soon be probed."""
    prefetch(threats.words, proof_bucket_of(threats, key) * BUCKET_WORDS)


@kernel
def probe_proof(threats, key):
    """Return the data stored for a key of ``proof_key``, or 0."""
    data = find_entry(threats, proof_bucket_of(threats, key), key)
    if disproof_of(data) == 0 and level_of(data) < threats.level:
        return U64(0)
    return data


@kernel
def store_proof(threats, key, proof, disproof, cell, length, nodes):
    """Write the numbers of a position, on which this many nodes more were spent."""
    assert 0 <= proof <= UNPROVABLE and 0 <= disproof <= UNPROVABLE and proof + disproof > 0
    assert 0 <= cell < PADDED_CELLS and length >= 0
    slot = slot_for(threats, proof_bucket_of(threats, key), key, _EFFORT_BIT)
    effort = 0
    if threats.words[slot] == key:
        effort = effort_in(threats.words[slot + 1])
    while effort < _MOST_EFFORT and nodes >> (2 * effort) > 0:
        effort += 1
    data = U64(proof) | (U64(disproof) << U64(20)) | (U64(cell) << U64(40))
    data |= U64(min(length, 127)) << U64(50)
    data |= (U64(threats.level) << U64(57)) | (U64(effort) << U64(_EFFORT_BIT))
    threats.words[slot] = key
    threats.words[slot + 1] = data


@kernel
def settle(threats, key, wins, cell, length, nodes):
    """Store a solved node and its length."""
    threats.length = length
    if wins:
        store_proof(threats, key, 0, UNPROVABLE, cell, length, nodes)
    else:
        store_proof(threats, key, UNPROVABLE, 0, cell, 0, nodes)
