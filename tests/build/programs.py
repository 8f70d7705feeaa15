"""Programs run like the manager Piskvork, or the official judge of tournaments, runs them.

Both are written from what is known of them, not as our own referee is. Their generous patience
is for loaded machines: their own limits are for idle ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from pbrain_engine.arena.process import EngineProcess, tree_memory
from pbrain_engine.game.game import Game
from pbrain_engine.native.load.memory import peak_working_set

PATIENCE = 30.0  # seconds to start, and between END and the kill
# Seconds over the limit that the judge accepts. Wine needs a good part of them to start a program,
# and all of them where the processor is shared.
TOLERANCE = PATIENCE if sys.platform == "win32" else 1.0
MEMORY = 350 * 1024 * 1024  # bytes over the whole tree of processes
UNLIMITED = 2_147_483_647

Moves = Sequence[tuple[int, int]]


class Piped:
    """A running program, with stderr and stdout in one pipe, as with managers."""

    def __init__(self, program: Path, environment: Mapping[str, str] | None = None) -> None:
        """Start it in its own folder."""
        self.peak = 0  # peak memory in bytes
        self.peer = EngineProcess([str(program)], str(program.parent), environment, merged=True)
        self.write = self.peer.send

    def __enter__(self) -> Self:
        """Run it for the duration of a ``with`` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Kill it if it still runs."""
        self.peer.close(grace=0.0)

    def board(self, moves: Moves) -> None:
        """Send the whole game to the side to move."""
        own = len(moves) % 2
        stones = [f"{x},{y},{1 if i % 2 == own else 2}" for i, (x, y) in enumerate(moves)]
        self.write("BOARD", *stones, "DONE")

    def answer(self, seconds: float) -> str:
        """Return the next line that is not a remark."""
        end = time.perf_counter() + seconds
        while line := self.peer.line(max(0.01, end - time.perf_counter())):
            if not line.text.startswith(("MESSAGE ", "DEBUG ")):
                return line.text.strip()
        raise AssertionError(f"no answer within {seconds:g} s")

    def end(self) -> int | None:
        """Send END and kill it after a while; return its status if it exited by itself."""
        self.write("END")
        with self:
            return self.peer.wait(PATIENCE)


class Managed(Piped):
    """A program that plays one side as the manager asks it.

    The manager waits for OK, INFO follows, the first command for a move is BEGIN, TURN or BOARD,
    the turn is counted from there, and after each move the most that the working set ever was is
    compared with the limit. A pause is END, and a new process later.
    """

    def __init__(self, program: Path, size: int, turn: int, memory: int) -> None:
        """Start it, wait for OK, and send the conditions; ``turn`` is in milliseconds."""
        self.turn = turn
        super().__init__(program)
        self.write(f"START {size}")
        assert self.answer(PATIENCE) == "OK"
        for info in (f"max_memory {memory}", "timeout_match 1000000000", f"timeout_turn {turn}",
                     "game_type 1", "rule 0", f"time_left {UNLIMITED}"):  # fmt: skip
            self.write(f"INFO {info}")

    def move(self, game: Game, *, anew: bool = False) -> tuple[int, int]:
        """Return its move in this position; ``anew``: the process does not know the game."""
        self.write(f"INFO time_left {UNLIMITED}")
        if anew:
            self.board(game.moves)
        else:
            self.write("TURN {},{}".format(*game.moves[-1]) if game.moves else "BEGIN")
        x, y = map(int, self.answer(self.turn / 1000 + PATIENCE).split(","))
        if sys.platform == "win32":
            self.peak = max(self.peak, peak_working_set(self.peer.pid))
        return x, y


class Judged(Piped):
    """A program that plays one side before the judge: asked at once, frozen, and killed."""

    def __init__(
        self, program: Path, size: int, rule: int, turn: int, match: int, folder: Path
    ) -> None:
        """Start it, write everything at once without waiting for OK, and freeze it."""
        folder.mkdir()
        self.turn, self.left = turn, match
        self.fresh = True
        # The temporary files of the system go where the test can see them.
        super().__init__(program, dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder)))
        self.write(
            f"START {size}", f"INFO timeout_turn {turn}", f"INFO timeout_match {match}",
            f"INFO max_memory {MEMORY}", "INFO game_type 1", f"INFO rule {rule}",
            f"INFO folder {folder}",
        )  # fmt: skip
        self.peer.suspend()

    def move(self, moves: Moves) -> tuple[int, int]:
        """Return its answer to all moves so far; its clock runs from the thaw."""
        self.write(f"INFO time_left {self.left}")
        if self.fresh:
            self.board(moves)
        else:
            self.write("TURN {},{}".format(*moves[-1]))
        limit = TOLERANCE + max(0, min(self.left, self.turn)) / 1000
        began = time.perf_counter()
        self.peer.suspend(resumes=True)
        answer = self.answer(limit)
        if self.fresh and answer == "OK":
            answer = self.answer(limit - (time.perf_counter() - began))
        self.fresh = False
        self.left -= round(1000 * (time.perf_counter() - began))
        self.peak = max(self.peak, tree_memory(self.peer.pid))
        self.peer.suspend()
        x, y = map(int, answer.split(","))
        return x, y

    def end(self) -> int | None:
        """Thaw it, say END, and kill it after a while; return its status if it left by itself."""
        self.peer.suspend(resumes=True)
        return super().end()
