"""Before any test: the kernel of the present sources is built, once."""

from __future__ import annotations

import sys

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Build the kernel if it is missing or stale; tests that need it fail if that fails."""
    del config
    from pbrain_engine.native.compile import BuildError, ensure

    try:
        ensure()
    except BuildError as error:
        print(f"no kernel: {error}", file=sys.stderr)
