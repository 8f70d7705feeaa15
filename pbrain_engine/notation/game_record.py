"""A game on paper: what the SGF and PSQ readers return and the writers take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from .cells import NotationError, cell_name, check_on_board, check_size


class RecordedMove(NamedTuple):
    """A move with what was noted about it."""

    x: int
    y: int
    milliseconds: int | None = None  # thinking time; SGF does not keep it
    comment: str = ""  # PSQ does not keep it


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game: board, rule, players, moves in order.

    ``first`` plays the first move, the sides alternate. Stones that stood on the board
    before the first move are ``black_setup`` and ``white_setup``; PSQ cannot keep them, nor
    ``passes``: how many moves had been made each time that a side gave up its turn.
    """

    width: int = 15
    height: int = 15
    rule: Rule | None = None  # None: the file does not say
    moves: tuple[RecordedMove, ...] = ()
    first: Side = Side.BLACK
    black_setup: tuple[Coordinates, ...] = ()
    white_setup: tuple[Coordinates, ...] = ()
    black: str = ""  # names of the players
    white: str = ""
    result: str = ""  # "1-0" black won, "0-1" white won, "1/2-1/2", or "" where open
    date: str = ""
    comment: str = ""  # about the game as a whole
    passes: tuple[int, ...] = ()

    @property
    def cells(self) -> list[Coordinates]:
        """The cells of the moves in order."""
        return [(move.x, move.y) for move in self.moves]

    @property
    def turns(self) -> list[Coordinates | None]:
        """The cells of the moves in order, with None for each pass."""
        turns: list[Coordinates | None] = []
        for number, cell in enumerate(self.cells):
            turns += [None] * self.passes.count(number)
            turns.append(cell)
        return turns + [None] * self.passes.count(len(self.moves))

    def side_of(self, number: int) -> Side:
        """Return who makes a move, numbered from 0."""
        return Side((self.first + number + sum(after <= number for after in self.passes)) % 2)

    def check(self) -> GameRecord:
        """Return the record itself if board and stones are possible.

        Raises:
            NotationError: the size is no board's, a stone is off it, or a cell holds two.
        """
        check_size("the board", self.width, self.height)
        taken: set[Coordinates] = set()
        for x, y in [*self.black_setup, *self.white_setup, *self.cells]:
            check_on_board(x, y, self.width, self.height)
            if (x, y) in taken:
                raise NotationError(f"{cell_name(x, y)} holds two stones")
            taken.add((x, y))
        return self
