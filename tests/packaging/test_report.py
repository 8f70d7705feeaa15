"""The report about a package: what is outside of its limit fails, measured beside a bare Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.packaging.building import report


@pytest.mark.timed
@pytest.mark.skipif(sys.platform == "win32", reason="scripts are no programs there")
@pytest.mark.parametrize(("seconds", "good"), [(0.0, True), (0.6, False)])
def test_a_late_start_is_outside_of_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, good: bool
) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys, time\ntime.sleep({seconds})\n"
        "print('OK', flush=True)\nprint('7,7', flush=True)\nsys.stdin.read()\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(report, "STARTS", 3)
    bare, *lines = report.start_lines(program)
    assert bare.good and bare.name == "start of a bare Python"
    warm = lines[:2]
    assert [line.good for line in warm] == [good, good]
    assert all(line.limit.startswith("at most ") for line in lines)
