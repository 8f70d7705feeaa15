"""What the solver finds in random middle games: true for the oracle, and the same as ever.

A search that is less strong than it was finds other things, or at another price.

``python -m lab.fuzz_claims --count 150 --pin`` writes them anew; ``--count 20000`` looks for
false ones at length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from lab.fuzz_claims import PINNED, examine, pinned
from pbrain_engine.solver.solver import Solver
from tests.oracle.rules import RULES

NODES = 3_000


@pytest.fixture(scope="module")
def records() -> Iterator[list[dict[str, Any]]]:
    count = len(PINNED.read_text(encoding="utf-8").splitlines())
    with Solver(8_000_000) as solver:
        yield [examine(solver, seed, NODES) for seed in range(count)]


def test_no_claim_is_false(records: list[dict[str, Any]]) -> None:
    assert [record for record in records if record.get("fault")] == []


def test_every_rule_has_its_claims_as_ever(records: list[dict[str, Any]]) -> None:
    expected = PINNED.read_text(encoding="utf-8").splitlines()
    for was, now in zip(expected, pinned(records).splitlines(), strict=True):
        assert was == now, "if that was meant: python -m lab.fuzz_claims --count 150 --pin"


def test_wins_of_both_kinds_are_claimed_under_the_rules() -> None:
    claims = Counter(
        tuple(line.split()[1:3]) for line in PINNED.read_text(encoding="utf-8").splitlines()
    )
    for rule in RULES:
        assert sum(count for (name, _), count in claims.items() if name == rule) >= 5, rule
    for kind in ("vcf", "vct"):  # 22 and 6 when they were pinned
        assert sum(count for (_, claim), count in claims.items() if claim == kind) >= 5, kind
