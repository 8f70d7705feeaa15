"""Charts and tables are what was recorded, ``python -m tests.golden.charts``, and well-formed."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.golden import charts


def test_pages_consist_of_what_was_recorded() -> None:
    charts.pages.check()
    assert {ElementTree.fromstring(svg).tag for svg in charts.charts().values() if svg} == {
        "figure"
    }
