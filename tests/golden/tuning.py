"""What tuning does and says where games are made up: ``python -m tests.golden.tuning``.

A set of parameters wins the more games the larger its numbers are. Each command is recorded with
all that it says, the games that it asks for, and what it leaves: file, page and patch.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
import tempfile
from collections import deque
from pathlib import Path

import pytest

from pbrain_engine import progress
from pbrain_engine.arena.journal import Played
from pbrain_engine.arena.referee import GameTask
from pbrain_engine.arena.settings import MatchSettings
from pbrain_engine.search import parameters
from pbrain_engine.search.parameters import Parameter
from pbrain_engine.tuning import command, spsa

FILE = Path(__file__).with_suffix(".txt")
FEW = "--openings none --parameters aspiration,delta,aspiration"
COMMANDS = (
    f"a.jsonl {FEW} --games 13 --batch 2 --page a.html",
    f"a.jsonl {FEW} --games 13 --batch 2 --concurrency 5",
    f"a.jsonl {FEW} --games 12 --batch 2",
    "a.jsonl --show --page a.html",
    "a.jsonl --show --patch",
    f"b.jsonl {FEW} --games 10 --turn 0.5 --rate 2 --step 0.25 --board 9x7 --rule renju "
    "--engine numoku:hash=9,delta=300,threads=2 --seed 4",
    "c.jsonl --openings none --games 2 --nodes 7 --turn 0.25 --engine numoku:aspiration=20",
    f"interrupted.jsonl {FEW} --games 12 --batch 3",
    f"interrupted.jsonl {FEW} --games 12 --batch 3",
    f"fault.jsonl {FEW} --games 8",
    f"fault.jsonl {FEW} --games 8 --show",
    f"d.jsonl {FEW} --games 1",
    f"d.jsonl {FEW} --batch 0",
    f"d.jsonl {FEW} --step 0",
    "d.jsonl --parameters luck",
    "ends.jsonl --openings none --games 2 --engine numoku:aspiration=4,delta=6000",
    "d.jsonl --engine numoku:aspiration=3",
    "d.jsonl --engine numoku:aspiration=101",
    "d.jsonl --engine random",
    "d.jsonl --show",
    "b.html --show",
)


TABLE = {
    "aspiration": Parameter(16, 4, 100, "a"),
    "delta": Parameter(1800, 100, 6000, "b"),
    "count_base": Parameter(4, 1, 12, "c"),
}

DAMAGED = (  # what such a file holds, and what it holds in another one
    ("zero.jsonl", '"batch":2', '"batch":0'),
    ("later.jsonl", '"batch":2', '"batch":3,"later":1'),
    ("states.jsonl", '"tune"', '"state"'),
    ("other.jsonl", '"points"', '"pints"'),
    *(("number.jsonl", f'"{field}":', f'"{field}":{number},"x":')
      for field in ("done", "points", "delta") for number in ("NaN", "Infinity", "[]")),
)  # fmt: skip


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

    def wait(self) -> Played:
        Shelf.asked += 1
        Shelf.now += 20.0
        task, fault = self.tasks.pop(), "fault" in self.name and Shelf.asked == 3
        if "interrupted" in self.name and Shelf.asked == 8:
            raise KeyboardInterrupt
        first, second = (sum(task.parameters[who].values()) for who in (task.black, task.white))
        winner = "black" if first > second - 5 * (task.game % 3) else "white"
        winner = "draw" if task.game % 7 == 3 else winner
        return Played(
            task.game, task.round, self.names[task.black], self.names[task.white], winner,
            "crash" if fault else "five", "it is gone" if fault else "",
        )  # fmt: skip

    def close(self) -> None:
        print("closed")


def rounded(text: str) -> str:
    """Return a text with numbers of at most seven digits behind the point."""
    return re.sub(r"\d+\.\d{8,}", lambda found: f"{float(found[0]):.7f}", text)


def tuned(words: str) -> str:
    """Return what a command says and leaves."""
    out = io.StringIO()
    Shelf.name, Shelf.asked = words, 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            status = command.main(shlex.split(words))
        except SystemExit as stop:
            status = int(stop.code or 0)
        for path in sorted(Path().glob("*.html")):
            body = path.read_text(encoding="utf-8").partition("<body>")[2]
            print("-- page", body.replace("><", ">\n<"))
            path.unlink()
    return f"$ numoku tune {words}\n{out.getvalue()}status {status}\n"


def runs() -> str:
    """Return the record of all commands."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(command, "LocalGames", Shelf)
        patch.setattr(parameters, "PARAMETERS", TABLE)
        patch.setattr(spsa, "ALPHABETA", TABLE)
        source = Path("source.py")
        source.write_text("".join(f'"{key}": {one!r}\n' for key, one in TABLE.items()))
        patch.setattr(command, "SOURCE", source)
        patch.setattr(Shelf, "now", 100.0)
        patch.setattr(progress, "perf_counter", lambda: Shelf.now)
        parts = [tuned(words) for words in COMMANDS]
        text = Path("a.jsonl").read_text(encoding="utf-8")
        for name, old, new in DAMAGED:
            Path(name).write_text(text.replace(old, new), encoding="utf-8")
            parts.append(tuned(f"{name} --show"))
            Path(name).unlink()
        for path in sorted(Path().glob("*.jsonl")):
            parts.append(f"-- {path}\n{path.read_text(encoding='utf-8')}")
    return rounded("\n".join(parts)).replace(sys.executable, "PYTHON")


if __name__ == "__main__":
    FILE.write_text(runs(), encoding="utf-8")
