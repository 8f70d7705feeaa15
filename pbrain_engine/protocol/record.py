"""The session's own record of the game, kept beside the engine's.

It answers what the protocol must know (is the cell free, is the game over, whose turn is
it) without the kernel, and it can put the position on a fresh engine when one had to be
replaced.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from .verify import Stones, makes_five

if TYPE_CHECKING:
    from ..engine.engine import Engine


class ScoreSheet:
    """Stones in the order they came, the size of the board and the side to move."""

    def __init__(self, width: int, height: int) -> None:
        """Begin with an empty board, black to move."""
        self.width = width
        self.height = height
        self.to_move = Side.BLACK
        self.stones: Stones = {}  # in the order they were placed

    @property
    def ply(self) -> int:
        """Stones on the board, walls not counted."""
        return sum(side is not Side.WALL for side in self.stones.values())

    @property
    def is_full(self) -> bool:
        """Whether no cell is empty."""
        return len(self.stones) >= self.width * self.height

    def is_on_board(self, x: int, y: int) -> bool:
        """Say whether there is such a cell."""
        return 0 <= x < self.width and 0 <= y < self.height

    def is_free(self, x: int, y: int) -> bool:
        """Say whether a stone can go there."""
        return self.is_on_board(x, y) and (x, y) not in self.stones

    def first_free(self, excluded: Iterable[Coordinates] = ()) -> Coordinates | None:
        """Return the empty cell nearest to the centre, if there is one."""
        taken = set(excluded)
        middle = (self.width - 1) / 2, (self.height - 1) / 2
        empty = [
            (abs(x - middle[0]) + abs(y - middle[1]), x, y)
            for x in range(self.width)
            for y in range(self.height)
            if (x, y) not in self.stones and (x, y) not in taken
        ]
        return min(empty)[1:] if empty else None

    def is_won(self, rule: Rule) -> bool:
        """Say whether there is a five on the board."""
        return any(
            makes_five(self.stones, *at, rule)
            for at, owner in self.stones.items()
            if owner is not Side.WALL
        )

    def play(self, x: int, y: int) -> None:
        """Put a stone of the side to move and pass the turn."""
        self.place(x, y, self.to_move)
        self.to_move = self.to_move.opponent

    def place(self, x: int, y: int, side: Side) -> None:
        """Put a stone or a wall without passing the turn."""
        self.stones[x, y] = side

    def undo(self) -> None:
        """Take the last stone back."""
        _, self.to_move = self.stones.popitem()

    def set_up(self, engine: Engine, rule: Rule) -> None:
        """Put this position on an engine."""
        engine.new_game(self.width, self.height, rule)
        for (x, y), side in self.stones.items():
            engine.place(x, y, side)
        engine.set_to_move(self.to_move)
