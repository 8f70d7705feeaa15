"""Put faults into a copy of the code, one at a time, and see which tests notice them.

``python -m tests.faults`` runs the tests that are named beside each fault and prints those that
nobody noticed; ``--only TEXT`` takes faults whose name or file contains the text, ``--uncompiled``
those for which no kernel is built (seconds each instead of a minute), ``--list`` shows them.
First the tests run on the code as it is: a test that fails anyhow notices nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import psutil

from pbrain_engine.native.load.digest import digest
from pbrain_engine.native.load.store import cache_root

from .fault import PACKAGE, ROOT, Fault
from .list import FAULTS

PATIENCE = 1200.0  # seconds for the tests of one fault; what takes longer hangs
FAILED, PASSED = 1, 0  # exit status of pytest
FIRST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class Outcome(NamedTuple):
    """What became of a fault: noticed, survived or broken (no test has run), and by whom."""

    state: str
    by: str
    seconds: float


def files() -> Iterator[str]:
    """Yield the files of the tree, also those that are not committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    for name in names.decode().split("\0"):
        if name and (ROOT / name).is_file():
            yield name


def copy_tree(target: Path) -> None:
    """Copy the tree."""
    for name in files():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, path)


def forget_bytecode(path: Path) -> None:
    """Remove what Python has kept of a module, which it might take for that of a later change."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


class Runner:
    """Runs tests in a tree, those of plain Python in a process that is warm already."""

    def __init__(self, tree: Path) -> None:
        """Run in this tree."""
        self.tree = tree
        self._warm: subprocess.Popen[str] | None = None

    def run(self, tests: Sequence[str], uncompiled: bool) -> tuple[int | None, str]:
        """Run tests until the first fails; return the exit status, None for a hang."""
        is_same = digest(str(self.tree / PACKAGE)) == digest()
        own = str(self.tree / ".kernels")
        environment = dict(os.environ, NUMOKU_CACHE=cache_root() if is_same or uncompiled else own)
        environment["PYTHONPATH"] = str(self.tree)
        arguments = ["-x", "-q", "-p", "no:cacheprovider", *tests]
        if uncompiled:
            environment["NUMBA_DISABLE_JIT"] = "1"
            if hasattr(os, "fork"):
                return self._run_warm(environment, arguments)
        command = [sys.executable, "-m", "pytest", *arguments]
        try:
            done = subprocess.run(
                command, cwd=self.tree, env=environment, capture_output=True, text=True,
                timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if not uncompiled:
                shutil.rmtree(own, ignore_errors=True)
        return done.returncode, done.stdout + done.stderr

    def _run_warm(
        self, environment: dict[str, str], arguments: Sequence[str]
    ) -> tuple[int | None, str]:
        if self._warm is None:
            self._warm = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.warm"],
                cwd=self.tree, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        process = self._warm
        assert process.stdin is not None and process.stdout is not None
        request = {"tree": str(self.tree), "arguments": list(arguments)}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        if not ready:
            self.close()
            return None, ""
        status, said = json.loads(process.stdout.readline())
        return status, said

    def close(self) -> None:
        """End the warm process, and what may hang in it."""
        if self._warm is not None:
            for child in psutil.Process(self._warm.pid).children(recursive=True):
                child.kill()
            with self._warm:
                self._warm.kill()
            self._warm = None


def examine(runner: Runner, fault: Fault) -> Outcome:
    """Put a fault into the tree, run its tests, and take it out again."""
    began = perf_counter()
    path = runner.tree / PACKAGE / fault.file
    whole = path.read_bytes()
    fault.put_into(runner.tree)
    forget_bytecode(path)
    try:
        status, said = runner.run(fault.tests.split(), fault.uncompiled)
    finally:
        path.write_bytes(whole)
        forget_bytecode(path)
    seconds = perf_counter() - began
    first = FIRST_FAILURE.search(said)
    if status is None:
        return Outcome("noticed", "a test that hangs", seconds)
    if status == FAILED and first is not None:
        return Outcome("noticed", first[1], seconds)
    state = "survived" if status == PASSED else "broken"
    return Outcome(state, "" if status == PASSED else said.strip()[-300:], seconds)


def check_tests(runner: Runner, faults: Sequence[Fault]) -> bool:
    """Say whether the tests of all these faults pass on the code as it is."""
    sound = True
    for uncompiled in (True, False):
        tests = sorted({t for f in faults if f.uncompiled == uncompiled for t in f.tests.split()})
        if tests:
            status, said = runner.run(tests, uncompiled)
            if status != PASSED:
                sound = False
                print(said[-3000:], file=sys.stderr)
    return sound


def chosen(options: argparse.Namespace) -> list[Fault]:
    """Return the faults that the options ask for."""
    found = [f for f in FAULTS if not options.only or options.only in f"{f.name} {f.file}"]
    if options.uncompiled or options.compiled:
        found = [f for f in found if f.uncompiled == bool(options.uncompiled)]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Examine faults; return 1 if one survived, 2 if the tests fail without any."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", help="faults whose name or file contains this")
    parser.add_argument("--uncompiled", action="store_true", help="those that need no kernel")
    parser.add_argument("--compiled", action="store_true", help="all others")
    parser.add_argument("--list", action="store_true", help="show them, run nothing")
    parser.add_argument("--unchecked", action="store_true", help="do not run the tests as they are")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="to continue a run later")
    options = parser.parse_args(arguments)
    faults = chosen(options)
    if options.list:
        for fault in faults:
            print(f"{fault.file}: {fault.name}")
        print(f"{len(faults)} faults, {sum(f.uncompiled for f in faults)} without a kernel")
        return 0
    known: dict[str, Outcome] = {}
    if options.journal and options.journal.exists():
        lines = options.journal.read_text(encoding="utf-8").splitlines()
        known = {name: Outcome(*rest) for name, *rest in map(json.loads, lines)}
    with tempfile.TemporaryDirectory(prefix="numoku-faults-") as folder:
        copy_tree(Path(folder))
        runner = Runner(Path(folder))
        try:
            if not options.unchecked and not check_tests(runner, faults):
                print("the tests fail without any fault")
                return 2
            for fault in faults:
                if fault.name not in known:
                    known[fault.name] = outcome = examine(runner, fault)
                    tell(fault, outcome, options.journal)
        finally:
            runner.close()
    return report([(fault, known[fault.name]) for fault in faults])


def tell(fault: Fault, outcome: Outcome, journal: Path | None) -> None:
    """Show what became of a fault, and write it down."""
    text = f"{outcome.state:8} {outcome.seconds:4.0f} s  {fault.name}: {outcome.by}"
    print(text, flush=True)
    if journal:
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps([fault.name, *outcome]) + "\n")


def report(results: Sequence[tuple[Fault, Outcome]]) -> int:
    """Print who was noticed, and all that were not; return 1 if there is one."""
    noticed = sum(outcome.state == "noticed" for _, outcome in results)
    for fault, outcome in results:
        if outcome.state != "noticed":
            print(f"{outcome.state}: {fault.name} ({fault.file}; {fault.tests})")
    print(f"{noticed} of {len(results)} faults noticed")
    return 0 if noticed == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
