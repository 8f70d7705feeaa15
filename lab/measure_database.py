"""Measure the database: ``python -m lab.measure_database FILE [POSITIONS]``.

Adds random games of 50 stones with a value for every position, then looks positions up under random
symmetries. FILE must not exist yet, or is a database URL.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator

from pbrain_engine.database.sources import add_items
from pbrain_engine.database.store import Database, StoredGame
from pbrain_engine.game.position import Position, image_of
from pbrain_engine.game.record import GameRecord
from pbrain_engine.game.result import Author, Result
from pbrain_engine.position.geometry import transform
from pbrain_engine.position.rules import Rule, Side

STONES = 50
NEW = 48  # new positions per game; the first ones are soon known
CELLS = [(x, y) for x in range(15) for y in range(15)]
AUTHOR = Author("measured", "none")
LOOK_UPS = 10_000


def moves_of(number: int) -> list[tuple[int, int]]:
    return random.Random(number).sample(CELLS, STONES)


def games(count: int) -> Iterator[StoredGame]:
    for number in range(count):
        moves = moves_of(number)
        record = GameRecord(rule=Rule.FREESTYLE, moves=tuple(moves), result="1-0")
        findings = {
            ply: Result(number % 1000, (move,), depth=12, nodes=number,
                         author=AUTHOR)
            for ply, move in enumerate(moves)
        }  # fmt: skip
        yield StoredGame(record, findings)


def main() -> None:
    target = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    count = -(-wanted // NEW)
    with Database(target, create=True) as database:
        began, cpu = time.perf_counter(), time.process_time()
        add_items(database, games(count))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        positions = database.count("position")
        print(f"{positions:,} positions added in {seconds:.1f} s ({cpu:.1f} s of processor): "
              f"{positions / seconds:,.0f} a second")  # fmt: skip
        chance = random.Random(0)
        times = []
        cpu = time.process_time()
        for _ in range(LOOK_UPS):
            moves = moves_of(chance.randrange(count))[: chance.randrange(1, STONES)]
            turned = transform(moves, chance.randrange(8), 15, 15)
            began = time.perf_counter()
            black, white = tuple(turned[::2]), tuple(turned[1::2])
            side = Side(len(turned) % 2)
            position = Position(Rule.FREESTYLE, 15, 15, side, black, white)
            entry = database.look_up(image_of(position))
            times.append(time.perf_counter() - began)
            assert entry is not None and entry.finding is not None
        cpu = time.process_time() - cpu
        times.sort()
        print(f"look-up of a position under any symmetry: median {times[LOOK_UPS // 2] * 1e3:.3f}"
              f" ms, 99 % {times[LOOK_UPS * 99 // 100] * 1e3:.3f} ms, mean of the processor's time "
              f"{cpu / LOOK_UPS * 1e3:.3f} ms")  # fmt: skip
    if "://" not in target:
        size = os.path.getsize(target)
        print(f"file {size / 1e6:,.0f} MB, {size / positions:,.0f} bytes a position")


if __name__ == "__main__":
    main()
