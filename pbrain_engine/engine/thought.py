"""What a search is asked, what it finds out, and what is remembered of that."""

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
    """When to stop thinking; whatever comes first, and None means no such limit.

    ``time``: seconds after which the move must be there. ``optimum``: seconds around which the
    search ends, sooner where its move stays the same and later where it does not. ``nodes``:
    positions searched by the first thread. ``depth``: plies of the last iteration.

    Raises:
        ValueError: a depth or a number of nodes is below 1, or a time is not a number.
        TypeError: a depth or a number of nodes is not whole, or a time is no number at all.
    """

    __slots__ = ()

    def __new__(
        cls,
        time: SupportsFloat | None = None,
        optimum: SupportsFloat | None = None,
        nodes: int | None = None,
        depth: int | None = None,
    ) -> Self:
        """Refuse what no search can keep."""
        at_least_one(depth, "depth")
        at_least_one(nodes, "nodes")
        spans = _seconds(time, "time"), _seconds(optimum, "optimum")
        return super().__new__(cls, *spans, nodes, depth)


def _seconds(given: SupportsFloat | None, name: str) -> float | None:
    if not isinstance(given, SupportsFloat | None):
        raise TypeError(f"{name} is a number of seconds, not {given!r}")
    if given != given:  # NaN
        raise ValueError(f"{name}: {given} is no number of seconds; None: no limit")
    return None if given is None else float(given)


Thought = Result  # of a search
Listener = Callable[[Thought], bool | None]


class WinningMoves:
    """The winner's moves of the last forced win that was found, by the position they answer."""

    def __init__(self) -> None:
        self._moves: dict[Position, tuple[Move, int]] = {}

    def note(self, game: Game, line: Sequence[Move], value: int) -> None:
        """Remember a win for the side to move: its line, and its value at the start."""
        self._moves = {}
        position = game.position
        for number, move in enumerate(line):
            if number % 2 == 0:
                self._moves[position] = (move, value + number)
            position = position.after(move)

    def recall(self, game: Game) -> tuple[Move, int] | None:
        """Return the winning move and its value if the enemy has followed the line."""
        found = self._moves.get(game.position) if self._moves else None
        if found is None or game.at(*found[0]) is not Side.EMPTY or game.is_forbidden(*found[0]):
            return None
        return found
