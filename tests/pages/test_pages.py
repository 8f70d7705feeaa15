"""Charts and tables are what was recorded, ``python -m tests.golden.charts``, and well-formed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tests.golden import charts


def test_pages_consist_of_what_was_recorded() -> None:
    charts.pages.check()
    figures = re.findall("(?s)<figure.*?</figure>", charts.pages.read())
    assert [ElementTree.fromstring(figure).tag for figure in figures] == ["figure"] * 3
