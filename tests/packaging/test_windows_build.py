"""What making the package for Windows says by its exit status, and what it does without a network.

The build itself runs under wine, with tests of its own: ``make windows``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import pytest

from pbrain_engine.native.build.compile import BuildError
from tests.packaging.building import package, shipping, windows, winpython

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
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    error: Exception,
    status: int,
    said: str,
) -> None:
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
    built.touch()
    ran: list[str] = []

    class Python:
        def show(self, arguments: list[str], *_: object) -> int:
            ran.append(Path(arguments[-1]).name)
            return 0 if passes else 1

    monkeypatch.setattr(winpython, "windows_python", Python)
    monkeypatch.setattr(package, "make_package", lambda *_, **__: built)
    monkeypatch.setattr(shipping, "bench", dict)
    assert windows.main([str(tmp_path)]) == (0 if passes else 1)
    assert ran == [f"{Path(windows.TESTS[-1]).name}.py", *([built.name] if passes else [])]
    assert windows.main([str(tmp_path), "--no-tests"]) == 0


def test_without_an_index_nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(winpython.Unavailable, match="pip download"):
        winpython.download(tmp_path)


def test_a_command_that_hangs_is_given_up() -> None:
    wait = [sys.executable, "-c", "import time; time.sleep(60)"]
    with pytest.raises(winpython.WineError, match="took over 0 seconds"):
        winpython._run(wait, 0.1)


def test_continuous_integration_goes_on_only_without_a_verdict() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "build/windows.py dist || status=$?" in script
    assert f"    {windows.NOT_TRIED} | 124 | 137) echo" in script
    assert "    *) echo" in script and "; exit 1 ;;" in script
    for name in windows.TESTS + windows.MORE_TESTS:
        assert (ROOT / "tests" / f"{name}.py").exists()
