"""Large libraries: read, stored, walked, searched by position and written, with nothing lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lab import measure_library

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="memory is measured in another way")


@pytest.mark.parametrize("nodes", [2_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_library_comes_out_of_a_database_as_it_went_in(nodes: int, tmp_path: Path) -> None:
    steps = measure_library.measure(nodes, tmp_path)
    assert steps[-1].name == "exported"
    if nodes >= 1_000_000:
        assert steps[-1].memory < 4_000 * nodes
