"""Build the package for Windows on Linux and test it there (``make windows``).

The program is the same as if built on Windows: wine runs a CPython for Windows, and PyInstaller
freezes that. The tests run in that Python too, so processes, pipes and paths are those of Windows,
as far as wine emulates them. Without wine, only a message is printed.

The exit status is 1 if the package cannot be built or fails its tests, and 75 if it was not tried,
because its parts cannot be downloaded now or wine does not work here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import package
import shipping
import winpython

# Tests of what clients see, and of system calls. The search is the same code on every system, and
# the tests on Linux replay its kernels under wine.
TESTS = (
    "build/test_package", "build/test_bundle",
    "test_options", "arena/test_processes", "protocol/test_loop",
    "doctor/test_checks",
)  # fmt: skip
# They start programs by the hundred, which wine does slowly.
MORE_TESTS = (
    "protocol/test_serve", "protocol/test_session", "doctor/test_exam", "arena/test_match",
)  # fmt: skip

NOT_TRIED = 75  # EX_TEMPFAIL: it may work another time


def try_out(python: winpython.WindowsPython, out: Path, *, all_tests: bool) -> int:
    """Run the tests on the package in a folder; return their status."""
    paths = [f"tests/{name}.py" for name in (*TESTS, *(MORE_TESTS if all_tests else ()))]
    options = ["-p", "no:cacheprovider", "--color=no", "-rs"]
    options += ["-m", "long or not long"] if all_tests else []
    return show(python, out, ["-m", "pytest", *options, *paths])


def show(python: winpython.WindowsPython, out: Path, arguments: Sequence[str]) -> int:
    """Run the Python for Windows on the package in a folder, print its output, return its status.

    It uses pipes, because the interpreter cannot start with a file as a standard stream.
    """
    more = {"NUMOKU_PACKAGE": str(out.resolve()), "PYTHONPATH": str(shipping.ROOT)}
    with subprocess.Popen(
        [*python.command, *arguments],
        cwd=shipping.ROOT,
        env={**python.environment, **more},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        for line in process.stdout:
            print(line.decode("utf-8", "replace").rstrip(), flush=True)
    return process.returncode


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the package into a folder, test it and measure it."""
    parser = argparse.ArgumentParser(description="Build the package for Windows on Linux.")
    parser.add_argument("out", type=Path, help="folder for the package and its checksum")
    parser.add_argument("--build-only", action="store_true", help="neither test nor measure it")
    parser.add_argument("--all-tests", action="store_true", help="include the long tests (hours)")
    options = parser.parse_args(arguments)
    try:
        python = winpython.windows_python()
        path = package.make_package(options.out, shipping.bench(), python=python)
        print(f"{path}  {path.stat().st_size:,} bytes", flush=True)
    except winpython.Missing as error:
        print(f"no package for Windows: {error}")
        return 0
    except winpython.Unavailable as error:
        print(f"error: no package for Windows: {error}", file=sys.stderr)
        return NOT_TRIED
    if options.build_only:
        return 0
    status = try_out(python, options.out, all_tests=options.all_tests)
    if status == 0:
        report = str(shipping.ROOT / "build" / "report.py")
        status = show(python, options.out, [report, str(path.resolve())])
    return status


if __name__ == "__main__":
    sys.exit(shipping.status_of(main))
