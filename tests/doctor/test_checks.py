"""Our own program does what Piskvork's tournaments need, on every system."""

from __future__ import annotations

import sys

import pytest

from pbrain_engine.doctor.checks import PASS
from tests.doctor.test_exam import grade
from tests.programs import PROGRAM

TOURNAMENT = ["goes on after a pause", "names 20 where", "was asked before END"]
ON_WINDOWS = pytest.mark.skipif(sys.platform != "win32", reason="no other counts a working set")


@pytest.mark.parametrize("title", [*TOURNAMENT, pytest.param("peak working set", marks=ON_WINDOWS)])
def test_our_own_program_does_what_a_tournament_needs(title):
    assert grade([*PROGRAM], title, patience=30.0) == PASS
