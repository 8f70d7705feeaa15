"""The tables of the threat searches: keys in full, what stays, and what each level knows."""

from __future__ import annotations

import numpy as np
import pytest

from pbrain_engine.search.threats.fourtable import (
    KNOWN_CUT,
    KNOWN_NONE,
    KNOWN_WIN,
    cell_of_win,
    kind_of,
    probe_fours,
    stones_of,
    store_fours,
)
from pbrain_engine.search.threats.memory import (
    LISTED_MOVES,
    begin,
    cell_in,
    is_stopped,
    listed,
    may_list,
    number_in,
)
from pbrain_engine.search.threats.prooftable import (
    DISPROVEN,
    PROVEN,
    cell_of_proof,
    disproof_of,
    effort_in,
    length_of,
    level_of,
    pack,
    probe_proof,
    proof_key,
    proof_of,
    settle,
    store_proof,
)
from pbrain_engine.search.threats.prooftable import UNPROVABLE as MOST

from .memory import threats_after

pytestmark = pytest.mark.uncompiled

KEY = np.uint64(0xFEDCBA9876543210)


def keys_of_one_bucket(count: int) -> list[np.uint64]:
    return [np.uint64(0x7777777700000000 + number) for number in range(1, count + 1)]


@pytest.mark.parametrize("bit", range(64))
def test_a_key_that_differs_in_one_bit_is_not_found(bit: int) -> None:
    threats = threats_after()
    threats.vcf_buckets = threats.vct_buckets = 1
    other = KEY ^ np.uint64(1 << bit)
    store_fours(threats, KEY, KNOWN_WIN, 3, 300, 10)
    store_proof(threats, KEY, 5, 6, 300, 0, 10)
    assert probe_fours(threats, KEY) != 0 and probe_proof(threats, KEY) != 0
    assert probe_fours(threats, other) == probe_proof(threats, other) == 0


def test_an_entry_of_fours_comes_back_as_it_was_stored() -> None:
    threats = threats_after()
    for kind, stones, cell in ((KNOWN_WIN, 7, 301), (KNOWN_CUT, 250, 0), (KNOWN_NONE, 9, 0)):
        store_fours(threats, KEY, kind, stones, cell, 1000)
        data = probe_fours(threats, KEY)
        assert (kind_of(data), stones_of(data), cell_of_win(data)) == (kind, stones, cell)


def test_what_took_least_work_makes_room() -> None:
    threats = threats_after()
    *first, late = keys_of_one_bucket(5)
    for key, nodes in zip(first, (500, 3, 9000, 80), strict=True):
        store_fours(threats, key, KNOWN_NONE, 4, 0, nodes)
    store_fours(threats, late, KNOWN_NONE, 4, 0, 1)
    assert [probe_fours(threats, key) != 0 for key in (*first, late)] == [
        True, False, True, True, True,
    ]  # fmt: skip


def test_the_two_tables_do_not_touch_each_other() -> None:
    threats = threats_after()
    threats.vcf_buckets, threats.vct_buckets = 1, 1
    store_fours(threats, KEY, KNOWN_WIN, 3, 300, 10)
    before = threats.words[:8].copy()
    store_proof(threats, KEY, 5, 6, 300, 0, 10)
    assert (threats.words[:8] == before).all() and threats.words[8:16].any()


def test_numbers_cell_length_and_level_come_back() -> None:
    threats = threats_after()
    threats.level = 4
    store_proof(threats, KEY, 0, MOST, 302, 9, 40)
    data = probe_proof(threats, KEY)
    assert (proof_of(data), disproof_of(data), cell_of_proof(data)) == (0, MOST, 302)
    assert (length_of(data), level_of(data), effort_in(data)) == (9, 4, 3)
    store_proof(threats, KEY, 12, 3456, 0, 0, 1)
    data = probe_proof(threats, KEY)
    assert (proof_of(data), disproof_of(data), effort_in(data)) == (12, 3456, 3)
    assert (proof_of(np.uint64(pack(12, 3456))), disproof_of(np.uint64(pack(12, 3456)))) == (
        12, 3456,
    )  # fmt: skip
    assert (proof_of(np.uint64(PROVEN)), disproof_of(np.uint64(DISPROVEN))) == (0, 0)


def test_that_there_is_no_win_holds_for_its_level_and_those_below() -> None:
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


def test_it_matters_who_attacks() -> None:
    threats = threats_after()
    keys = []
    for attacker in (0, 1):
        threats.attacker = attacker
        keys.append(int(proof_key(threats, KEY)))
    assert len(set(keys)) == 2 and int(KEY) in keys


def test_an_entry_of_a_list_is_a_cell_and_a_number() -> None:
    for cell, number in ((0, 0), (1023, 5), (300, 12345)):
        assert (cell_in(listed(cell, number)), number_in(listed(cell, number))) == (cell, number)
    assert may_list(LISTED_MOVES - 2 * 484 - 1) and not may_list(LISTED_MOVES - 2 * 484)


def test_a_search_ends_at_its_nodes_or_with_the_flag() -> None:
    threats = threats_after()
    begin(threats, 100)
    for nodes, stop, ends in ((99, 0, False), (100, 0, True), (0, 1, True)):
        threats.nodes, threats.stop, threats.stopped = nodes, stop, 0
        assert bool(is_stopped(threats)) == ends == bool(threats.stopped)
    threats.stop = 0
    begin(threats, 100)
    assert (threats.nodes, threats.stopped, threats.node_limit) == (0, 0, 100)
