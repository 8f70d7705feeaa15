"""A program run as the official judge runs one: at once, frozen, and killed in the end.

It is written from what is known of that judge and shares no code with our own referee.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil

from .piped import Piped, stones_of

# Seconds over the limit that the judge accepts. Wine needs a good part of them to start a program,
# and all of them where the processor is shared.
TOLERANCE = 30.0 if sys.platform == "win32" else 1.0
MEMORY = 350 * 1024 * 1024  # bytes over the whole tree of processes
LAST_WORD = 30.0  # seconds between END and the kill; the judge's half a second is for idle machines


def private_bytes(process: psutil.Process) -> int:
    """Return what a process has for itself, or, where only wine is asked, what it has at all."""
    try:
        return int(process.memory_full_info().uss)
    except OSError:
        return int(process.memory_info().rss)


class Judged(Piped):
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
        super().__init__(
            program, dict(os.environ, TMPDIR=str(folder), TEMP=str(folder), TMP=str(folder))
        )
        self.tree = psutil.Process(self.process.pid)
        self.write(
            f"START {size}", f"INFO timeout_turn {turn}", f"INFO timeout_match {match}",
            f"INFO max_memory {MEMORY}", "INFO game_type 1", f"INFO rule {rule}",
            f"INFO folder {folder}",
        )  # fmt: skip
        self.tree.suspend()

    def move(self, moves: list[tuple[int, int]]) -> tuple[int, int]:
        """Return its answer to all moves so far; its clock runs from the thaw."""
        self.write(f"INFO time_left {self.left}")
        if self.fresh:
            self.write("BOARD", *stones_of(moves), "DONE")
            self.fresh = False
        else:
            self.write("TURN {},{}".format(*moves[-1]))
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
        """Say END, give it a while, and kill it; return its status if it left by itself."""
        self.tree.resume()
        self.write("END")
        return self.wait(LAST_WORD)
