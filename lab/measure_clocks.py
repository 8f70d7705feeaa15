"""Short matches on a busy machine: ``python -m lab.measure_clocks [--games N] [--match S ...]``.

The engine plays itself by the protocol, freestyle on 15x15, with ``--match`` seconds per game,
``--concurrency`` games at a time and ``--load`` additional busy processes. The table has a row for
each match time: games, losses on time (without tolerance, program start on the clock), the least
time left on a clock, the least time that the plan allotted to one of the last ten moves of a side,
the most that an answer was later than planned, and the mean load of the machine. ``--journals
FOLDER`` keeps the games and their dialogues.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

from pbrain_engine.arena.match import read_journal
from pbrain_engine.engine.pacing import Limits, plan
from pbrain_engine.game.record import GameRecord

CELLS = 225
LAST = 10  # moves of a side that count as its last
COUNT = [sys.executable, "-c", "while True: pass"]


class Clock(NamedTuple):
    """The clock of one side in one game, in milliseconds."""

    left: int  # at the end
    offered: float  # least time planned for one of its last moves
    late: float  # most time over the plan
    moves: int


def clocks(played: GameRecord, match_ms: int) -> list[Clock]:
    """Return the figures of both clocks of a game."""
    found = []
    for side in (0, 1):
        left, offered, late = match_ms, list[float](), [0.0]
        for number, ms in enumerate(played.times):
            ply = len(played.opening) + number
            if ply % 2 == side:
                hard = plan(Limits(None, left), ply, CELLS).hard * 1000
                offered.append(hard)
                late.append(ms - hard)
                left -= ms
        found.append(Clock(left, min(offered[-LAST:], default=0.0), max(late), len(offered)))
    return found


class LoadMeter:
    """Measures the mean load of the machine while its context is active."""

    def __enter__(self) -> LoadMeter:
        self._seen: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(5.0):
            self._seen.append(os.getloadavg()[0])

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def mean(self) -> float:
        """The mean load, or the current load before the first sample."""
        return sum(self._seen) / len(self._seen) if self._seen else os.getloadavg()[0]


def play(options: argparse.Namespace, match: float, folder: Path) -> list[GameRecord]:
    """Play games with this many seconds per side, writing the journal to the folder."""
    others = [subprocess.Popen(COUNT) for _ in range(options.load)]
    try:
        journal = folder / f"{match:g}s.games"
        engine = f"{sys.executable} -m pbrain_engine"
        command = [sys.executable, "-m", "pbrain_engine.cli", "match", engine, engine,
                   "--games", str(options.games), "--match", str(match), "--turn", str(match),
                   "--concurrency", str(options.concurrency), "--openings", options.openings,
                   "--tolerance", "0", "--journal", str(journal),
                   "--log", str(folder / f"{match:g}s")]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return list(read_journal(journal)[1])
    finally:
        for other in others:
            other.kill()
            other.wait()


def main(words: list[str]) -> int:
    """Print the table; return 1 if a game was lost on time, else 0."""
    parser = argparse.ArgumentParser(prog="lab.measure_clocks", description=__doc__)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--match", type=float, nargs="+", default=[6.0, 20.0, 60.0])
    parser.add_argument("--load", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=1)
    parser.add_argument("--openings", default="balanced")
    parser.add_argument("--journals", type=Path)
    options = parser.parse_args(words)
    print("| match | games | moves | on time | least left | offered at the end | late | load |")
    print("|---|---|---|---|---|---|---|---|")
    lost_any = False
    for match in options.match:
        with tempfile.TemporaryDirectory() as temporary, LoadMeter() as load:
            folder = options.journals or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            played = play(options, match, folder)
        rows = [clock for game in played for clock in clocks(game, round(match * 1000))]
        lost = [game for game in played if game.fault]
        lost_any |= bool(lost)
        print(
            f"| {match:g} s | {len(played)} | {max(row.moves for row in rows)} | {len(lost)} "
            f"| {min(row.left for row in rows)} ms | {min(row.offered for row in rows):.0f} ms "
            f"| {max(row.late for row in rows):.0f} ms | {load.mean:.1f} |", flush=True,
        )  # fmt: skip
        for game in lost:
            stones = len(game.opening) + len(game.moves)
            print(f"game {game.number + 1}, {stones} stones: {game.detail}", file=sys.stderr)
    return int(lost_any)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
