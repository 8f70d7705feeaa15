"""Short matches on a busy machine: ``python -m lab.measure_clocks [--games N] [--match S ...]``.

The engine plays itself by the protocol, in free style on 15x15, with so many seconds for all of its
moves and ``--load`` processes that do nothing but count. A row for each match time: games, losses
on time (without any tolerance, the start of the program on the clock), the least that was left on
a clock, the least time that the plan offered in the last ten moves of a side, and how late answers
were against their plan.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from pbrain_engine.arena.journal import read_journal
from pbrain_engine.engine.pacing import Limits, plan
from pbrain_engine.game.record import GameRecord

CELLS = 225
LAST = 10  # moves of a side that are its last
COUNT = [sys.executable, "-c", "while True: pass"]


class Clock(NamedTuple):
    """What one side had in one game, in milliseconds."""

    left: int  # on its clock at the end
    offered: float  # at least, in the last moves
    late: float  # at most, against the plan
    moves: int


def clocks(played: GameRecord, match_ms: int) -> list[Clock]:
    """Return how both clocks of a game ran."""
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


def play(games: int, match: float, load: int) -> list[GameRecord]:
    """Play games with this many seconds for each side, with that many processes beside them."""
    others = [subprocess.Popen(COUNT) for _ in range(load)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            journal = Path(folder, "games.jsonl")
            engine = f"{sys.executable} -m pbrain_engine"
            command = [sys.executable, "-m", "pbrain_engine.cli", "match", engine, engine,
                       "--games", str(games), "--match", str(match), "--turn", str(match),
                       "--tolerance", "0", "--journal", str(journal)]  # fmt: skip
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            return list(read_journal(journal)[1])
    finally:
        for other in others:
            other.kill()
            other.wait()


def main(words: list[str]) -> int:
    """Print the table; 1 if a game was lost on time."""
    parser = argparse.ArgumentParser(prog="lab.measure_clocks", description=__doc__)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--match", type=float, nargs="+", default=[6.0, 20.0, 60.0])
    parser.add_argument("--load", type=int, default=4)
    options = parser.parse_args(words)
    print("| match | games | moves | on time | least left | offered at the end | late |")
    print("|---|---|---|---|---|---|---|")
    lost_any = False
    for match in options.match:
        played = play(options.games, match, options.load)
        rows = [clock for game in played for clock in clocks(game, round(match * 1000))]
        lost = sum(bool(game.fault) for game in played)
        lost_any |= lost > 0
        print(
            f"| {match:g} s | {len(played)} | {max(row.moves for row in rows)} | {lost} "
            f"| {min(row.left for row in rows)} ms | {min(row.offered for row in rows):.0f} ms "
            f"| {max(row.late for row in rows):.0f} ms |", flush=True,
        )  # fmt: skip
    return int(lost_any)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
