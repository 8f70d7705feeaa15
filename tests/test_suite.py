"""The runner of the whole suite."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.suite import MOST_AGAIN, again

ONCE = """
from pathlib import Path
def test_busy():
    mark = Path(__file__).with_suffix(".mark")
    seen = mark.exists()
    mark.touch()
    assert seen
"""


def run_suite(folder: Path, text: str) -> int | None:
    """Run tests in a folder of their own; return what trying the failures again gives."""
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    cache = folder / "cache"
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull]
    command += ["--rootdir", str(folder), "-o", f"cache_dir={cache}", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 1
    return again(command[:-1], environment, cache)


def test_a_test_that_fails_beside_others_alone_is_named(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_suite(tmp_path, ONCE) == 0
    assert "passed alone, but failed beside others: test_it.py::test_busy" in capfd.readouterr().out


def test_what_fails_again_or_often_has_failed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_suite(tmp_path, "def test_wrong(): assert False") == 1
    many = "".join(f"def test_{n}(): assert False\n" for n in range(MOST_AGAIN + 1))
    assert run_suite(tmp_path, many) is None
