"""Limits and thoughts, the input and output of a search, and the memory of a forced win."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self, SupportsFloat

from ..game.game import Game, Move, at_least_one
from ..game.result import Result
from ..position.rules import Side

if TYPE_CHECKING:
    from ..game.position import Position


class _Limit(NamedTuple):
    time: float | None = None
    optimum: float | None = None
    nodes: int | None = None
    depth: int | None = None


class Limit(_Limit):
    """When to stop thinking: at whichever limit comes first; None means no limit.

    ``time``: seconds after which the move must be ready. ``optimum``: seconds around which the
    search ends, sooner if its move is stable and later if not. ``nodes``: positions searched by
    the first thread. ``depth``: plies of the last iteration.

    Raises:
        ValueError: ``depth`` or ``nodes`` is below 1, or a time is NaN.
        TypeError: ``depth`` or ``nodes`` is not an integer, or a time is not a number.
    """

    __slots__ = ()

    def __new__(
        cls,
        time: SupportsFloat | None = None,
        optimum: SupportsFloat | None = None,
        nodes: int | None = None,
        depth: int | None = None,
    ) -> Self:
        """Check and convert the arguments."""
        at_least_one(depth, "depth")
        at_least_one(nodes, "nodes")
        spans = _seconds(time, "time"), _seconds(optimum, "optimum")
        return super().__new__(cls, *spans, nodes, depth)


def _seconds(given: SupportsFloat | None, name: str) -> float | None:
    if not isinstance(given, SupportsFloat | None):
        raise TypeError(f"{name} is a number of seconds, not {given!r}")
    if given != given:  # NaN
        raise ValueError(f"{name} is a number of seconds or None, not {given}")
    return None if given is None else float(given)


Thought = Result  # the result of a search
Listener = Callable[[Thought], bool | None]


class WinningMoves:
    """The winner's moves of the last forced win found, by position."""

    def __init__(self) -> None:
        self._moves: dict[Position, tuple[Move, int]] = {}

    def note(self, game: Game, line: Sequence[Move], value: int) -> None:
        """Remember a win of the side to move: its line, and the value at its start."""
        self._moves = {}
        position = game.position
        for number, move in enumerate(line):
            if number % 2 == 0:
                self._moves[position] = (move, value + number)
            position = position.after(move)

    def recall(self, game: Game) -> tuple[Move, int] | None:
        """Return the winning move and its value if the game is on the line."""
        found = self._moves.get(game.position) if self._moves else None
        if found is None or game.at(*found[0]) is not Side.EMPTY or game.is_forbidden(*found[0]):
            return None
        return found
