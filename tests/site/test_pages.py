"""The tests of the local board's page, on the site: all that start no server of their own.

Each opens a page of its own, which Python takes seconds to start in.
"""

from __future__ import annotations

import pytest

from tests.board import (
    test_page,
    test_page_care,
    test_page_kept,
    test_page_ways,
    test_page_words,
)
from tests.board.test_page_words import words as words
from tests.site.host import without_server

pytestmark = pytest.mark.long

globals().update(
    without_server(test_page, test_page_care, test_page_kept, test_page_ways, test_page_words)
)
