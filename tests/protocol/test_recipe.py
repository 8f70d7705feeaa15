"""The recipe for a protocol command works as it stands in CONTRIBUTING."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tests.programs import PROGRAM, ROOT, run_program


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
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^```diff\n(.*?)^```", page, re.MULTILINE | re.DOTALL)

    def answer() -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        asked = "INFO rule 1\nYXSHOWRULE\nEND\n"
        return run_program(*PROGRAM, input=asked, cwd=tmp_path, env=environment, timeout=60).stdout

    assert answer() == "UNKNOWN YXSHOWRULE\n"
    apply(recipe, package)
    assert answer() == "MESSAGE RULE STANDARD\n"
