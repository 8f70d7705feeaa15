"""What tuning does and says where games are made up: ``python -m tests.golden.tuning``.

A set of parameters wins the more games the larger its numbers are. Each command (see ``records``)
is recorded with all that it says and the games that it asks for.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from pathlib import Path

from pbrain_engine import progress, tuning
from pbrain_engine.arena.referee import GameTask
from pbrain_engine.arena.settings import MatchSettings
from pbrain_engine.game.record import RESULTS, GameRecord
from pbrain_engine.search import parameters
from pbrain_engine.search.parameters import Parameter
from tests.golden import texts
from tests.golden.records import Record, numoku, session, stage

TABLE = {
    "aspiration": Parameter(16, 4, 100, "a"),
    "delta": Parameter(1800, 100, 6000, "b"),
    "count_base": Parameter(4, 1, 12, "c"),
}


class Shelf:
    """Games that a larger set of parameters wins, by its number and colour more or less surely."""

    name = ""
    asked = 0
    now = 100.0

    def __init__(self, settings: MatchSettings) -> None:
        self.names = [engine.name for engine in settings.engines]
        self.tasks: deque[GameTask] = deque()
        print(f"{settings.concurrency} games at the same time")

    def submit(self, task: GameTask) -> None:
        sets = " ".join(",".join(map(str, list(one.values())[:3])) for one in task.parameters)
        words = f"{task.game} {task.round} {task.black}{task.white} {list(task.opening)}"
        print(f"  plays {words} {sets}")
        self.tasks.append(task)

    def wait(self) -> GameRecord:
        Shelf.asked += 1
        Shelf.now += 20.0
        task, fault = self.tasks.pop(), "fault" in self.name and Shelf.asked == 3
        if "interrupted" in self.name and Shelf.asked == 8:
            raise KeyboardInterrupt
        first, second = (sum(task.parameters[who].values()) for who in (task.black, task.white))
        winner = "black" if first > second - 5 * (task.game % 3) else "white"
        winner = "draw" if task.game % 7 == 3 else winner
        return GameRecord(
            black=self.names[task.black], white=self.names[task.white], result=RESULTS[winner],
            number=task.game, round=task.round, reason="crash" if fault else "five",
            detail="it is gone" if fault else "",
        )  # fmt: skip

    def close(self) -> None:
        print("closed")


def rounded(text: str) -> str:
    """Return a text with numbers of at most seven digits behind the point."""
    return re.sub(r"\d+\.\d{8,}", lambda found: f"{float(found[0]):.7f}", text)


def run(words: str, _: str) -> str:
    """Return what a command says."""
    Shelf.name, Shelf.asked = words, 0
    return "\n".join(texts.joined(numoku(words).split("\n"), "  plays "))


@Record("tuning")
def runs(record: str) -> str:
    """Return the record of all commands, of which another one has the words."""
    with stage() as patch:
        patch.setattr(tuning, "LocalGames", Shelf)
        patch.setattr(parameters, "PARAMETERS", TABLE)
        patch.setattr(tuning, "PARAMETERS", TABLE)
        source = Path("source.py")
        source.write_text("".join(f'"{key}": {one!r}\n' for key, one in TABLE.items()))
        patch.setattr(tuning, "SOURCE", source)
        patch.setattr(Shelf, "now", 100.0)
        patch.setattr(sys, "executable", "PYTHON")
        patch.setattr(progress, "perf_counter", lambda: Shelf.now)
        return rounded(session(record, {}, run))
