"""The tests of the local board's page, on the site: all that start no server of their own.

Each opens a page of its own, which Python takes seconds to start in.
"""

from __future__ import annotations

import pytest

from tests.board import (
    test_page_board,
    test_page_games,
    test_page_main,
    test_page_play,
    test_page_review,
    test_page_words,
)
from tests.board.test_page_words import words as words
from tests.site.host import without_server

pytestmark = pytest.mark.long

globals().update(
    without_server(
        test_page_main, test_page_board, test_page_games, test_page_play, test_page_review,
        test_page_words,
    )
)  # fmt: skip
