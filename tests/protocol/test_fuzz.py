"""Random conversations: against a model without a process, and against the program."""

from __future__ import annotations

import sys

import pytest

from lab import fuzz_protocol
from pbrain_engine.options import join_command

pytestmark = pytest.mark.slow


@pytest.mark.timed
def test_random_lines_do_not_break_the_program(capsys):
    assert fuzz_protocol.main(["--lines", "5000", "--seed", "11"]) == 0
    assert "5000 lines" in capsys.readouterr().out


def test_a_broken_program_is_found(capsys, monkeypatch):
    monkeypatch.setattr(fuzz_protocol, "HANG", 30.0)  # it starts late on a busy machine
    broken = join_command([sys.executable, "-c", "import sys; sys.exit(3)"])
    assert fuzz_protocol.main(["--lines", "100", broken]) == 1
    assert "ended (3)" in capsys.readouterr().out
    assert fuzz_protocol.main(["--lines", "100", "/no/such/program"]) == 2
