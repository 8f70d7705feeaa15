"""Small pbrains in plain Python: ``python -m pbrain_engine.arena.textbook METHOD``.

METHOD is a textbook method or ``random``, which plays on random empty cells as the bottom of every
ladder. They respect the limits of a match; ``INFO seed N`` makes their moves reproducible.
"""

from __future__ import annotations

import random
import sys

from ..methods import Budget, PlainGame, method
from ..protocol.commands import Command, CommandReader, Settings

SHARE = 0.8  # of the time for a move; the rest is for building the board and answering
MOVES_TO_COME = 15  # that share the remaining time of a match


class Textbook:
    """The engine: the stones in order, the limits, and the method."""

    def __init__(self, name: str) -> None:
        """Begin with an empty board; ValueError if there is no such method."""
        self._name = name
        self._choose = None if name == "random" else method(name)
        self._chance = random.Random()
        self._settings = Settings()
        self._width = self._height = 20
        self._stones: list[int] = []

    def answer(self, said: Command) -> str | None:
        """Return the answer to a command, None if it has none; ValueError if it is invalid."""
        match said:
            case Command("INFO", text=text):
                key, value, *_ = (*text.split(), "", "")
                if key.lower() == "seed":
                    self._chance.seed(value)
                self._settings.update(text)
            case Command("MALFORMED", text=reason):
                raise ValueError(reason)
            case Command("ABOUT"):
                return f'name="{self._name}", version="1.0", author="Numoku", country="any"'
            case Command("START" | "RECTSTART" | "RESTART", numbers):
                sides = numbers or (self._width, self._height)
                if min(sides) < 5 or max(sides) > 100:
                    raise ValueError("boards from 5 to 100, such as 15 or 20")
                self._width, self._height, self._stones = sides[0], sides[-1], []
                return "OK"
            case Command("BEGIN"):
                return self._move()
            case Command("TURN", (x, y)):
                self._stones.append(self._cell(x, y))
                return self._move()
            case Command("BOARD", stones=stones):
                self._stones = []
                for stone in stones:
                    self._stones.append(self._cell(stone.x, stone.y))
                return self._move()
            case Command("TAKEBACK", (x, y)):
                self._stones.remove(self._cell(x, y, is_taken=True))
                return "OK"
            case _:
                return f"UNKNOWN {said.text or said.name}"
        return None

    def _cell(self, x: int, y: int, is_taken: bool = False) -> int:
        if not (0 <= x < self._width and 0 <= y < self._height):
            raise ValueError(f"{x},{y} is off the board")
        cell = y * self._width + x
        if (cell in self._stones) != is_taken:
            raise ValueError(f"{x},{y} is {'empty' if is_taken else 'occupied'}")
        return cell

    def _move(self) -> str:
        empty = sorted(set(range(self._width * self._height)).difference(self._stones))
        if not empty:
            raise ValueError("the board is full")
        if self._choose is None:
            cell = self._chance.choice(empty)
        else:
            settings, limits = self._settings, self._settings.limits
            game = PlainGame(self._width, self._height, settings.rule)
            for stone in self._stones:
                game.play(stone)
            left = limits.left or 0
            times = (limits.turn or 0, max(1, left // MOVES_TO_COME) if settings.match else left)
            seconds = min((time for time in times if time > 0), default=0) / 1000 * SHARE
            most = settings.max_nodes or None, settings.max_depth or None
            cell = self._choose(game, Budget(seconds or None, *most), self._chance).move
        self._stones.append(cell)
        y, x = divmod(cell, self._width)
        return f"{x},{y}"


def main() -> None:
    """Speak the protocol until END or the end of the input."""
    engine, reader = Textbook(sys.argv[1]), CommandReader()
    while line := sys.stdin.readline():
        for said in reader.read(line.strip()) if line.strip() else ():
            if said == Command("END"):
                return
            try:
                answer = engine.answer(said)
            except ValueError as error:
                answer = f"ERROR {error}"
            if answer is not None:
                print(answer, flush=True)


if __name__ == "__main__":
    main()
