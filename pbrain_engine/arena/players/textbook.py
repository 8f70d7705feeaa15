"""A pbrain that plays by a method of the textbooks: ``python -m ... uct``.

It listens as the random mover does, and to the limits that a match sets: seconds, nodes, depth.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from ...methods import Budget, PlainGame, method
from ...position.rules import Rule
from .random_mover import RandomMover, serve

SHARE = 0.8  # of the time for a move; building the board and the answer take the rest
MOVES_TO_COME = 15  # among which what is left of a match's time is shared out


class Textbook(RandomMover):
    """The stones in their order, the limits, and the method."""

    def __init__(self, name: str, read: Callable[[], str]) -> None:
        """Begin with an empty board; ValueError if there is no such method."""
        self._name, self._choose = name, method(name)
        self._rule = Rule.FREESTYLE
        self._limits: dict[str, int] = {}
        super().__init__(read)

    def _clear(self) -> None:
        super()._clear()
        self._stones: list[int] = []

    def _take(self, text: str) -> None:
        super()._take(text)
        x, y = (int(word) for word in text.split(",")[:2])
        self._stones.append(y * self._width + x)

    def _limit(self) -> Budget:
        """Return what a move may take, by what the manager has said."""
        times = [self._limits.get("timeout_turn", 0), self._limits.get("time_left", 0)]
        if self._limits.get("timeout_match", 0):
            times[1] = max(1, times[1] // MOVES_TO_COME)
        seconds = min((time for time in times if time > 0), default=0) / 1000 * SHARE
        nodes, depth = self._limits.get("max_node", 0), self._limits.get("max_depth", 0)
        return Budget(seconds or None, nodes or None, depth or None)

    def _move(self) -> str:
        if not self._empty:
            return "ERROR the board is full"
        game = PlainGame(self._width, self._height, self._rule)
        for cell in self._stones:
            game.play(cell)
        choice = self._choose(game, self._limit(), self._chance)
        y, x = divmod(choice.move, self._width)
        self._take(f"{x},{y}")
        return f"{x},{y}"

    def answer(self, line: str) -> str | None:
        """Return the answer to a command, or None where there is none."""
        words = line.split()
        if len(words) == 3 and words[0].upper() == "INFO" and words[2].lstrip("-").isdecimal():
            self._limits[words[1].lower()] = int(words[2])
            if words[1].lower() == "rule":
                self._rule = Rule.parse(words[2])
        if words[:1] == ["TAKEBACK"]:
            self._stones.pop()
        if words[:1] == ["ABOUT"]:
            return f'name="{self._name}", version="1.0", author="Numoku", country="any"'
        return super().answer(line)


if __name__ == "__main__":
    serve(Textbook(sys.argv[1], sys.stdin.readline))
