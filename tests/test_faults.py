"""The list of faults fits the code, and a fault that nobody notices is told."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from .faults import __main__ as faults
from .faults.fault import PACKAGE, ROOT, Fault, Misplaced
from .faults.list import FAULTS

LEAST = 80


def test_every_fault_has_one_place_and_tests_that_exist() -> None:
    texts: dict[str, str] = {}
    for fault in FAULTS:
        path = ROOT / PACKAGE / fault.file
        text = texts.setdefault(fault.file, path.read_text(encoding="utf-8"))
        assert text.count(fault.old) == 1, f"{fault.name}: no longer in {fault.file}"
        assert fault.new != fault.old
        compile(text.replace(fault.old, fault.new), fault.file, "exec")
        for test in fault.tests.split():
            name, _, function = test.partition("::")
            assert f"def {function}" in (ROOT / name).read_text(encoding="utf-8")
            if fault.uncompiled:
                assert name.startswith("tests/kernels/")


def test_there_are_so_many_in_every_part() -> None:
    parts = Counter(fault.part for fault in FAULTS)
    assert len(FAULTS) >= LEAST and len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {"search", "patterns", "position", "eval", "solver", "engine", "protocol", "native",
            "learn", "game"} <= set(parts)  # fmt: skip


def test_a_fault_without_a_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / PACKAGE).mkdir()
    (tmp_path / PACKAGE / "one.py").write_text("a = 1\na = 1\n")
    fault = Fault("twice", "one.py", "a = 1", "a = 2", "tests/test_one.py")
    with pytest.raises(Misplaced, match="twice: found 2 times"):
        fault.put_into(tmp_path)


def test_what_is_noticed_and_what_survives_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        (f"{PACKAGE}/__init__.py", ""),
        (f"{PACKAGE}/sums.py", "def add(a, b):\n    return a + b\n\n\nUNUSED = 1\n"),
        ("tests/__init__.py", ""),
        ("tests/test_sums.py", f"from {PACKAGE}.sums import add\n\n\ndef test_sum():\n"
                               "    assert add(2, 3) == 5\n"),
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    found = [
        Fault("a difference", "sums.py", "a + b", "a - b", "tests/test_sums.py"),
        Fault("what nobody uses", "sums.py", "UNUSED = 1", "UNUSED = 2", "tests/test_sums.py"),
        Fault("no Python", "sums.py", "return", "retrun", "tests/test_sums.py"),
    ]
    monkeypatch.setattr(faults, "ROOT", tmp_path)
    monkeypatch.setattr(faults, "FAULTS", found)
    monkeypatch.setattr(faults, "digest", lambda package=None: "")
    journal = tmp_path / "journal"
    assert faults.main(["--journal", str(journal)]) == 1
    told = capsys.readouterr().out
    assert "a difference: tests/test_sums.py::test_sum" in told
    assert "survived: what nobody uses" in told and "broken: no Python" in told
    assert told.endswith("1 of 3 faults noticed\n")
    assert faults.main(["--only", "difference", "--journal", str(journal)]) == 0
    assert capsys.readouterr().out == "1 of 1 faults noticed\n"
