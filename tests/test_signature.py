"""The history says what the search does: its last ``Bench:`` is the signature of this tree."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from pbrain_engine.commands import bench

ROOT = Path(__file__).parent.parent


def git(*arguments: str) -> str:
    """Return what git says, or skip the test where there is no history."""
    try:
        result = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no history to compare with")
    return result.stdout


def test_the_last_bench_in_the_history_is_the_signature(
    capsys: pytest.CaptureFixture[str],
) -> None:
    if git("status", "--porcelain", "--", "pbrain_engine").strip():
        pytest.skip("the sources have changed since the last commit")
    told = re.search(r"^Bench: (\d+)$", git("log", "-200", "--format=%B"), re.MULTILINE)
    if told is None:
        pytest.skip("no commit of this history tells a signature")
    assert bench.main(["--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["nodes"]
    assert measured == int(told[1]), "end the commit message with the new Bench"
