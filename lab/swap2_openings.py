"""Swap2 with the real program: ``python -m lab.swap2_openings --help``.

The program puts three stones itself or gets other ones, and chooses; if it puts two more stones, it
is asked again as the other player. Every answer must be legal and in time; the report shows the
values that explain it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from typing import NamedTuple

from pbrain_engine.arena.process import EngineProcess
from pbrain_engine.doctor.exam import read_move
from pbrain_engine.engine.swap2 import openings
from pbrain_engine.position.geometry import Coordinates

PROGRAM = [sys.executable, "-m", "pbrain_engine"]
SWAP, STAY, PAIR = "swap", "stay", "two more"
OPTIONS = (SWAP, STAY, PAIR)
LATE_SEARCH = "no search in time"
LATE = 1.0  # seconds over the limit that managers tolerate


class Wrong(Exception):
    """An illegal, late or missing answer."""


class Answer(NamedTuple):
    """The program's choice, its stones, and the reasons."""

    option: str
    stones: tuple[Coordinates, ...]
    reasons: tuple[str, ...]


class Player:
    """The program on one board."""

    def __init__(self, size: int, turn: float, rule: int = 0) -> None:
        """Start the program."""
        self.size = size
        self.turn = turn
        self.peer = EngineProcess(PROGRAM)
        milliseconds = round(turn * 1000)
        self.peer.send(f"START {size}", f"INFO timeout_turn {milliseconds}", f"INFO rule {rule}")
        if self._line([]) != "OK":
            raise Wrong("no OK")

    def ask(self, stones: tuple[Coordinates, ...]) -> Answer:
        """Return the program's answer to a swap2 board.

        Raises:
            Wrong: it is illegal or late.
        """
        self.peer.send("SWAP2BOARD", *(f"{x},{y}" for x, y in stones), "DONE")
        reasons: list[str] = []
        began = time.perf_counter()
        text = self._line(reasons)
        taken = time.perf_counter() - began
        if taken > self.turn + LATE:
            raise Wrong(f"{taken:.2f} s for {text}")
        if not reasons:  # the watchdog had to answer
            reasons.append(LATE_SEARCH)
        if text == "SWAP" and stones:
            return Answer(SWAP, (), tuple(reasons))
        put = tuple(cell for word in text.split(" ") if (cell := read_move(word)) is not None)
        allowed = {0: (3,), 3: (1, 2), 5: (1,)}[len(stones)]
        inside = all(0 <= x < self.size and 0 <= y < self.size for x, y in put)
        if len(put) not in allowed or len({*put, *stones}) != len(put) + len(stones) or not inside:
            raise Wrong(f"{text} with {stones}")
        return Answer(PAIR if len(put) == 2 else STAY, put, tuple(reasons))

    def _line(self, reasons: list[str]) -> str:
        while (line := self.peer.line(self.turn + 10)) is not None:
            if line.text.startswith("DEBUG "):
                reasons.append(line.text[6:])
            elif not line.text.startswith("MESSAGE "):
                return line.text
        raise Wrong(f"no answer; {self.peer.stderr[-300:]!r}")

    def close(self) -> None:
        """Kill the program."""
        self.peer.close(0.0)


def survey(
    size: int, number: int, turn: float, rule: int = 0, seed: int = 1
) -> tuple[Counter[str], list[str]]:
    """Ask about ``number`` different openings; return the counts of the options, and a report.

    Half of the openings are the program's own balanced ones; the others are arbitrary.
    """
    chance = random.Random(seed)
    player = Player(size, turn, rule)
    seen: set[tuple[Coordinates, ...]] = set()
    counts: Counter[str] = Counter()
    report = []
    try:
        while len(seen) < number:
            own = len(seen) % 2 == 0
            stones = player.ask(()).stones if own else chance.choice(openings(size, size, chance))
            if stones in seen:
                continue
            seen.add(stones)
            first = player.ask(stones)
            counts[f"3: {first.option}"] += 1
            counts[LATE_SEARCH] += first.reasons[-1] == LATE_SEARCH
            report.append(f"{stones} {first.option} {first.stones} | {' | '.join(first.reasons)}")
            if first.option == PAIR:
                second = player.ask((*stones, *first.stones))
                counts[f"5: {second.option}"] += 1
                report.append(f"    {second.option} {second.stones} | {second.reasons[-1]}")
    finally:
        player.close()
    return counts, report


def main(arguments: list[str] | None = None) -> int:
    """Survey all sizes; return 1 if an option never occurred, else 0."""
    parser = argparse.ArgumentParser(prog="python -m lab.swap2_openings", description=__doc__)
    parser.add_argument("--openings", type=int, default=50, help="of each size (default 50)")
    parser.add_argument("--turn", type=float, default=1.0, help="seconds per step (default 1)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[15, 20])
    parser.add_argument("--rule", type=int, default=0, help="code of the rule, as in INFO rule")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    status = 0
    for size in options.sizes:
        counts, report = survey(size, options.openings, options.turn, options.rule, options.seed)
        print("\n".join(report))
        print(f"{size}x{size}, {options.openings} openings: {dict(sorted(counts.items()))}")
        status |= any(counts[f"3: {option}"] == 0 for option in OPTIONS)
    return status


if __name__ == "__main__":
    sys.exit(main())
