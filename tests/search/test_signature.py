"""The signature of the search is the one that ``tests/signature.txt`` tells, and the history too.

A change of play changes the number, in the file as in the message of its commit. It says that
something is different, not what: that is what the tests in ``tests/kernels`` are for.
"""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from pbrain_engine.commands import bench
from tests.programs import ROOT, run_program

FILE = ROOT / "tests" / "signature.txt"


def reported() -> int:
    """Return the number in the file."""
    return int(FILE.read_text(encoding="ascii"))


def git(*arguments: str) -> str:
    """Return what git says, or skip the test where there is no history."""
    try:
        return run_program("git", *arguments, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no history to compare with")


def test_the_bench_gives_the_signature(capsys):
    assert bench.main(["--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    measured = said["nodes"]
    assert said["nps"] == pytest.approx(measured / said["time"], rel=0.01)
    assert measured == reported(), f"write {measured} into {FILE.name} and end the message with it"


def test_the_last_bench_in_the_history_is_the_signature():
    if git("status", "--porcelain", "--", "pbrain_engine", str(FILE)).strip():
        pytest.skip("the sources have changed since the last commit")
    last = re.search(r"^Bench: (\d+)$", git("log", "-200", "--format=%B"), re.MULTILINE)
    if last is None:
        pytest.skip("no commit of this history tells a signature")
    assert int(last[1]) == reported(), "end the commit message with the new Bench"
