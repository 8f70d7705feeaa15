"""Late answers on a busy machine: ``python -m lab.measure_lateness [ENGINE [ENGINE ...]]``.

Each ENGINE is a command line (by default this engine). All are asked for a move in the same
positions, one after the other, with ``--turn`` seconds each, while busy processes bring the machine
to each ``--load``, in sessions of their own like other engines. The table has a row for each engine
and load: moves, how many were late as seen here (from the command written to the move read), and
their times. This process raises its own priority if allowed, so that only the engine is measured.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import perf_counter

from pbrain_engine.arena.process import EngineProcess

COUNT = [sys.executable, "-c", "while True: pass"]
OWN = shlex.join([sys.executable, "-m", "pbrain_engine"])
PATIENCE = 10.0  # seconds
NEAR = 3  # largest distance of a position's stones from the centre


@contextmanager
def busy(load: int) -> Iterator[None]:
    """Run ``load`` busy processes."""
    others = [subprocess.Popen(COUNT, start_new_session=True) for _ in range(load)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def hurry() -> None:
    """Raise the priority of this process's session, if Linux allows it."""
    with suppress(OSError):
        os.setsid()
        Path("/proc/self/autogroup").write_text("-15")


def position(chance: random.Random) -> list[str]:
    """Return the lines of a BOARD with eight random stones near the centre."""
    cells = [(x, y) for x in range(7 - NEAR, 8 + NEAR) for y in range(7 - NEAR, 8 + NEAR)]
    stones = [f"{x},{y},{1 + k % 2}" for k, (x, y) in enumerate(chance.sample(cells, 8))]
    return ["BOARD", *stones, "DONE"]


def read_move(peer: EngineProcess) -> float:
    """Return the time at which the next move was read."""
    end = perf_counter() + PATIENCE
    while (line := peer.receive(end - perf_counter())) is not None:
        if "," in line.text and line.text[0].isdigit():
            return line.time
    raise SystemExit("no move in time")


def prepare(command: str, turn: float) -> EngineProcess:
    """Return an engine that is ready, with its limit set."""
    peer = EngineProcess(shlex.split(command), tempfile.gettempdir())  # imports nothing from here
    peer.send("START 15", f"INFO timeout_turn {round(turn * 1000)}", "BEGIN")
    read_move(peer)
    return peer


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="lab.measure_lateness", description=__doc__)
    parser.add_argument("engines", nargs="*", default=[OWN])
    parser.add_argument("--moves", type=int, default=60)
    parser.add_argument("--turn", type=float, default=0.1)
    parser.add_argument("--load", type=int, nargs="+", default=[6, 17])
    options = parser.parse_args(words)
    hurry()
    print("| engine | load | moves | late | median | 90 % | 99 % | most |")
    print("|---|---|---|---|---|---|---|---|")
    for load in options.load:
        with ExitStack() as stack:
            peers = [prepare(command, options.turn) for command in options.engines]
            for peer in peers:
                stack.callback(peer.close)
            others = max(load - round(os.getloadavg()[0]), 0) if load else 0
            stack.enter_context(busy(others))
            time.sleep(1.0)
            chance, used = random.Random(load), [list[float]() for _ in peers]
            for _ in range(options.moves):
                lines = position(chance)
                for peer, seconds in zip(peers, used, strict=True):
                    sent_at = peer.ask(*lines)
                    seconds.append(read_move(peer) - sent_at)
                    time.sleep(0.05)
        for number, seconds in enumerate(used, 1):
            seconds.sort()
            late = sum(second > options.turn for second in seconds)
            least, most = (seconds[int(len(seconds) * share)] for share in (0.5, 0.9))
            rare = seconds[int(len(seconds) * 0.99)]
            print(
                f"| {number} | {load} | {len(seconds)} | {late} | {least * 1000:.0f} ms "
                f"| {most * 1000:.0f} ms | {rare * 1000:.0f} ms | {seconds[-1] * 1000:.0f} ms |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
