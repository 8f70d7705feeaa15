"""The tables of the searches, held against a model: a bucket is a list of four entries."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pbrain_engine.position.board import bucket_of
from pbrain_engine.search.alphabeta.table import (
    EXACT,
    LOWER,
    UPPER,
    begin_generation,
    bound_of,
    cell_of_entry,
    depth_of,
    eval_of,
    generation_of,
    probe,
    store,
    value_of,
)
from pbrain_engine.search.parameters import ONE
from pbrain_engine.search.threats.memory import (
    UNPROVABLE,
    cell_of_proof,
    disproof_of,
    length_of,
    probe_proof,
    proof_bucket_of,
    proof_of,
    settle,
    store_proof,
)
from pbrain_engine.search.threats.vcf import (
    KNOWN_CUT,
    KNOWN_NONE,
    KNOWN_WIN,
    cell_of_win,
    kind_of,
    probe_fours,
    stones_of,
    store_fours,
)
from pbrain_engine.values import WIN, loss_in, win_in
from tests.kernels.memory import shared_block, threats_after

pytestmark = pytest.mark.uncompiled

KEY = np.uint64(0x0123456789ABCDEF)
Model = list[tuple[np.uint64, Any]]  # keys and entries of a bucket, in their places


def write(model: Model, key: np.uint64, entry: Any, worth: Callable[[Any], int]) -> None:
    """Write an entry over that of its key, else into a free place, else over the least worth."""
    at = next((i for i, (other, _) in enumerate(model) if other == key), len(model))
    if at == 4:
        at = min(range(4), key=lambda i: worth(model[i][1]))
    model[at : at + 1] = [(key, entry)]


def keys_of_one_bucket(chance: random.Random) -> list[np.uint64]:
    return [np.uint64(chance.getrandbits(64)) for _ in range(7)]


def entry_of(data: Any) -> Any:
    """Return what an entry of the main search's table says."""
    return data and (value_of(data), eval_of(data), cell_of_entry(data), depth_of(data),
                     bound_of(data), generation_of(data))  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_the_main_table_is_its_model(seed):
    chance = random.Random(seed)
    shared = shared_block(buckets=1)
    keys, model = keys_of_one_bucket(chance), Model()
    for _ in range(300):
        shared.generation, now = chance.choice(((61, 62), (62, 63), (63, 0), (0, 1)))
        begin_generation(shared)
        ply, static = chance.randrange(40), chance.randint(-6000, 6000)
        cell, depth = chance.choice((0, chance.randrange(1024))), chance.randint(-200, 20 * ONE)
        depth = chance.choice((depth, depth, 10 * depth))
        bound = chance.choice((UPPER, LOWER, EXACT))
        key = chance.choice(keys)
        kept, value = chance.choice(((static // 2, static // 2), (WIN - 9, win_in(ply + 9)),
                                     (4 - WIN, loss_in(ply + 4))))  # fmt: skip
        store(shared, key, ply, value, static, cell, depth, bound)
        old = dict(model).get(key)
        is_deeper = old is not None and old[3] > depth + 2 * ONE and old[5] == now
        if bound == EXACT or not is_deeper:  # rounded to a quarter ply, and within what fits
            steps = min(max(depth // (ONE // 4), -8), 247)
            cell = cell or (old[2] if old else 0)
            entry = (kept, static, cell, steps * (ONE // 4), bound, now)
            write(model, key, entry, lambda e, now=now: e[3] - 8 * ONE * ((now - e[5]) % 64))
        assert [entry_of(probe(shared, k)) for k in keys] == [dict(model).get(k, 0) for k in keys]


def test_a_torn_entry_is_not_believed():
    shared = shared_block(buckets=1)
    store(shared, KEY, 0, 35, -12, 237, 5 * ONE, EXACT)
    shared.words[1] ^= np.uint64(1 << 20)  # another thread's word
    assert probe(shared, KEY) == 0


def test_the_buckets_cover_the_whole_table_and_nothing_behind_it():
    threats, last = threats_after(), np.uint64(2**64 - 1)
    for buckets in (1, 3, 1000, 1 << 14):
        assert bucket_of(np.uint64(0), buckets) == 0
        assert bucket_of(last, buckets) == buckets - 1
        threats.vct_buckets = buckets
        assert proof_bucket_of(threats, last) == threats.vcf_buckets + buckets - 1


def fours_in(data: Any) -> Any:
    return data and (kind_of(data), stones_of(data), cell_of_win(data))


def proof_in(data: Any) -> Any:
    return data and (proof_of(data), disproof_of(data), cell_of_proof(data), length_of(data),
                     int(data) >> 57 & 7, int(data) >> 60)  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_the_two_tables_of_threats_are_their_models_and_do_not_touch(seed):
    chance = random.Random(seed)
    threats = threats_after()
    threats.vcf_buckets = threats.vct_buckets = 1
    keys, fours, proofs = keys_of_one_bucket(chance), Model(), Model()
    for _ in range(200):
        key, nodes = chance.choice(keys), chance.choice((1, 3, 80, 5000, 10**7))
        kind, stones = chance.randint(KNOWN_CUT, KNOWN_NONE), chance.randint(1, 255)
        cell = chance.randrange(1, 1024) if kind == KNOWN_WIN else 0
        store_fours(threats, key, kind, stones, cell, nodes)
        write(fours, key, ((kind, stones, cell), nodes.bit_length()), lambda e: e[1])
        key, cell, length = chance.choice(keys), chance.randrange(1024), chance.randrange(128)
        proof, disproof = chance.choice(((0, UNPROVABLE), (12, 3456), (UNPROVABLE, 1)))
        threats.level = level = chance.randrange(6)
        store_proof(threats, key, proof, disproof, cell, length, nodes)
        effort = dict(proofs)[key][5] if key in dict(proofs) else 0
        effort = min(max(effort, -(-nodes.bit_length() // 2)), 15)  # a power of four
        write(proofs, key, (proof, disproof, cell, length, level, effort), lambda e: e[5])
        assert [fours_in(probe_fours(threats, k)) for k in keys] == [
            dict(fours)[k][0] if k in dict(fours) else 0 for k in keys
        ]
        assert [proof_in(probe_proof(threats, k)) for k in keys] == [
            dict(proofs).get(k, 0) for k in keys
        ]


def test_that_there_is_no_win_holds_for_its_level_and_those_below():
    threats = threats_after()
    for known, asked, holds in ((2, 2, True), (2, 1, True), (2, 3, False)):
        threats.level = known
        settle(threats, KEY, False, 0, 0, 1)
        threats.level = asked
        assert (probe_proof(threats, KEY) != 0) == holds
    threats.level = 0
    settle(threats, KEY, True, 300, 5, 1)
    threats.level = 5
    assert length_of(probe_proof(threats, KEY)) == 5 == threats.length, "a win holds on every level"


def test_a_key_that_differs_in_one_bit_is_not_found_in_any_table():
    shared, threats = shared_block(buckets=1), threats_after()
    threats.vcf_buckets = threats.vct_buckets = 1
    store(shared, KEY, 0, 35, -12, 237, 5 * ONE, EXACT)
    store_fours(threats, KEY, KNOWN_WIN, 3, 300, 10)
    store_proof(threats, KEY, 5, 6, 300, 0, 10)

    def found(key: np.uint64) -> list[bool]:
        data = probe(shared, key), probe_fours(threats, key), probe_proof(threats, key)
        return [word != 0 for word in data]

    assert all(found(KEY))
    for bit in range(64):
        assert not any(found(KEY ^ np.uint64(1 << bit)))
