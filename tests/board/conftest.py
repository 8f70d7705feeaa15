"""Shared by the tests of the board: one browser, one server, and their pages.

Both are shared by the package, not by the session: while Playwright runs, its thread has a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.board.browser import chromium

if TYPE_CHECKING:
    from tests.board.board_page import Open, Page
    from tests.board.board_server import BoardServer


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Start a browser, or skip the tests that need one."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoardServer]:
    """Start a server for all tests, which must end without complaints.

    One thread per search, as most searches here end only with their page.
    """
    from tests.board.board_server import BoardServer

    server = BoardServer(tmp_path_factory.mktemp("board"), "--linger", "0", "--threads", "1")
    yield server
    assert server.stop() == ""


@pytest.fixture
def opened(browser: Any, server: BoardServer) -> Iterator[Open]:
    """Return a function that opens pages of a board; they are closed at the end."""
    from tests.board.board_page import Open

    opened = Open(browser, server)
    yield opened
    opened.close()


@pytest.fixture
def page(opened: Open) -> Page:
    """Open the page of a board."""
    return opened()


@pytest.fixture(scope="package")
def common(browser: Any, server: BoardServer) -> Iterator[Page]:
    """Open the page that tests share."""
    from tests.board.board_page import Page

    page = Page(browser, server)
    yield page
    page.close()


@pytest.fixture
def again(common: Page) -> Iterator[Callable[..., Page]]:
    """Return a function that shows a position on the shared page: sooner than a new page."""
    yield common.again
    assert not common.errors
