"""The whole suite, on all cores: ``python -m tests.suite [--workers N] [options of pytest]``.

Tests that depend on a clock have the marker ``timed`` and run alone after the others, so that no
other test delays them. The rest is distributed over the cores, file by file, with half as many more
processes, since tests wait for programs and pages. If a few tests fail, they are tried again alone
and named if they pass then: a busy machine is no fault of the code. Tests of hours belong to the
weekly run: ``python -m tests.suite long [tests|claims|lines|games]``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import sleep

import pytest

MOST_AGAIN = 3  # failures to try again
FINE = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)

CLAIMS, GAMES = "tests/test_claims.py", "tests/game/test_game.py"
LONG = {
    "tests": ["-m", "pytest", "-m", "long", "--ignore", CLAIMS, "--ignore", GAMES],
    "claims": ["-m", "pytest", "-m", "long", CLAIMS],
    "lines": ["-m", "lab.fuzz_protocol", "--lines", "1000000"],
    "games": ["-m", "pytest", "-m", "long", GAMES],
}


def cores() -> int:
    """Return the number of processes that can run at once; two threads of a core count as two."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_long(names: Sequence[str]) -> int:
    """Run the named runs of ``LONG``, or all; return the number of failed runs."""
    failed = 0
    if unknown := set(names) - set(LONG):
        print(f"no {', '.join(sorted(unknown))}: there are {', '.join(LONG)}", file=sys.stderr)
        return 2
    for name in names or LONG:
        print(name, flush=True)
        failed += subprocess.run([sys.executable, *LONG[name]]).returncode != 0
    return failed


def again(command: Sequence[str], environment: Mapping[str, str], cache: Path) -> int | None:
    """Run the failed tests again, alone; return the status, or None if they are too many."""
    failed = json.loads((cache / "v/cache/lastfailed").read_text(encoding="utf-8"))
    if len(failed) > MOST_AGAIN:
        return None
    print(f"again, alone: {' '.join(failed)}", flush=True)
    status = subprocess.run([*command, *failed], env=environment).returncode
    if status in FINE:
        print(f"passed alone, but failed beside others: {' '.join(failed)}", flush=True)
    return status


def await_process(number: str) -> None:
    """Wait until a process that works beside the suite has ended."""
    while number and os.path.exists(f"/proc/{number}"):
        sleep(1)


def main(words: Sequence[str]) -> int:
    """Run both parts, also when the first fails; return the status of the first that does.

    What is tried again alone and passes has not failed.
    """
    if words[:1] == ["long"]:
        return run_long(words[1:])
    workers = str(cores() + cores() // 2)
    if words and words[0] == "--workers":
        workers, words = words[1] if words[1] != "auto" else workers, words[2:]
    spread = ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]
    parts = [*spread, "-m", "not long and not timed"], ["-m", "timed and not long"]
    command = [sys.executable, "-m", "pytest"]
    with tempfile.TemporaryDirectory(prefix="numoku-suite-") as folder:
        made = {"NUMOKU_SITE": os.path.join(folder, "site"), "NUMOKU_MADE": folder}  # once for all
        environment = {**made, **os.environ}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile
        cache = Path(folder) / "cache"
        command += ["-o", f"cache_dir={cache}"]
        statuses = list[int]()
        for part in parts:
            statuses.append(subprocess.run([*command, *part, *words], env=environment).returncode)
            await_process(os.environ.get("NUMOKU_BESIDE", ""))
        worst = next((status for status in statuses if status not in FINE), 0)
        if worst == pytest.ExitCode.TESTS_FAILED:
            found = again(command, environment, cache)
            worst = worst if found is None else found
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
