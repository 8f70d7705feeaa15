"""A program run as the manager Piskvork runs one in a tournament.

It is written from what is known of that manager: stderr is the same pipe as stdout, OK is
waited for, INFO follows, the first command for a move is BEGIN, TURN or BOARD, the turn is
counted in milliseconds from there, and after each move the most that the working set ever was
is compared with the limit. A pause is END, and a new process later.
"""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

from pbrain_engine.game.game import Game
from pbrain_engine.native.load.footprint import peak_working_set

START_PATIENCE = 30.0  # seconds; generous, for a loaded machine
TOLERANCE = 1.0
LAST_WORD = 0.7  # seconds between END and the kill
UNLIMITED = 2_147_483_647


class Managed:
    """A program that plays one side, from the start of its process to its end."""

    def __init__(self, program: Path, size: int, turn: int, memory: int, rule: int = 0) -> None:
        """Start it, wait for OK, and tell it the conditions; ``turn`` is in milliseconds."""
        self.turn = turn
        self.peak = 0
        self.process = subprocess.Popen(
            [str(program)],
            cwd=program.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._write(f"START {size}")
        assert self._answer(START_PATIENCE) == "OK"
        for info in (f"max_memory {memory}", "timeout_match 1000000000", f"timeout_turn {turn}",
                     "game_type 1", f"rule {rule}", f"time_left {UNLIMITED}"):  # fmt: skip
            self._write(f"INFO {info}")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.decode("ascii").strip())

    def _write(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(line + "\r\n" for line in lines).encode("ascii"))

    def _answer(self, timeout: float) -> str:
        end = time.perf_counter() + timeout
        while True:
            line = self._lines.get(timeout=max(0.01, end - time.perf_counter()))
            if not line.startswith(("MESSAGE ", "DEBUG ")):
                return line

    def move(self, game: Game, *, anew: bool = False) -> tuple[int, int]:
        """Return its move in this position; ``anew``: the process does not know the game."""
        self._write(f"INFO time_left {UNLIMITED}")
        if anew:
            own = len(game.moves) % 2
            stones = [f"{x},{y},{2 - (i % 2 == own)}" for i, (x, y) in enumerate(game.moves)]
            self._write("BOARD", *stones, "DONE")
        elif game.moves:
            self._write("TURN {},{}".format(*game.moves[-1]))
        else:
            self._write("BEGIN")
        x, y = map(int, self._answer(self.turn / 1000 + TOLERANCE + START_PATIENCE).split(","))
        if sys.platform == "win32":
            self.peak = max(self.peak, peak_working_set(self.process.pid))
        return x, y

    def end(self) -> int | None:
        """Say END, close its input, and kill it after a while; return its status if it left."""
        assert self.process.stdin is not None
        self._write("END")
        self.process.stdin.close()
        self.process.stdin = None
        try:
            return self.process.wait(LAST_WORD)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.close()

    def close(self) -> None:
        """Kill what is left."""
        with self.process:
            self.process.kill()
            self._reader.join()
