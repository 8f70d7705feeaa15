"""Who moves: what the referee needs of a contestant, whatever stands behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .clockwatch import Clock
from .remarks import Thinking

if TYPE_CHECKING:
    from ...game.game import Game

IsAborted = Callable[[], bool]


class PlayedMove(NamedTuple):
    """A move as it came, unchecked, with its time in seconds."""

    x: int
    y: int
    seconds: float
    thinking: Thinking


class Player(Protocol):
    """A contestant in one game; every method may raise EngineFault."""

    peak_memory: int  # the most private bytes seen, 0 if unknown

    def launch(self) -> None:
        """Begin to get ready, without waiting."""

    def await_ready(self) -> None:
        """Return when ready for the first move."""

    def move(self, game: Game, clock: Clock) -> PlayedMove:
        """Return the move in this position, within the clock's deadline."""

    def finish(self) -> None:
        """Say goodbye, without waiting."""

    def close(self) -> None:
        """Release everything; may wait a little."""
