"""What the tests of the engine share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pbrain_engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return an engine whose table is small."""
    with Engine(hash_size=8 << 20) as engine:
        yield engine
