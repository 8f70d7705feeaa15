"""Small searches look at the same nodes as ever, one by one."""

from __future__ import annotations

import pytest

from tests.golden import trees

pytestmark = pytest.mark.uncompiled


@pytest.mark.parametrize("record", [trees.searches, trees.questions], ids=["search", "solver"])
def test_searches_go_through_their_golden_trees(record):
    record.check()
