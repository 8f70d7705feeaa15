"""Runs tests on a changed copy of the tree, in children of a process that is warm already.

What takes longest of a small test is to import pytest, hypothesis and numba; a child that is
forked has them already, and takes whatever it has done to them along when it ends.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from lab.mutants.operators import PACKAGE, ROOT, Mutant
from pbrain_engine.native.load.store import cache_root, digest

WARM = ("hypothesis", "numba", "numpy", "pytest", "sqlalchemy", "starlette", "websockets")
WANTED = "not timed and not long"  # what looks at a clock fails on a busy machine
OURS = (PACKAGE, "tests")
START_UP = 60.0  # seconds that tests may take on a busy machine, however short they are
PATIENCE = 20.0  # times the seconds that the tests took when they were recorded
FAILURE = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
KERNEL = f"import sys; from {PACKAGE}.native.build import compile; sys.exit(compile.main([]))"
CHECKED = "from tests.checked import checked; checked()"
HANGS, CRASHES = "a test that hangs", "a test that crashes"


class Ordered:
    """A plugin of pytest that takes only some tests or files, in the order that is asked for."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def place(self, item: pytest.Item) -> int | None:
        """Return where in the order a test is, if it is wanted."""
        names = item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0]
        return next((self.places[name] for name in names if name in self.places), None)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the tests that reach the mutant, in the order that was asked for."""
        items[:] = [item for item in items if self.place(item) is not None]
        items.sort(key=lambda item: self.place(item) or 0)


class Measured:
    """A plugin of pytest: of each test that passes the seconds, and which mutants it comes to."""

    def __init__(self) -> None:
        self.tests: dict[str, tuple[float, list[int]]] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Look at the marks of the library before and after a test."""
        began = sum(os.times()[:4])
        self._marks(clear=True)
        result = yield
        reached = self._marks()
        if item.nodeid not in self._failed:
            self.tests[item.nodeid] = sum(os.times()[:4]) - began, reached
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Leave out what fails as it is."""
        if report.failed:
            self._failed.add(report.nodeid)

    def _marks(self, clear: bool = False) -> list[int]:
        library = getattr(sys.modules.get(f"{PACKAGE}.native.load.library"), "Library", None)
        found: set[int] = set()
        for marks in getattr(library, "reached", ()):  # of the usual build and the checked one
            found.update(number for number, mark in enumerate(marks.raw) if mark != 0)
            if clear:
                marks.raw = bytes(len(marks))
        return sorted(found)


class Outcome(NamedTuple):
    """What the tests said: passed, noticed or broken (no test has run); and which failed."""

    state: str
    by: str = ""


def files() -> Iterator[str]:
    """Yield the files of the tree, also those that are not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in names.decode().split("\0"):
        if name and (ROOT / name).is_file():
            yield name


def copy_tree(target: Path) -> None:
    """Copy the tree, and link what lies next to the original."""
    for name in files():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, path)
    beside = target.parent / "shared"
    if (ROOT.parent / "shared").is_dir() and not beside.exists():
        beside.symlink_to(ROOT.parent / "shared")


