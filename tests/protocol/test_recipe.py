"""The recipe for a protocol command works as it stands in CONTRIBUTING."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def apply(diff: str, package: Path) -> None:
    """Add the lines of a diff without line numbers, each part where its other lines stand."""
    for name, lines in re.findall(r"^--- (\S+)\n((?:[ +].*\n)+)", diff, re.MULTILINE):
        after = re.sub(r"^.", "", lines, flags=re.MULTILINE)
        before = re.sub(r"^ |^\+.*\n", "", lines, flags=re.MULTILINE)
        text = (package / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{name} has changed"
        (package / name).write_text(text.replace(before, after), encoding="utf-8")


def test_a_protocol_command_is_added_as_the_recipe_says(tmp_path):
    package = tmp_path / "pbrain_engine"
    kept = shutil.ignore_patterns("*.so", "*.numoku", "__pycache__", "page")
    shutil.copytree(ROOT / "pbrain_engine", package, ignore=kept)
    program = [sys.executable, "-m", "pbrain_engine"]
    answers = []
    for _ in range(2):
        answers.append(
            subprocess.run(
                program, input="INFO rule 1\nYXSHOWRULE\nEND\n", capture_output=True, text=True,
                cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, timeout=60,
            ).stdout
        )  # fmt: skip
        (recipe,) = re.findall(
            r"^```diff\n(.*?)^```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
            re.MULTILINE | re.DOTALL,
        )  # fmt: skip
        if len(answers) == 1:
            apply(recipe, package)
    assert answers == ["UNKNOWN YXSHOWRULE\n", "MESSAGE RULE STANDARD\n"]
