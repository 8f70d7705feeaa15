"""What the engine asks of a way to search: memory of some size, then one search after the other.

``AlphaBeta`` and ``MonteCarlo`` are the two that there are. They get the same questions, keep
the same promises about time, memory and stopping, and answer with the same thoughts.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..eval.weights import DEFAULT_SCALE
from ..game.game import Game, Move
from ..native.load.memory import Block
from .adviser import Tactics
from .crew import Deadline
from .thought import Limit, Listener, Thought


class Question(NamedTuple):
    """What one think is about.

    ``start``: when it began, by ``perf_counter``; ``adviser``: who knows of forced wins;
    ``exclude``: cells not to be played unless nothing else is left; ``multipv``: how many
    best moves are asked for. With one, of root moves that are alike by symmetry only one
    is searched. ``scale``: points of value that are one logistic unit of chance.
    """

    game: Game
    limit: Limit
    start: float
    adviser: Tactics | None = None
    exclude: tuple[Move, ...] = ()
    multipv: int = 1
    scale: float = DEFAULT_SCALE


class Search(Protocol):
    """One search that is ready to run."""

    def stop(self) -> None:
        """Make all threads return; from any thread."""

    def run(self, deadline: Deadline, listener: Listener | None) -> Thought | None:
        """Search until the limit; return the best thought, None if there was no time for any."""


class Searcher(Protocol):
    """A way to search, with the memory that lasts from one search to the next."""

    @property
    def game_memory(self) -> Block:
        """Where the engine's game has to live."""

    @property
    def table_bytes(self) -> int:
        """The bytes of what it remembers, 0 while it has no memory for that."""

    def beside(self, threads: int) -> int:
        """Return the bytes that so many threads will take beside what they remember."""

    def enough(self, seconds: float, threads: int) -> int:
        """Return how many bytes are of use where searches take so long."""

    def set_parameter(self, name: str, value: int) -> None:
        """Take a search parameter over; one that is not its own is passed over."""

    def forget_game(self) -> None:
        """Forget what was about the game played so far."""

    def prepare(self, length: int, patient: bool) -> None:
        """Take about so many bytes to remember things in, unless it has them already.

        ``patient``: there is time to clear large pages at their first touch.
        """

    def clear(self) -> None:
        """Give that memory back, and forget everything with it."""

    def stop(self) -> None:
        """Make a running search return."""

    def release(self) -> None:
        """Make searches free to run again."""

    def begin(self, question: Question, threads: int) -> Search:
        """Set a search up on the memory that was prepared."""
