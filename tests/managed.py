"""A program run as the manager Piskvork runs one in a tournament.

It is written from what is known of that manager: stderr is the same pipe as stdout, OK is
waited for, INFO follows, the first command for a move is BEGIN, TURN or BOARD, the turn is
counted in milliseconds from there, and after each move the most that the working set ever was
is compared with the limit. A pause is END, and a new process later.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pbrain_engine.game.game import Game
from pbrain_engine.native.load.footprint import peak_working_set

from .piped import Piped, stones_of

START_PATIENCE = 30.0  # seconds; generous, for a loaded machine
TOLERANCE = 1.0
LAST_WORD = 30.0  # seconds between END and the kill; the manager's 0.7 are for idle machines
UNLIMITED = 2_147_483_647


class Managed(Piped):
    """A program that plays one side, from the start of its process to its end."""

    def __init__(
        self, program: Path, size: int, turn: int, memory: int, rule: int = 0, more: str = ""
    ) -> None:
        """Start it, wait for OK, and tell it the conditions, the last one of the caller.

        ``turn`` is in milliseconds.
        """
        self.turn = turn
        self.peak = 0
        super().__init__(program)
        self.write(f"START {size}")
        assert self._answer(START_PATIENCE) == "OK"
        for info in (f"max_memory {memory}", "timeout_match 1000000000", f"timeout_turn {turn}",
                     "game_type 1", f"rule {rule}", f"time_left {UNLIMITED}",
                     *([more] if more else [])):  # fmt: skip
            self.write(f"INFO {info}")

    def _answer(self, timeout: float) -> str:
        end = time.perf_counter() + timeout
        while True:
            line = self.lines.get(timeout=max(0.01, end - time.perf_counter()))
            if not line.startswith(("MESSAGE ", "DEBUG ")):
                return line

    def move(self, game: Game, *, anew: bool = False) -> tuple[int, int]:
        """Return its move in this position; ``anew``: the process does not know the game."""
        self.write(f"INFO time_left {UNLIMITED}")
        if anew:
            self.write("BOARD", *stones_of(game.moves), "DONE")
        elif game.moves:
            self.write("TURN {},{}".format(*game.moves[-1]))
        else:
            self.write("BEGIN")
        x, y = map(int, self._answer(self.turn / 1000 + TOLERANCE + START_PATIENCE).split(","))
        if sys.platform == "win32":
            self.peak = max(self.peak, peak_working_set(self.process.pid))
        return x, y

    def end(self) -> int | None:
        """Say END, close its input, and kill it after a while; return its status if it left."""
        assert self.process.stdin is not None
        self.write("END")
        self.process.stdin.close()
        self.process.stdin = None
        return self.wait(LAST_WORD)
