"""What a forced win tells of the positions to come, so that haste cannot throw it away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..game.game import Game, Move
from ..position.rules import Rule, Side


class Place(NamedTuple):
    """What a forced win holds for: the stones, and all that it rests on beside them."""

    width: int
    height: int
    rule: Rule
    to_move: Side
    stones: frozenset[tuple[Move, Side]]  # in no order


def place_of(game: Game) -> Place:
    """Return the position of a game."""
    stones = frozenset((stone.move, stone.side) for stone in game.history)
    return Place(game.width, game.height, game.rule, game.to_move, stones)


class Foresight:
    """The winner's moves of the last forced win that was found, by the position they answer."""

    def __init__(self) -> None:
        """Know of nothing."""
        self._moves: dict[Place, tuple[Move, int]] = {}

    def note(self, game: Game, line: Sequence[Move], value: int) -> None:
        """Remember a win for the side to move: its line, and its value at the start."""
        self._moves = {}
        place = place_of(game)
        for number, move in enumerate(line):
            if number % 2 == 0:
                self._moves[place] = (move, value + number)
            side = place.to_move
            place = place._replace(to_move=side.opponent, stones=place.stones | {(move, side)})

    def recall(self, game: Game) -> tuple[Move, int] | None:
        """Return the winning move and its value if the enemy has followed the line."""
        found = self._moves.get(place_of(game)) if self._moves else None
        if found is None or game.at(*found[0]) is not Side.EMPTY or game.is_forbidden(*found[0]):
            return None
        return found
