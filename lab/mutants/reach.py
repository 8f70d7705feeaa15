"""Which test runs which lines: ``python -m lab.mutants.reach tests/test_x.py``.

Coverage is recorded once for each file of tests, with a context for each test, also in the
Python processes that tests start. A file's record stays until the file changes; what has moved
meanwhile in the sources is followed with ``difflib``, and a line that is new is taken to be run
by the tests of the nearest line above that is not.
"""

from __future__ import annotations

import difflib
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import coverage
import pytest

from lab.mutants.operators import PACKAGE, ROOT

KEPT = ROOT / ".mutants"
SUBPROCESS = """\
import atexit, os, coverage
_name = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
_covered = coverage.Coverage(
    data_file=os.environ["NUMOKU_COVERED"], data_suffix=True, context=_name or None,
    source=[os.environ["NUMOKU_SOURCE"]], config_file=False, messages=False,
)
_covered._warn_no_data = _covered._warn_not_imported = False
_covered.start()
_exit = os._exit
def _save():
    _covered.stop(); _covered.save()
def _save_and_exit(status):
    _save(); _exit(status)
os._exit = _save_and_exit
atexit.register(_save)
"""


class Contexts:
    """A plugin of pytest: a context for each test, and the seconds that it took.

    A busy machine makes a test late, but hardly dearer: what counts is the processor's time,
    and a tenth of that on the clock for what waits.
    """

    def __init__(self, recorder: coverage.Coverage) -> None:
        self.recorder = recorder
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Record what a test reaches under its name, and how long it takes."""
        self.recorder.switch_context(item.nodeid)
        began, spent = perf_counter(), sum(os.times()[:4])
        try:
            return (yield)
        finally:
            waited = 0.1 * (perf_counter() - began)
            self.seconds[item.nodeid] = sum(os.times()[:4]) - spent + waited
            self.recorder.switch_context("")


def record(file: str) -> None:
    """Run a file of tests in this process and write down what each of them reaches."""
    with tempfile.TemporaryDirectory(prefix="numoku-reach-") as folder:
        Path(folder, "sitecustomize.py").write_text(SUBPROCESS)
        covered = Path(folder, "covered")
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, before)))
        os.environ["NUMOKU_COVERED"] = str(covered)
        os.environ["NUMOKU_SOURCE"] = str(ROOT / PACKAGE)
        recorder = coverage.Coverage(
            data_file=str(covered), source=[str(ROOT / PACKAGE)], config_file=False, messages=False
        )
        contexts = Contexts(recorder)
        recorder.start()
        pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not timed and not long", file],
                    plugins=[contexts])  # fmt: skip
        recorder.stop()
        recorder.save()
        lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        for path in sorted(Path(folder).glob("covered*")):
            data = coverage.CoverageData(basename=str(path))
            try:
                data.read()
            except coverage.exceptions.DataError:  # of a process that was killed
                continue
            for source in data.measured_files():
                name = os.path.relpath(source, ROOT)
                for line, found in data.contexts_by_lineno(source).items():
                    for context in found:
                        lines[name][context].add(line)
    write(file, contexts.seconds, lines)


def write(file: str, seconds: dict[str, float], lines: dict[str, dict[str, set[int]]]) -> None:
    """Keep the record of a file of tests, with the text of the sources that it is about."""
    found = {
        "tests": {name: round(spent, 3) for name, spent in seconds.items()},
        "sources": {name: keep_source(ROOT / name) for name in lines},
        "lines": {
            name: {context: sorted(numbers) for context, numbers in contexts.items()}
            for name, contexts in lines.items()
        },
    }
    path = place(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(gzip.compress(json.dumps(found).encode(), 5))
    part.replace(path)


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()[:20]


def keep_source(path: Path) -> str:
    """Keep the text of a source; return its name there."""
    name = digest(path)
    kept = KEPT / "sources" / name
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(path.read_bytes())
    return name


def place(file: str) -> Path:
    """Return where the record of a file of tests lies, in its present state."""
    mode = "plain" if os.environ.get("NUMBA_DISABLE_JIT") == "1" else "compiled"
    return KEPT / "reach" / mode / f"{Path(file).stem}-{digest(ROOT / file)}.json.gz"


def ensure(files: Sequence[str]) -> None:
    """Record what is not known yet, one file after the other."""
    missing = [file for file in files if not place(file).exists()]
    for number, file in enumerate(missing, 1):
        print(f"recording what {file} reaches, {number} of {len(missing)}", file=sys.stderr)
        command = [sys.executable, "-m", "lab.mutants.reach", file]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL)


@cache
def moved(name: str, kept: str) -> dict[int, int]:
    """Return for each line of a source the line that it had when it was recorded."""
    old = (KEPT / "sources" / kept).read_text(encoding="utf-8").splitlines()
    new = (ROOT / name).read_text(encoding="utf-8").splitlines()
    if old == new:
        return {line: line for line in range(1, len(new) + 1)}
    found: dict[int, int] = {}
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for _, first, last, start, end in matcher.get_opcodes():
        for line in range(start, end):
            found[line + 1] = max(min(first + line - start + 1, last), 1)
    return found


class Reach:
    """What is recorded of files of tests: which tests run a line, fastest first."""

    def __init__(self, files: Sequence[str]) -> None:
        self.seconds: dict[str, float] = {}
        self._records = []
        for file in files:
            if place(file).exists():
                known = json.loads(gzip.decompress(place(file).read_bytes()))
                self.seconds.update(known["tests"])
                self._records.append(known)

    def tests(self, name: str, first: int, last: int, at_import: bool = False) -> list[str]:
        """Return the tests that run one of these lines of a source, fastest first.

        Where nothing is seen to run them, it is the tests of the package.

        Lines that run ``at_import`` of a module are of use to all tests that run anything of it,
        but only the first of these that runs in a process is seen to run them.
        """
        found: set[str] = set()
        for known in self._records:
            if name in known["lines"]:
                old = moved(name, known["sources"][name])
                wanted = {old.get(line, line) for line in range(first, last + 1)}
                contexts = known["lines"][name]
                imported = at_import or wanted.intersection(contexts.get("", ()))
                found.update(
                    context
                    for context, numbers in contexts.items()
                    if context in known["tests"] and (imported or wanted.intersection(numbers))
                )
        package = f"tests/{Path(name).parts[1]}/"  # what numba compiles no coverage sees
        found = found or {test for test in self.seconds if test.startswith(package)}
        return sorted(found, key=lambda test: self.seconds[test])


if __name__ == "__main__":
    record(sys.argv[1])
