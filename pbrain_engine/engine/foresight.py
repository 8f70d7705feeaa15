"""What a forced win tells of the positions to come, so that haste cannot throw it away."""

from __future__ import annotations

from collections.abc import Sequence

from ..game.game import Game, Move
from ..position.rules import Side

Position = frozenset[tuple[Move, Side]]


class Foresight:
    """The winner's moves of the last forced win that was found, by the position they answer."""

    def __init__(self) -> None:
        """Know of nothing."""
        self._moves: dict[Position, tuple[Move, int]] = {}
        self._setting: object = None

    def note(self, game: Game, line: Sequence[Move], value: int) -> None:
        """Remember a win for the side to move: its line, and its value at the start."""
        self._setting = setting_of(game)
        self._moves = {}
        stones = position_of(game)
        side = game.to_move
        for number, move in enumerate(line):
            if number % 2 == 0:
                self._moves[stones] = (move, value + number)
            stones |= {(move, side)}
            side = side.opponent

    def recall(self, game: Game) -> tuple[Move, int] | None:
        """Return the winning move and its value if the enemy has followed the line."""
        if not self._moves or setting_of(game) != self._setting:
            return None
        found = self._moves.get(position_of(game))
        if found is None or game.at(*found[0]) is not Side.EMPTY or game.is_forbidden(*found[0]):
            return None
        return found


def setting_of(game: Game) -> object:
    """Return what a game is played on, by which rule, and who is to move."""
    return game.width, game.height, game.rule, game.to_move


def position_of(game: Game) -> Position:
    """Return the stones of a game, in no order, without who is to move."""
    return frozenset((stone.move, stone.side) for stone in game.history)
