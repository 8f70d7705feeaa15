"""Shared by the tests of the engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pbrain_engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return an engine with a small table."""
    with Engine(hash_size=8 << 20) as engine:
        yield engine