class Tree:
    """A copy of the tree, with the kernels of the original as long as only Python changes.

    ``builds``: what is changed has a part in the kernels, so they are built anew.
    """

    def __init__(self, folder: Path, builds: bool = False) -> None:
        """Copy the tree into a new folder."""
        self.root = folder / "tree"
        self.builds = builds
        self.copy()
        self.kernels = folder / "kernels"
        self.kernels.mkdir()
        self.built = Path(cache_root())
        self.environment = {
            **os.environ, "NUMOKU_CACHE": str(self.kernels), "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "examples"),
        }  # fmt: skip
        self._server: subprocess.Popen[str] | None = None
        self._share_kernels()

    def copy(self) -> None:
        """Make all sources what they are."""
        copy_tree(self.root)

    def _share_kernels(self) -> None:
        """Give the sources as they are now the kernels of the original ones."""
        kernels = self.kernels / digest(str(self.root / PACKAGE))
        if not kernels.exists():
            kernels.symlink_to(self.built / digest())

    def put(self, mutant: Mutant) -> None:
        """Change the source."""
        path = self.root / mutant.source
        path.write_bytes(mutant.changed((ROOT / mutant.source).read_bytes()))
        if self.builds:
            self.build()  # where it fails, the tests do, too
        else:
            self._share_kernels()

    def build(self, code: str = KERNEL) -> subprocess.CompletedProcess[str]:
        """Build the kernel of the sources as they are, or the one with checks."""
        return subprocess.run(
            [sys.executable, "-c", code], cwd=self.root, env=self.environment,
            capture_output=True, text=True,
        )  # fmt: skip

    def take_out(self, mutant: Mutant) -> None:
        """Make the source what it was."""
        shutil.copy2(ROOT / mutant.source, self.root / mutant.source)

    def measure(self, files: Sequence[str]) -> dict[str, tuple[float, list[int]]]:
        """Run files; return of each test that passes its seconds, and the mutants it comes to."""
        into = self.root.parent / "measured"
        self._ask(files, None, into)
        return dict(json.loads(into.read_text(encoding="utf-8")))

    def run(self, tests: Sequence[str], seconds: float) -> Outcome:
        """Run tests, or whole files, in this order until the first fails."""
        answer = self._ask(tests, START_UP + PATIENCE * seconds)
        if answer is None:
            self.close()
            return Outcome("noticed", HANGS)
        status, said = answer
        if status < 0:
            return Outcome("noticed", CRASHES)
        failed = FAILURE.search(said)
        if status == pytest.ExitCode.OK:
            return Outcome("passed")
        if failed is not None:
            return Outcome("noticed", failed[1])
        if "tests/conftest.py" in said and status == pytest.ExitCode.USAGE_ERROR:
            return Outcome("noticed", "tests/conftest.py")
        return Outcome("broken", said.strip().rpartition("\n")[2])

    def _ask(
        self, tests: Sequence[str], seconds: float | None, measured: Path | None = None
    ) -> tuple[int, str] | None:
        """Have tests run; return their status and what they said, None if they are late."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "lab.mutants.runner"],
                cwd=self.root, env=self.environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        server = self._server
        assert server.stdin is not None and server.stdout is not None
        request = {"tests": list(tests), "environment": self.environment,
                   "measured": str(measured or "")}  # fmt: skip
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        ready, _, _ = select.select([server.stdout], [], [], seconds)
        if not ready:
            return None
        status, said = json.loads(server.stdout.readline())
        return status, said

    def close(self) -> None:
        """End the warm process, and what may hang in it."""
        if self._server is not None:
            for child in psutil.Process(self._server.pid).children(recursive=True):
                child.kill()
            with self._server:
                self._server.kill()
            self._server = None


def run(tests: list[str], measured: str) -> None:
    """Run tests in this process, on the modules of the folder that it is in, and end it.

    ``measured``: the file that gets what is measured of all; empty: end with the first failure.
    """
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
    os.setpgid(0, 0)
    sys.path.insert(0, os.getcwd())
    names = sorted({test.partition("::")[0] for test in tests})
    options = ["-q", "-p", "no:cacheprovider", "-m", WANTED, *([] if measured else ["-x"])]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they are imported already
    meter = Measured()
    plugins = [Ordered(tests), *([meter] if measured else [])]
    status = pytest.main([*options, *names], plugins=plugins)
    if measured:
        Path(measured).write_text(json.dumps(meter.tests), encoding="utf-8")
    sys.stdout.flush()
    os._exit(int(status))


def serve() -> None:
    """Answer requests, a line of JSON each, until the input ends."""
    for name in WARM:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    answers = os.fdopen(os.dup(1), "w")
    with tempfile.TemporaryDirectory(prefix="numoku-warm-") as folder:
        output = Path(folder, "output")
        for line in sys.stdin:
            request: dict[str, Any] = json.loads(line)
            child = os.fork()
            if child == 0:
                descriptor = os.open(output, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
                os.dup2(descriptor, 1)
                os.dup2(descriptor, 2)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.environ.update(request["environment"])
                try:
                    run(request["tests"], request["measured"])
                except BaseException:
                    traceback.print_exc()
                finally:
                    sys.stderr.flush()
                    os._exit(pytest.ExitCode.INTERNAL_ERROR)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said = output.read_text(errors="replace")
            print(json.dumps([status, said]), file=answers, flush=True)


if __name__ == "__main__":
    serve()
