"""The workflows are sound, and ask for nothing but what can be run anywhere with make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.build.building import shipping

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.y*ml"))
RUN = re.compile(r"\.ci/run|make [a-z-]+( [A-Z]+=\S+)*")
TARGETS = set(
    re.findall(r"^([a-z-]+):.*?##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
)
JOB_KEYS = {
    "name", "needs", "if", "permissions", "runs-on", "timeout-minutes", "strategy", "defaults",
    "env", "environment", "steps",
}  # fmt: skip
STEP_KEYS = {"name", "uses", "with", "run", "env", "if", "shell"}
RUNNERS = re.compile(r"(ubuntu|windows|macos)-(latest|[\d.]+)(-arm)?")
MOST_MINUTES, MOST_MINUTES_WEEKLY = 60, 350
CONTEXTS = {"matrix", "github", "env", "needs", "runner"}


class NoDuplicates(yaml.SafeLoader):
    """Reads YAML, and refuses a key that stands twice, of which the last would win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(problem=f"{twice} stand twice")
        return super().construct_mapping(node, deep)


def load(path: Path) -> dict[Any, Any]:
    document = yaml.load(path.read_text(encoding="utf-8"), NoDuplicates)  # noqa: S506
    assert isinstance(document, dict)
    return document


def jobs() -> list[Any]:
    return [
        pytest.param(job, load(path)["jobs"], id=f"{path.stem}-{name}")
        for path in WORKFLOWS
        for name, job in load(path)["jobs"].items()
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_says_when_it_runs_and_what_it_may(path: Path) -> None:
    document = load(path)
    assert set(document) == {"name", True, "permissions", "jobs"}  # `on` is a boolean in YAML
    assert document["permissions"] == {"contents": "read"}
    assert "\t" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("job", "others"), jobs())
def test_a_job_is_well_formed_and_calls_only_make_and_pinned_actions(
    job: dict[str, Any], others: dict[str, Any]
) -> None:
    assert set(job) <= JOB_KEYS
    is_long = any(f"make {target}" in str(job) for target in ("long", "mutants"))
    most = MOST_MINUTES_WEEKLY if is_long else MOST_MINUTES
    assert 0 < job["timeout-minutes"] <= most
    needed = job.get("needs", [])
    assert set([needed] if isinstance(needed, str) else needed) <= set(others)
    axes = job.get("strategy", {}).get("matrix", {})
    systems = axes["os"] if "matrix.os" in job["runs-on"] else [job["runs-on"]]
    assert all(RUNNERS.fullmatch(system) for system in systems)
    for context, name in re.findall(r"\$\{\{\s*(\w+)\.(\w+)", str(job)):
        assert context in CONTEXTS and (context != "matrix" or name in axes)
    assert job["steps"][0]["uses"].startswith("actions/checkout@")
    for step in job["steps"]:
        assert set(step) <= STEP_KEYS and ("run" in step) != ("uses" in step)
        assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/none@v0"))
        for line in step.get("run", "").strip().splitlines():
            assert RUN.fullmatch(line) and "${{" not in line, line  # text from outside
            words = line.split()
            assert words[0] == ".ci/run" or words[1] in TARGETS


@pytest.mark.skipif(os.name == "nt", reason="the script is for Unix")
def test_the_script_of_continuous_integration_is_sound() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    for name in re.findall(r"^\s*make ([a-z-]+)", script.read_text(encoding="utf-8"), re.M):
        assert name in TARGETS


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_target_can_be_planned(target: str) -> None:
    shipping.run(["make", "--dry-run", "--no-print-directory", target, "TAG=v1"])


HALF_A_PYTHON = """\
#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 0
mkdir -p "$3/bin" && ln -sf /bin/sh "$3/bin/python"
echo "ensurepip is not available" >&2
exit 1
"""


@pytest.mark.skipif(os.name == "nt", reason="the program is for Unix")
def test_half_an_environment_is_not_taken_for_a_whole_one(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    program = tmp_path / "half-a-python"
    program.write_text(HALF_A_PYTHON, encoding="ascii")
    program.chmod(0o755)
    for _ in range(2):
        command = ["make", "setup", f"PYTHON={program}"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode != 0 and "ensurepip is not available" in result.stderr


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no folder can be made in /proc")
def test_a_cache_that_cannot_be_written_is_one_line() -> None:
    environment = {**os.environ, "NUMOKU_CACHE": "/proc/kernels"}
    recipe = shipping.run(["make", "--dry-run", "--no-print-directory", "--always-make", "setup"])
    program, *words = recipe.splitlines()[-1].split()
    assert Path(program).stem == "numoku"
    command = [sys.executable, "-m", "pbrain_engine.cli", *words]
    reported = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert reported.returncode == 1 and reported.stderr.count("\n") == 1
    assert reported.stderr.startswith("numoku: /proc/kernels: ")
