"""Shared by the tests of the site: a host instead of the board's server, and longer timeouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.board import board_page
from tests.board.conftest import again as again
from tests.board.conftest import browser as browser
from tests.board.conftest import common as common
from tests.board.conftest import opened as opened
from tests.board.conftest import page as page
from tests.site.host import Site


@pytest.fixture(scope="package")
def server(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Start the host of the site, if there is a browser to open it."""
    site = Site(tmp_path_factory.mktemp("host"))
    yield site
    site.stop()


@pytest.fixture(scope="package", autouse=True)
def patience() -> Iterator[None]:
    """Allow for the time that Python takes to start in a browser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board_page, "PATIENCE", 120_000)
        yield
