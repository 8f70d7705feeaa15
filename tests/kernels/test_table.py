"""The transposition table: what it finds, what it keeps, and mates counted from the node."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pbrain_engine.search.alphabeta import table
from pbrain_engine.search.alphabeta.params import ONE
from pbrain_engine.search.alphabeta.table import (
    EXACT,
    LOWER,
    UPPER,
    bound_of,
    bucket_of,
    cell_of_entry,
    depth_of,
    eval_of,
    from_table,
    generation_of,
    probe,
    store,
    to_table,
    value_of,
)
from pbrain_engine.values import WIN, WIN_BAND, loss_in, win_in

from .memory import shared_block

pytestmark = pytest.mark.uncompiled

KEY = np.uint64(0x0123456789ABCDEF)
CELL = 237


def put(shared: Any, key: np.uint64, **changes: int) -> None:
    entry = {
        "ply": 0, "value": 35, "static": -12, "cell": CELL, "depth": 5 * ONE, "bound": EXACT,
        **changes,
    }  # fmt: skip
    store(shared, key, *entry.values())


def keys_of_one_bucket(shared: Any, count: int) -> list[np.uint64]:
    """Return keys that share a bucket: its number comes from their upper halves alone."""
    return [np.uint64((0x01234567 << 32) | (0x1000 + number)) for number in range(count)]


def test_an_entry_comes_back_as_it_was_stored() -> None:
    chance = random.Random(1)
    shared = shared_block()
    shared.generation = 63
    for bound in (UPPER, LOWER, EXACT):
        for _ in range(50):
            key = np.uint64(chance.getrandbits(64))
            value, static = chance.randint(-6000, 6000), chance.randint(-6000, 6000)
            cell, steps = chance.randrange(1024), chance.randint(-8, 247)
            put(shared, key, value=value, static=static, cell=cell, depth=16 * steps, bound=bound)
            data = probe(shared, key)
            assert (value_of(data), eval_of(data), cell_of_entry(data)) == (value, static, cell)
            assert (depth_of(data), bound_of(data)) == (16 * steps, bound)
            assert generation_of(data) == 63


def test_depths_are_rounded_down_to_a_quarter_ply_never_up() -> None:
    shared = shared_block()
    for depth in range(-2 * ONE, 10 * ONE, 7):
        put(shared, KEY, depth=depth)
        found = depth_of(probe(shared, KEY))
        assert depth - ONE // 4 < found <= depth
    for depth in (100 * ONE, 62 * ONE):  # deeper than an entry can tell
        put(shared, KEY, depth=depth)
        assert depth_of(probe(shared, KEY)) <= depth


@pytest.mark.parametrize("bit", range(64))
def test_a_key_that_differs_in_one_bit_is_not_found(bit: int) -> None:
    shared = shared_block(buckets=1)
    put(shared, KEY)
    assert probe(shared, KEY) != 0
    assert probe(shared, KEY ^ np.uint64(1 << bit)) == 0


def test_a_torn_entry_is_not_believed() -> None:
    shared = shared_block(buckets=1)
    put(shared, KEY)
    (place,) = (i for i in range(1, 8, 2) if shared.words[i])
    shared.words[place] ^= np.uint64(1 << 20)  # another thread's word
    assert probe(shared, KEY) == 0


def test_the_buckets_cover_the_whole_table_and_nothing_behind_it() -> None:
    for buckets in (1, 3, 1000, 1 << 14):
        shared = shared_block(buckets=1)
        shared.buckets = buckets
        top = np.uint64(2**64 - 1)
        assert bucket_of(shared, np.uint64(0)) == 0
        assert bucket_of(shared, top) == 8 * (buckets - 1)
        for key in range(0, 2**64, 2**61 + 12345):
            assert bucket_of(shared, np.uint64(key)) % 8 == 0


# Forced ends ------------------------------------------------------------------------------


@pytest.mark.parametrize("ply", [0, 1, 7, 200])
@pytest.mark.parametrize("plies", [1, 2, 9, 250])
def test_a_win_is_kept_as_plies_from_its_node(ply: int, plies: int) -> None:
    assert to_table(win_in(ply + plies), ply) == WIN - plies
    assert to_table(loss_in(ply + plies), ply) == plies - WIN
    assert from_table(WIN - plies, ply) == win_in(ply + plies)
    assert from_table(plies - WIN, ply) == loss_in(ply + plies)


def test_ordinary_values_are_kept_as_they_are_up_to_the_band() -> None:
    for value in (0, 17, -6000, WIN_BAND - 1, 1 - WIN_BAND):
        assert to_table(value, 9) == from_table(value, 9) == value
    assert to_table(WIN_BAND, 9) == WIN_BAND + 9
    assert from_table(-WIN_BAND, 9) == 9 - WIN_BAND


def test_a_win_found_at_one_ply_is_as_far_from_another() -> None:
    shared = shared_block()
    put(shared, KEY, ply=6, value=win_in(6 + 5))
    assert from_table(value_of(probe(shared, KEY)), 2) == win_in(2 + 5)
    put(shared, KEY, ply=3, value=loss_in(3 + 4))
    assert from_table(value_of(probe(shared, KEY)), 0) == loss_in(4)


# What makes room --------------------------------------------------------------------------


def test_four_entries_share_a_bucket_and_the_shallowest_makes_room() -> None:
    shared = shared_block()
    *first, late = keys_of_one_bucket(shared, 5)
    for key, plies in zip(first, (9, 4, 7, 5), strict=True):
        put(shared, key, depth=plies * ONE)
    assert all(probe(shared, key) != 0 for key in first)
    put(shared, late, depth=2 * ONE)
    assert [probe(shared, key) != 0 for key in (*first, late)] == [True, False, True, True, True]


def test_an_old_entry_makes_room_before_a_shallow_one() -> None:
    shared = shared_block()
    old, *others, late = keys_of_one_bucket(shared, 5)
    put(shared, old, depth=11 * ONE)
    shared.generation = 1
    for key in others:
        put(shared, key, depth=4 * ONE)
    put(shared, late, depth=ONE)
    assert probe(shared, old) == 0 and all(probe(shared, key) != 0 for key in others)


def test_age_is_counted_across_the_end_of_the_generations() -> None:
    shared = shared_block()
    young, *others, late = keys_of_one_bucket(shared, 5)
    shared.generation = 63
    put(shared, young, depth=20 * ONE)
    shared.generation = 0
    for key in others:
        put(shared, key, depth=11 * ONE)
    put(shared, late, depth=ONE)
    assert probe(shared, young) != 0  # worth 20 - 8 plies


def test_the_same_position_is_overwritten_where_it_stands() -> None:
    shared = shared_block()
    put(shared, KEY, value=1)
    put(shared, KEY, value=2, depth=6 * ONE)
    assert value_of(probe(shared, KEY)) == 2
    assert np.count_nonzero(shared.words) == 2


def test_much_deeper_knowledge_of_this_search_stays() -> None:
    shared = shared_block()
    put(shared, KEY, value=1, depth=9 * ONE)
    put(shared, KEY, value=2, depth=6 * ONE, bound=LOWER)
    assert value_of(probe(shared, KEY)) == 1
    put(shared, KEY, value=3, depth=8 * ONE, bound=LOWER)  # hardly less deep
    assert value_of(probe(shared, KEY)) == 3
    put(shared, KEY, value=4, depth=ONE, bound=EXACT)
    assert value_of(probe(shared, KEY)) == 4
    put(shared, KEY, value=5, depth=9 * ONE)
    shared.generation = 1
    put(shared, KEY, value=6, depth=ONE, bound=UPPER)
    assert value_of(probe(shared, KEY)) == 6


def test_a_node_without_a_best_move_keeps_the_move_it_had() -> None:
    shared = shared_block()
    put(shared, KEY)
    put(shared, KEY, cell=0, bound=UPPER)
    assert cell_of_entry(probe(shared, KEY)) == CELL


def test_only_what_an_entry_can_hold_is_stored() -> None:
    shared = shared_block()
    for wrong in ({"value": WIN + 1}, {"static": 7000}, {"cell": 1024}, {"cell": -1}, {"bound": 0}):
        with pytest.raises(AssertionError):
            put(shared, KEY, **wrong)
    assert not shared.words.any()
    assert table.ENTRIES * 2 == 8
