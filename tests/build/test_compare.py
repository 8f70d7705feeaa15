"""The scripts of build/: what they say by their exit status, and what they make of figures.

The package for Windows is built under wine, with tests of its own: ``make windows``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from pbrain_engine.errors import BuildError
from tests.build.building import compare, package, report, shipping, windows, winpython

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "error, status, said",
    [
        (winpython.Missing("no wine"), 0, "no package for Windows: no wine"),
        (winpython.Unavailable("no index"), 75, "error: no package for Windows: no index"),
        (winpython.WineError("another file"), 1, "error: another file"),
        (BuildError("too large"), 1, "error: too large"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_the_status_tells_a_fault_from_what_was_not_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    error: Exception, status: int, said: str,
) -> None:  # fmt: skip
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    is_build = isinstance(error, BuildError)
    monkeypatch.setattr(winpython, "windows_python", (lambda: None) if is_build else fail)
    monkeypatch.setattr(package, "make_package", fail)
    monkeypatch.setattr(shipping, "bench", dict)
    assert windows.main([str(tmp_path)]) == status
    shown = capsys.readouterr()
    assert (shown.err if status else shown.out) == said + "\n"


@pytest.mark.parametrize("passes", [True, False])
def test_failed_tests_fail_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, passes: bool
) -> None:
    built = tmp_path / f"numoku-1-{package.WINDOWS.name}.zip"
    ran: list[str] = []

    class Python:
        def show(self, arguments: list[str], *_: object) -> int:
            ran.append(Path(arguments[-1]).name)
            return 0 if passes else 1

    monkeypatch.setattr(winpython, "windows_python", Python)
    builds = []

    def make_package(*_: object, **__: object) -> Path:
        builds.append(built)
        built.touch()
        return built

    monkeypatch.setattr(package, "make_package", make_package)
    monkeypatch.setattr(shipping, "bench", dict)
    assert windows.main([str(tmp_path)]) == (0 if passes else 1)
    assert ran == [f"{Path(windows.TESTS[-1]).name}.py", *([built.name] if passes else [])]
    ran.clear()
    assert windows.main([str(tmp_path), "--build-only"]) == 0
    assert ran == [] and len(builds) == 2


def test_without_an_index_nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(winpython.Unavailable, match="pip download"):
        winpython.download(tmp_path)


def test_a_command_that_hangs_is_given_up() -> None:
    wait = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(winpython.WineError, match="took over 0 seconds"):
        winpython._run(wait, 0.1)


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def ci(folder: Path, commands: str) -> subprocess.CompletedProcess[str]:
    """Run commands with the functions of `.ci/run`, in a folder."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    start, end = script.index("logs=$(mktemp"), script.index("\nbegin install ")
    code = f"set -euo pipefail\n{script[start:end]}\n{commands}\necho went on"
    return subprocess.run(["bash", "-c", code], cwd=folder, capture_output=True, text=True)


@needs_bash
@pytest.mark.parametrize("status", [0, 1, 2, windows.NOT_TRIED, 124, 137])
def test_continuous_integration_goes_on_only_without_a_verdict(tmp_path: Path, status: int) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho $*\nexit {status}\n")
    python.chmod(0o755)
    goes_on = status not in (1, 2)
    for commands in ("windows", "begin it windows; await it"):
        done = ci(tmp_path, commands)
        assert done.stdout.startswith("build/windows.py dist\n")
        assert ("went on" in done.stdout, done.returncode == 0) == (goes_on, goes_on)
        assert ("was not tried" in done.stdout) == (goes_on and status > 0)


@needs_bash
def test_what_continuous_integration_begins_says_all_at_its_end_and_may_fail(
    tmp_path: Path,
) -> None:
    begun = "begin one sh -c 'sleep 0.2; echo 1; echo 2 >&2; exit {}'; echo 0; await one"
    done = ci(tmp_path, begun.format(0))
    assert (done.returncode, done.stdout) == (0, "0\n1\n2\nwent on\n")
    done = ci(tmp_path, begun.format(3))
    assert (done.returncode, done.stdout) == (3, "0\n1\n2\none: failed with status 3\n")


def test_the_tests_of_the_package_for_windows_are_there() -> None:
    for name in windows.TESTS + windows.MORE_TESTS:
        assert (ROOT / "tests" / f"{name}.py").exists()


# The comparison of two revisions -------------------------------------------------------


def test_the_ratio_is_the_median_of_neighbouring_runs_and_another_signature_is_said() -> None:
    speeds = [(200.0, 100.0), (60.0, 50.0), (150.0, 100.0)]  # the second both slow
    for nodes, word in ((7, "same"), (8, "differs")):
        results = [
            tuple(
                {"nodes": count, "nps": nps, "pairs": 10.0}
                for count, nps in zip((7, nodes), pair, strict=True)
            )
            for pair in speeds
        ]
        lines = compare.table("abc1234", results).splitlines()
        assert lines[1].split()[-1] == "1.500" and lines[3].split()[-1] == "1.000"
        assert lines[-1].split() == ["signature", "7", str(nodes), word]


def test_a_revision_that_does_not_exist_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert shipping.status_of(lambda: compare.main(["no-such-revision"])) == 1
    assert "error:" in capsys.readouterr().err


# The report about a package ------------------------------------------------------------


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
    monkeypatch.setattr(report, "COLD_STARTS", 1)  # each drops the caches of the whole machine
    bare, *lines = report.start_lines(program)
    assert bare.good and bare.name == "start of a bare Python"
    warm = lines[:2]
    assert [line.good for line in warm] == [good, good]
    assert all(line.limit.startswith("at most ") for line in lines)


def test_the_speed_of_a_package_is_that_of_its_best_run():
    runs = [({"nps": 50}, {"nps": 100}), ({"nps": 95}, {"nps": 60})]
    assert report.ratio_of(runs, "nps") == 0.95
