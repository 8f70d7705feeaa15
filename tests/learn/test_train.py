"""What is learned from games is what was recorded: ``python -m tests.golden.lessons``."""

import sys

import pytest

from tests.golden import lessons

RECORDED = lessons.sections(lessons.every.read())


@pytest.mark.skipif(sys.platform == "win32", reason="paths are others there")
@pytest.mark.parametrize("title", RECORDED)
def test_what_is_learned_is_as_recorded(title):
    assert not lessons.differences(RECORDED[title], lessons.lessons(RECORDED[title]))
