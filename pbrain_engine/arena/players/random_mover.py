"""A pbrain that plays random legal moves: the zero of every ladder, and a model in one page.

Without arguments it is different every time; ``INFO seed N`` makes it repeatable.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

from ...position.geometry import Coordinates


class RandomMover:
    """The whole engine: the empty cells, and a way to choose one."""

    def __init__(self, read: Callable[[], str]) -> None:
        """Begin with an empty 20x20 board; ``read`` gives the lines that follow a BOARD."""
        self._read = read
        self._chance = random.Random()
        self._width = self._height = 20
        self._empty: list[Coordinates] = []
        self._clear()

    def _clear(self) -> None:
        self._empty = [(x, y) for y in range(self._height) for x in range(self._width)]

    def _take(self, text: str) -> None:
        x, y = (int(word) for word in text.split(",")[:2])
        self._empty.remove((x, y))

    def _move(self) -> str:
        if not self._empty:
            return "ERROR the board is full"
        cell = self._chance.choice(self._empty)
        self._empty.remove(cell)
        return f"{cell[0]},{cell[1]}"

    def _start(self, width: int, height: int) -> str:
        if not (5 <= width <= 100 and 5 <= height <= 100):
            return "ERROR boards from 5 to 100, such as 15 or 20"
        self._width, self._height = width, height
        self._clear()
        return "OK"

    def _board(self) -> str:
        self._clear()
        while (line := self._read().strip().upper()) != "DONE":
            if not line:
                return "ERROR the board has no end"
            self._take(line)
        return self._move()

    def answer(self, line: str) -> str | None:
        """Return the answer to a command, or None where there is none."""
        word, _, rest = line.strip().partition(" ")
        command = word.upper()
        if command in ("", "INFO"):
            key, _, value = rest.partition(" ")
            if key.lower() == "seed":
                self._chance.seed(value)
            return None
        if command == "ABOUT":
            return 'name="random", version="1.0", author="Numoku", country="any"'
        if command == "START":
            return self._start(int(rest.split()[0]), int(rest.split()[0]))
        if command == "RECTSTART":
            width, height = rest.split(",")
            return self._start(int(width), int(height))
        if command == "RESTART":
            return self._start(self._width, self._height)
        if command == "BEGIN":
            return self._move()
        if command == "TURN":
            self._take(rest)
            return self._move()
        if command == "BOARD":
            return self._board()
        if command == "TAKEBACK":
            x, y = rest.split(",")
            self._empty.append((int(x), int(y)))
            return "OK"
        return f"UNKNOWN {command}"


def serve(mover: RandomMover) -> None:
    """Speak the protocol until END or the end of the input."""
    while line := sys.stdin.readline():
        if line.strip().upper() == "END":
            return
        try:
            answer = mover.answer(line)
        except (ValueError, IndexError):
            answer = f"ERROR {line.strip()[:80]}"
        if answer is not None:
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    serve(RandomMover(sys.stdin.readline))
