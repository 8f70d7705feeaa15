"""A program run as the official judge runs one: at once, frozen, and killed in the end.

It is written from what is known of that judge and shares no code with our own referee.
"""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from pathlib import Path

import psutil

TOLERANCE = 1.0  # seconds over the limit that the judge accepts
MEMORY = 350 * 1024 * 1024  # bytes over the whole tree of processes
LAST_WORD = 0.5  # seconds between END and the kill


def private_bytes(process: psutil.Process) -> int:
    """Return what a process has for itself, or, where only wine is asked, what it has at all."""
    try:
        return int(process.memory_full_info().uss)
    except OSError:
        return int(process.memory_info().rss)


class Judged:
    """A program that plays one side of a game."""

    def __init__(
        self, program: Path, size: int, rule: int, turn: int, match: int, folder: Path
    ) -> None:
        """Start it, write everything at once without waiting for OK, and freeze it."""
        folder.mkdir()
        self.turn, self.left = turn, match
        self.peak = 0
        self.fresh = True
        # The temporary files of the system go where the test can see them.
        environment = dict(os.environ, TMPDIR=str(folder), TEMP=str(folder), TMP=str(folder))
        self.process = subprocess.Popen(
            [str(program)],
            cwd=program.parent,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        self.tree = psutil.Process(self.process.pid)
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self._write(
            f"START {size}", f"INFO timeout_turn {turn}", f"INFO timeout_match {match}",
            f"INFO max_memory {MEMORY}", "INFO game_type 1", f"INFO rule {rule}",
            f"INFO folder {folder}",
        )  # fmt: skip
        self.tree.suspend()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.decode("ascii").strip())

    def _write(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(line + "\r\n" for line in lines).encode("ascii"))

    def move(self, moves: list[tuple[int, int]]) -> tuple[int, int]:
        """Return its answer to all moves so far; its clock runs from the thaw."""
        self._write(f"INFO time_left {self.left}")
        if self.fresh:
            mine = len(moves) % 2
            stones = [f"{x},{y},{1 if i % 2 == mine else 2}" for i, (x, y) in enumerate(moves)]
            self._write("BOARD", *stones, "DONE")
            self.fresh = False
        else:
            self._write("TURN {},{}".format(*moves[-1]))
        began = time.perf_counter()
        self.tree.resume()
        limit = TOLERANCE + max(0, min(self.left, self.turn)) / 1000
        answer = self._answer(began + limit)
        self.left -= round(1000 * (time.perf_counter() - began))
        self.peak = max(self.peak, self.private())
        self.tree.suspend()
        x, y = map(int, answer.split(","))
        return x, y

    def _answer(self, deadline: float) -> str:
        """Return the first line that is a move; what else may come is known."""
        while True:
            line = self.lines.get(timeout=max(0.01, deadline - time.perf_counter()))
            if line != "OK" and not line.startswith(("MESSAGE ", "DEBUG ")):
                return line

    def private(self) -> int:
        """Return the private memory of the program with all that it has started."""
        return sum(map(private_bytes, [self.tree, *self.tree.children(recursive=True)]))

    def end(self) -> int | None:
        """Say END, give it half a second, and kill it; return its status if it left by itself."""
        self.tree.resume()
        self._write("END")
        try:
            return self.process.wait(LAST_WORD)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.close()

    def close(self) -> None:
        """Kill what is left, and wait until it is gone and all it wrote is read."""
        with self.process:
            self.process.kill()
            self.reader.join()  # before its stream is closed: it may be inside a read
