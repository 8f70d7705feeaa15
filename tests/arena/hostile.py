"""Engines that misbehave, one way each: ``python hostile.py MODE``.

Three modes behave: ``quirks`` is odd but correct, ``steady`` takes 0.1 s for each move, and
``swap2 0=7,7_8,7_0,14 3=SWAP`` has an answer to SWAP2BOARD for each number of stones, or hangs.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

MOVES_BEFORE = 2  # good moves, so that the fault comes in the middle of a game


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def point(cell: tuple[int, int]) -> str:
    return f"{cell[0]},{cell[1]}"


def fall_silent() -> None:
    while True:
        time.sleep(3600)


def repeat(text: str) -> None:
    while True:
        sys.stdout.write(text)


def complain(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def hoard() -> None:
    held = []
    while True:
        held.append(bytearray(os.urandom(1) * 20_000_000))
        time.sleep(0.02)


def leave_children() -> None:
    code = "import time, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code])
    time.sleep(0.2)
    os._exit(0)


def misbehave(mode: str, taken: list[tuple[int, int]], size: int) -> None:
    """Misbehave instead of making a move."""
    move = point(next_empty(taken, size))
    ways: dict[str, Callable[[], object]] = {
        "hang": fall_silent,
        "exit": sys.exit,
        "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "error-exit": lambda: (complain("Traceback: something went wrong\n"), sys.exit(3)),
        "complain": lambda: (complain("warning: something is odd\n"), fall_silent()),
        "flood": lambda: repeat("MESSAGE " + "x" * 100 + "\n"),
        "suggest": lambda: repeat("SUGGEST 7,7\n"),
        "one-endless-line": lambda: repeat("x" * 100_000),
        "memory": hoard,
        "close-output": lambda: (os.close(1), fall_silent()),
        "leave-children": leave_children,
        "die-after-move": lambda: (say(move), os._exit(0)),
    }
    ways[mode]()


def next_empty(taken: list[tuple[int, int]], size: int) -> tuple[int, int]:
    """Return cells that never make five in a row before the board is half full."""
    for y in range(size):
        for x in range(0, size, 2):
            if (x, y) not in taken:
                return x, y
    return next((x, y) for y in range(size) for x in range(size) if (x, y) not in taken)


def main() -> None:
    mode = sys.argv[1]
    if mode == "mute":
        fall_silent()
    size, taken, answers = 15, [], 0
    steps = dict(word.split("=") for word in sys.argv[2:] if mode == "swap2")
    board = ""  # the command whose stones are read
    for line in sys.stdin:
        word = line.strip().upper()
        if word.startswith("START"):
            size, taken, answers = int(word.split()[1]), [], 0
            say("OK")
            continue
        if word == "ABOUT" and mode == "quirks":
            say('name = "Quirky" , version= "2.1",author="nobody"')
            continue
        if word == "END" and mode != "hang":
            return
        due = word == "BEGIN"
        if word.startswith("TURN"):
            x, y = word[5:].split(",")
            taken.append((int(x), int(y)))
            due = True
        elif word in ("BOARD", "SWAP2BOARD"):
            board, taken = word, []
        elif word == "DONE":
            due, board = board == "BOARD", ""
            if not due:
                step = steps[str(len(taken))]
                fall_silent() if step == "hang" else say(step.replace("_", " "))
        elif board:
            x, y, *_ = word.split(",")
            taken.append((int(x), int(y)))
        if not due:
            continue
        answers += 1
        if mode == "steady":
            time.sleep(0.1)
        elif answers > MOVES_BEFORE and mode not in ("quirks", "swap2"):
            misbehave(mode, taken, size)
        if mode == "quirks":
            sys.stdout.buffer.write("MESSAGE 深度 12-20 | Eval +35\n".encode("gbk"))
            say("DEBUG depth 99 ev 99")
            say("MESSAGE depth 7-11 ev -42 n 1203K n/ms 812 tm 1480 pv H8 I9")
            say("")
        move = next_empty(taken, size)
        taken.append(move)
        say(f"  {move[0]} , {move[1]} \r" if mode == "quirks" else point(move))


if __name__ == "__main__":
    main()
