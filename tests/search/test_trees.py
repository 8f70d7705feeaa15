"""Small searches look at the same nodes as ever; ``python -m tests.golden`` writes them anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.golden import trees

pytestmark = pytest.mark.uncompiled

FILES = list(trees.FILES)


def stored(path: Path) -> dict[str, list[str]]:
    """Return the trees of a file by the first words of their headlines, which name the case."""
    found = {}
    for text in path.read_text(encoding="utf-8").strip().split("\n\n"):
        lines = text.splitlines()
        found[lines[0].partition(":")[0]] = lines
    return found


def check(path: Path, case: Any, make: Callable[[Any], Sequence[str]]) -> None:
    lines = make(case)
    golden = stored(path)[lines[0].partition(":")[0]]
    for number, (was, now) in enumerate(zip(golden[1:], lines[1:], strict=False), 1):
        assert was == now, (
            f"line {number} of {golden[0]}\nwas {was.strip()}\nnow {now.strip()}\n"
            "if that was meant: python -m tests.golden"
        )
    assert len(golden) == len(lines) and golden[0] == lines[0]


@pytest.mark.parametrize("case", trees.SEARCHES, ids=lambda case: case.rule.name.lower())
def test_the_main_search_goes_through_its_golden_tree(case):
    check(FILES[0], case, trees.tree_of_search)


@pytest.mark.parametrize("number", range(len(trees.QUESTIONS)))
def test_the_solver_goes_through_its_golden_tree(number):
    check(FILES[1], trees.QUESTIONS[number], trees.tree_of_question)
