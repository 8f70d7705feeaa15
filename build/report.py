"""Measure a package as tournaments use it, and compare the figures with their limits.

The ZIP is unpacked into an empty folder. The report has its size, the time from the start of the
program to its first answer and first move (warm and cold), memory, the signature, and the speed
relative to the sources. The package's tests ask its kernels for other levels.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import shipping
from package import PROGRAM, SIZE_LIMIT

from pbrain_engine.arena.process import EngineProcess, descendants, tree_memory
from pbrain_engine.errors import BuildError

STARTS = 20
# Milliseconds to the first answer, or this many times those of a bare Python, if that is more:
# under wine and on a busy machine every program starts slowly. Slow memory delays a package more
# than a bare Python, since it reads more: 37 ms elsewhere, 110 where a bare one took 15.
WARM_LIMIT, COLD_LIMIT = 100.0, 500.0
WARM_FACTOR, COLD_FACTOR = 10.0, 50.0
BARE = [sys.executable, "-I", "-S", "-c", "input(); print('OK', flush=True); input()"]
SPEED_LOSS = 0.1  # how much slower than the sources a package may be
COLD_STARTS, MOST_ROUNDS = 3, 7  # repetitions, since other load may disturb one
PATIENCE = 60.0  # seconds for an answer
DROP_CACHES = "/proc/sys/vm/drop_caches"


class Line(NamedTuple):
    """A line of the report: a figure and its limit."""

    name: str
    figure: str
    limit: str
    good: bool

    def __str__(self) -> str:
        """Return the line as text."""
        return f"{self.name:34} {self.figure:>26}   {self.limit:24} {'' if self.good else 'NO'}"


def unpack(package: Path, folder: Path) -> None:
    """Unpack a ZIP with its file modes, which ``extractall`` ignores."""
    with zipfile.ZipFile(package) as archive:
        for entry in archive.infolist():
            path = archive.extract(entry, folder)
            os.chmod(path, entry.external_attr >> 16 & 0o777)


def answer_times(
    command: list[str], said: Sequence[str], answers: str, folder: str | None = None
) -> list[float]:
    """Start a program, send it lines, and end it; return the milliseconds until each answer.

    Raises:
        BuildError: the answers do not match this pattern.
    """
    began = perf_counter()
    with closing(EngineProcess(command, folder)) as process:
        process.send(*said)
        lines = [process.line(PATIENCE) for _ in answers.split()]
        process.send("END")
    found = " ".join(line.text.strip() for line in lines if line)
    if not re.fullmatch(answers, found):
        raise BuildError(f"{Path(command[0]).name} answers {found!r}")
    return [1000 * (line.time - began) for line in lines if line]


def start(program: Path) -> list[float]:
    """Return the milliseconds from the start of a program to OK, and to a first move."""
    said = ("START 20", "INFO timeout_turn 0", "BOARD", "DONE")
    return answer_times([str(program)], said, r"OK \d+,\d+", str(program.parent))


def forget_files(folder: Path) -> str:
    """Drop the files of a folder from the system's cache, if possible; return how."""
    os.sync() if hasattr(os, "sync") else None
    try:
        Path(DROP_CACHES).write_text("3\n")
        return "caches dropped"
    except OSError:
        pass
    if not hasattr(os, "posix_fadvise"):
        return "caches as they are"
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return "own files forgotten"


def start_lines(program: Path) -> list[Line]:
    """Measure the start times, warm and cold."""
    cold = [math.inf]
    for _ in range(COLD_STARTS):
        how = forget_files(program.parent)
        cold = min(cold, start(program))
    runs = [start(program) + answer_times(BARE, ["START"], "OK") for _ in range(STARTS)]  # in turn
    answer, move, bare = map(median, zip(*runs, strict=True))
    warm_limit = max(WARM_LIMIT, WARM_FACTOR * bare)
    cold_limit = max(COLD_LIMIT, COLD_FACTOR * bare)
    return [
        Line("start of a bare Python", f"{bare:.0f} ms", "", True),
        start_line(f"start to OK, median of {STARTS}", answer, warm_limit),
        start_line(f"start to a move, median of {STARTS}", move, warm_limit),
        start_line(f"start to OK, {how}", cold[0], cold_limit),
        start_line(f"start to a move, {how}", cold[1], cold_limit),
    ]


def start_line(name: str, milliseconds: float, limit: float) -> Line:
    """Return the line about a time."""
    good = milliseconds <= limit
    return Line(name, f"{milliseconds:.0f} ms", f"at most {limit:.0f} ms", good)


def memory_line(program: Path) -> Line:
    """Measure the memory of the program after START."""
    with closing(EngineProcess([str(program)], str(program.parent))) as process:
        process.send("START 20")
        process.line(PATIENCE)
        count = 1 + len(descendants(process.pid))
        used = tree_memory(process.pid)
        process.end()
    figure = f"{used / 1e6:.1f} MB, {count} process"
    return Line("memory after START", figure, "one process", count == 1)


def bench_lines(program: Path, rounds: int) -> list[Line]:
    """Compare the signature and the speed with the sources."""
    command = [str(program)]
    pairs = [(shipping.run_bench(command), shipping.bench()) for _ in range(rounds)]
    found, expected = (figures["nodes"] for figures in pairs[0])
    limit = f"{expected}, as the sources"
    lines = [Line("signature", f"{found}", limit, found == expected)]
    for key, name in {"nps": "nodes a second", "pairs": "pairs a second"}.items():
        ratio = ratio_of(pairs, key)
        while ratio < 1 - SPEED_LOSS and len(pairs) < MOST_ROUNDS:
            pairs.append((shipping.run_bench(command), shipping.bench()))
            ratio = ratio_of(pairs, key)
        figure = f"{ratio:.3f} of the sources"
        limit = f"at least {1 - SPEED_LOSS:.2f}"
        good = ratio >= 1 - SPEED_LOSS
        lines.append(Line(f"{name}, {len(pairs)} times each", figure, limit, good))
    return lines


def ratio_of(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]], key: str) -> float:
    """Return the best figure of the package over that of the sources: other load only slows."""
    package, sources = zip(*pairs, strict=True)
    best, other = (float(max(run[key] for run in runs)) for runs in (package, sources))
    return best / other


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a package; return 1 if a figure exceeds its limit, else 0."""
    parser = argparse.ArgumentParser(description="Measure a package for tournaments.")
    parser.add_argument("package", type=Path, help="the ZIP")
    parser.add_argument("--rounds", type=int, default=1, help="of the speed comparison")
    options = parser.parse_args(arguments)
    size = options.package.stat().st_size
    limit = f"at most {SIZE_LIMIT:,} bytes"
    lines = [Line(options.package.name, f"{size:,} bytes", limit, size <= SIZE_LIMIT)]
    with tempfile.TemporaryDirectory(prefix="numoku package ") as folder:
        unpack(options.package, Path(folder))
        program = Path(folder, PROGRAM)
        lines += start_lines(program)
        lines.append(memory_line(program))
        lines += bench_lines(program, options.rounds)
    print("\n".join(map(str, lines)))
    return 0 if all(line.good for line in lines) else 1


if __name__ == "__main__":
    sys.exit(shipping.status_of(main))
