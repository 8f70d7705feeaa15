"""The workflows are sound, and ask for nothing but what can be run anywhere with make."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.build.building import shipping
from tests.programs import NUMOKU, ROOT, run_program

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.y*ml"))
RUN = re.compile(r"\.ci/run|make [a-z-]+( [A-Z]+=\S+)*")
TARGETS = set(
    re.findall(r"^([a-z-]+):.*?##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
)
MOST_MINUTES, MOST_MINUTES_WEEKLY = 60, 350


def jobs() -> list[Any]:
    return [
        pytest.param(job, id=f"{path.stem}-{name}")
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read(path):
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert document["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("job", jobs())
def test_a_job_ends_in_time_and_calls_only_make_and_pinned_actions(job):
    is_long = any(f"make {target}" in str(job) for target in ("long", "mutants"))
    assert 0 < job["timeout-minutes"] <= (MOST_MINUTES_WEEKLY if is_long else MOST_MINUTES)
    for step in job["steps"]:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v0"))
        for line in step.get("run", "").strip().splitlines():
            assert RUN.fullmatch(line) and "${{" not in line, line  # text from outside
            words = line.split()
            assert words[0] == ".ci/run" or words[1] in TARGETS


@pytest.mark.skipif(os.name == "nt", reason="the script is for Unix")
def test_the_script_of_continuous_integration_is_sound():
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    for name in re.findall(r"^\s*make ([a-z-]+)", script.read_text(encoding="utf-8"), re.M):
        assert name in TARGETS


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder can be made in /proc")
def test_a_cache_that_cannot_be_written_is_one_line():
    recipe = shipping.run(["make", "--dry-run", "--no-print-directory", "--always-make", "setup"])
    program, *words = recipe.splitlines()[-1].split()
    assert Path(program).stem == "numoku"
    unwritable = {**os.environ, "NUMOKU_CACHE": "/proc/kernels"}
    reported = run_program(*NUMOKU, *words, env=unwritable)
    assert reported.returncode == 1 and reported.stderr.count("\n") == 1
    assert reported.stderr.startswith("numoku: /proc/kernels: ")
