"""The tests of games on the local board's page, on the site."""

from __future__ import annotations

import pytest

from tests.board import test_page_play
from tests.board.test_page_play import page as page
from tests.site.host import without_server

pytestmark = pytest.mark.long

globals().update(without_server(test_page_play))
