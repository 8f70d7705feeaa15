"""Shared by the tests of the site: a host instead of the board's server, and longer timeouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.board import board_page
from tests.board.conftest import browser as browser
from tests.board.conftest import opened as opened
from tests.board.conftest import page as page
from tests.site.host import Site


@pytest.fixture(scope="package")
def _site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("host"))
    yield site
    site.stop()


@pytest.fixture(scope="module")
def server(_site: Site, browser: Any) -> Site:
    """Return the host of the site, if there is a browser to open it."""
    return _site


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow for the time that Python takes to start in a browser."""
    monkeypatch.setattr(board_page, "PATIENCE", 120_000)
