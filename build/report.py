"""Measure a package as a tournament meets it, and hold the figures against their limits.

The ZIP is unpacked into an empty folder. Measured are its size, the time from the start of the
program to its first answer and first move, warm and once from the disk, memory, the
signature at every level of the processor, and the speed against the sources, in turn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import shipping
from package import PROGRAM, SIZE_LIMIT

from pbrain_engine.arena.players import processes
from pbrain_engine.native.build.compile import BuildError
from pbrain_engine.native.load.library import load, processor_level

STARTS = 20
WARM_LIMIT, COLD_LIMIT = 100.0, 500.0  # milliseconds to the first answer
SPEED_LOSS = 0.03  # how much slower than the sources a package may be
EMPTY_BOARD = b"BOARD\nDONE\n"
DROP_CACHES = "/proc/sys/vm/drop_caches"


class Line(NamedTuple):
    """A line of the report: a figure, and whether it is within its limit."""

    name: str
    figure: str
    limit: str
    good: bool

    def __str__(self) -> str:
        """Return the line as text."""
        return f"{self.name:34} {self.figure:>26}   {self.limit:24} {'' if self.good else 'NO'}"


class Start(NamedTuple):
    """Milliseconds from the start of the program: to OK, and to a move on an empty board."""

    answer: float
    move: float


@contextmanager
def unpacked(package: Path) -> Iterator[Path]:
    """Unpack a ZIP with its modes into a folder of an awkward name; give the program."""
    with tempfile.TemporaryDirectory(prefix="numoku package ") as name:
        unpack(package, Path(name))
        yield Path(name, PROGRAM)


def unpack(package: Path, folder: Path) -> None:
    """Unpack a ZIP; Python's own way forgets who may execute what."""
    with zipfile.ZipFile(package) as archive:
        for entry in archive.infolist():
            path = archive.extract(entry, folder)
            os.chmod(path, entry.external_attr >> 16 & 0o777)


def start(program: Path) -> Start:
    """Start the program once, time its first answers, and end it."""
    began = perf_counter()
    process = subprocess.Popen(
        [str(program)], cwd=program.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write(b"START 20\nINFO timeout_turn 0\n" + EMPTY_BOARD)
        process.stdin.flush()
        answer = process.stdout.readline()
        answered = perf_counter()
        move = process.stdout.readline()
        moved = perf_counter()
        process.stdin.write(b"END\n")
    if answer.strip() != b"OK" or not move.strip().replace(b",", b"").isdigit():
        raise BuildError(f"{program.name} answers {answer!r} and {move!r}")
    return Start(1000 * (answered - began), 1000 * (moved - began))


def forget_files(folder: Path) -> str:
    """Make the system forget what it has read of a folder; say how."""
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
    """Measure the time from start to answer."""
    how = forget_files(program.parent)
    cold = start(program)
    warm = [start(program) for _ in range(STARTS)]
    answer, move = median(s.answer for s in warm), median(s.move for s in warm)
    return [
        start_line(f"start to OK, median of {STARTS}", answer, WARM_LIMIT),
        start_line(f"start to a move, median of {STARTS}", move, WARM_LIMIT),
        start_line(f"start to OK, {how}", cold.answer, COLD_LIMIT),
        start_line(f"start to a move, {how}", cold.move, COLD_LIMIT),
    ]


def start_line(name: str, milliseconds: float, limit: float) -> Line:
    """Return the line about a time."""
    good = milliseconds <= limit
    return Line(name, f"{milliseconds:.0f} ms", f"at most {limit:.0f} ms", good)


def memory_line(program: Path) -> Line:
    """Measure the memory of a program that waits for its first move."""
    process = subprocess.Popen(
        [str(program)], cwd=program.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write(b"START 20\n")
        process.stdin.flush()
        process.stdout.readline()
        count = 1 + len(processes.descendants(process.pid))
        used = processes.tree_memory(process.pid)
        process.stdin.write(b"END\n")
    figure = f"{used / 1e6:.1f} MB, {count} process"
    return Line("memory after START", figure, "one process", count == 1)


def bench_lines(program: Path, rounds: int) -> list[Line]:
    """Compare the signature of every level, and the speed, with the sources."""
    command, levels = [str(program)], shipping.host().levels
    levels = levels[: levels.index(str(processor_level(load()))) + 1]
    pairs = [(shipping.run_bench(command), shipping.bench()) for _ in range(rounds)]
    expected = pairs[0][1]["nodes"]
    lines = []
    for level in levels:
        nodes = shipping.run_bench(command, "--level", level)["nodes"]
        limit = f"{expected}, as the sources"
        lines.append(Line(f"signature, {level}", f"{nodes}", limit, nodes == expected))
    for key, name in {"nps": "nodes a second", "pairs": "pairs a second"}.items():
        ratio = median(package[key] / sources[key] for package, sources in pairs)
        figure = f"{ratio:.3f} of the sources"
        limit = f"at least {1 - SPEED_LOSS:.2f}"
        lines.append(Line(f"{name}, {rounds} times each", figure, limit, ratio >= 1 - SPEED_LOSS))
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a package; return 1 if it is not what it must be, timings apart."""
    parser = argparse.ArgumentParser(description="Measure a package for tournaments.")
    parser.add_argument("package", type=Path, help="the ZIP")
    parser.add_argument("--rounds", type=int, default=1, help="of the comparison of speed")
    options = parser.parse_args(arguments)
    size = options.package.stat().st_size
    limit = f"at most {SIZE_LIMIT:,} bytes"
    lines = [Line(options.package.name, f"{size:,} bytes", limit, size <= SIZE_LIMIT)]
    timings: list[Line] = []
    try:
        with unpacked(options.package) as program:
            timings += start_lines(program)
            lines.append(memory_line(program))
            for line in bench_lines(program, options.rounds):
                (timings if "second" in line.name else lines).append(line)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(str(line) for line in [*lines, *timings]))
    return 0 if all(line.good for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
