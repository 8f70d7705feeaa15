"""Small pbrains in plain Python: ``python -m pbrain_engine.arena.textbook METHOD``.

A method of the textbooks, or ``random``: empty cells by chance, the zero of every ladder. Both
listen to the limits that a match sets; ``INFO seed N`` makes their moves repeatable.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import suppress

from ..methods import Budget, PlainGame, method
from ..position.rules import Rule

SHARE = 0.8  # of the time for a move; building the board and the answer take the rest
MOVES_TO_COME = 15  # among which what is left of a match's time is shared out


class Textbook:
    """The whole engine: the stones in their order, the limits, and the method."""

    def __init__(self, name: str, read: Callable[[], str]) -> None:
        """Begin with an empty board; ``read`` returns the lines that follow a BOARD.

        Raises:
            ValueError: there is no such method.
        """
        self._name, self._read = name, read
        self._choose = None if name == "random" else method(name)
        self._chance = random.Random()
        self._rule = Rule.FREESTYLE
        self._limits: dict[str, int] = {}
        self._width = self._height = 20
        self._stones: list[int] = []

    def answer(self, line: str) -> str | None:
        """Return the answer to a command, or None where there is none."""
        word, _, rest = line.strip().partition(" ")
        match word.upper():
            case "" | "INFO":
                key, _, value = rest.lower().partition(" ")
                if key == "seed":
                    self._chance.seed(value)
                elif value.lstrip("-").isdecimal():
                    self._limits[key] = int(value)
                    if key == "rule":
                        with suppress(ValueError):  # INFO is never answered
                            self._rule = Rule.parse(value)
                return None
            case "ABOUT":
                return f'name="{self._name}", version="1.0", author="Numoku", country="any"'
            case "START":
                return self._start(*[int(rest.split()[0])] * 2)
            case "RECTSTART":
                return self._start(*map(int, rest.split(",")))
            case "RESTART":
                return self._start(self._width, self._height)
            case "BEGIN":
                return self._move()
            case "TURN":
                self._take(rest)
                return self._move()
            case "BOARD":
                self._stones.clear()
                while (stone := self._read().strip().upper()) != "DONE":
                    if not stone:
                        return "ERROR the board has no end"
                    self._take(stone)
                return self._move()
            case "TAKEBACK":
                self._stones.remove(self._cell(rest))
                return "OK"
        return f"UNKNOWN {word.upper()}"

    def _start(self, width: int, height: int) -> str:
        if not (5 <= width <= 100 and 5 <= height <= 100):
            return "ERROR boards from 5 to 100, such as 15 or 20"
        self._width, self._height = width, height
        self._stones.clear()
        return "OK"

    def _cell(self, text: str) -> int:
        x, y = (int(word) for word in text.split(",")[:2])
        if not (0 <= x < self._width and 0 <= y < self._height):
            raise ValueError(f"{text} is off the board")
        return y * self._width + x

    def _take(self, text: str) -> None:
        cell = self._cell(text)
        if cell in self._stones:
            raise ValueError(f"{text} is occupied")
        self._stones.append(cell)

    def _move(self) -> str:
        empty = sorted(set(range(self._width * self._height)).difference(self._stones))
        if not empty:
            return "ERROR the board is full"
        if self._choose is None:
            cell = self._chance.choice(empty)
        else:
            game = PlainGame(self._width, self._height, self._rule)
            for stone in self._stones:
                game.play(stone)
            limits = self._limits
            times = [limits.get("timeout_turn", 0), limits.get("time_left", 0)]
            if limits.get("timeout_match", 0):
                times[1] = max(1, times[1] // MOVES_TO_COME)
            seconds = min((time for time in times if time > 0), default=0) / 1000 * SHARE
            most = (limits.get(key, 0) or None for key in ("max_node", "max_depth"))
            cell = self._choose(game, Budget(seconds or None, *most), self._chance).move
        self._stones.append(cell)
        y, x = divmod(cell, self._width)
        return f"{x},{y}"


def main() -> None:
    """Speak the protocol until END or the end of the input."""
    engine = Textbook(sys.argv[1], sys.stdin.readline)
    while (line := sys.stdin.readline()) and line.strip().upper() != "END":
        try:
            answer = engine.answer(line)
        except (ValueError, IndexError, TypeError):
            answer = f"ERROR {line.strip()[:80]}"
        if answer is not None:
            print(answer, flush=True)


if __name__ == "__main__":
    main()
