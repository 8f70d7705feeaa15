"""A game on paper: its board, what stood there, the moves in order, players and result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import NamedTuple

from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from .position import Held, Image, Position, images_of


class GameRecord(NamedTuple):
    """A game: board, rule, players, moves in order.

    ``first`` plays the first move, the sides alternate. ``placed`` is what stood on the board
    before that; blocked cells can only be drawn, and PSQ cannot keep stones either, nor ``passes``:
    how many moves had been made each time that a side gave up its turn.
    """

    width: int = 15
    height: int = 15
    rule: Rule | None = None  # None: the file does not say
    moves: tuple[Coordinates, ...] = ()
    first: Side = Side.BLACK
    placed: tuple[Held, ...] = ()
    passes: tuple[int, ...] = ()
    times: tuple[int | None, ...] = ()  # milliseconds of the moves; SGF does not keep them
    comments: tuple[str, ...] = ()  # on the moves; PSQ does not keep them
    marked: Coordinates | None = None  # what a drawing marks as the last stone
    black: str = ""  # names of the players
    white: str = ""
    result: str = ""  # "1-0" black won, "0-1" white won, "1/2-1/2", or "" where open
    date: str = ""
    comment: str = ""  # about the game as a whole
    remarks: tuple[str, ...] = ()  # what of a file is not in it; two games may differ in it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameRecord) and self[:-1] == other[:-1]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self[:-1])

    @classmethod
    def of(cls, position: Position) -> GameRecord:
        """Return the record of a position without the moves that led to it."""
        rule, width, height, to_move, *_ = position
        return cls(width, height, rule, first=to_move, placed=tuple(position.held))

    @property
    def board(self) -> tuple[int, int, Rule]:
        """Width, height and rule, free style where the file does not say."""
        return self.width, self.height, self.rule or Rule.FREESTYLE

    @property
    def turns(self) -> list[Coordinates | None]:
        """The moves in order, with None for each pass."""
        turns: list[Coordinates | None] = list(self.moves)
        for after in sorted(self.passes, reverse=True):
            turns.insert(after, None)
        return turns

    @property
    def last(self) -> Coordinates | None:
        """The last stone, as far as it is known."""
        return self.moves[-1] if self.moves else self.marked

    @property
    def to_move(self) -> Side:
        """Who moves at the end."""
        return Side((self.first + len(self.moves) + len(self.passes)) % 2)

    @property
    def stones(self) -> dict[Coordinates, Side]:
        """What stands on the cells at the end, in the order in which it came there."""
        stones, side = dict(self.placed), self.first
        for cell in self.turns:
            if cell is not None:
                stones[cell] = side
            side = side.opponent
        return stones

    @property
    def beginning(self) -> GameRecord:
        """Board and rule, and what stood there before the first move; nothing else."""
        return GameRecord(self.width, self.height, self.rule, first=self.first, placed=self.placed)

    @property
    def start(self) -> Position:
        """The position before the first move."""
        width, height, rule = self.board
        return Position.of(rule, width, height, self.first, self.placed)

    @property
    def position(self) -> Position:
        """What stands on the board after the moves, whether that can come about or not."""
        return reduce(Position.after, self.turns, self.start)

    def images(self) -> Iterator[Image]:
        """Yield the images of all positions, that before the first move first."""
        return images_of(self.start, self.turns)
