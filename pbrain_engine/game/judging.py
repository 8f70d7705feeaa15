"""What a review says of a game as a whole: accuracy, how many mistakes, when it was decided.

A move's accuracy is ``100 * e ** (-4.5 * loss)`` per cent, where ``loss`` is the chance to win that
it gave away, from 0 to 1: 100 where it lost nothing, 80 at five per cent, 64 at ten. That of a
side is the mean of its moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from ..position.rules import Side
from .record import GameRecord
from .result import WRONG, Reviewed

STEEPNESS = 4.5
DECIDED = 0.8  # of the chance to win, which the winner keeps from the decisive move on


class Performance(NamedTuple):
    """How one side has played: per cent, None without moves; moves of each wrong kind."""

    accuracy: float | None
    counts: dict[str, int]


def accuracy(loss: float) -> float:
    """Return how accurate a move was, in per cent, by the chance that it lost."""
    return 100 * exp(-STEEPNESS * loss)


def mover_of(game: GameRecord, reviewed: Reviewed) -> Side:
    """Return whose move it was."""
    return Side((game.first + reviewed.ply - 1 - len(game.placed)) % 2)


def verdict(game: GameRecord, found: Sequence[Reviewed], side: Side) -> Performance:
    """Return how a side has played."""
    own = [reviewed for reviewed in found if mover_of(game, reviewed) is side]
    mean = sum(accuracy(reviewed.loss) for reviewed in own) / len(own) if own else None
    return Performance(mean, {kind: sum(item.kind == kind for item in own) for kind in WRONG})


def chances(game: GameRecord, found: Sequence[Reviewed]) -> list[float]:
    """Return black's chance to win before each of the moves, and after the last."""
    black = [_of_black(game, item, item.found.chance) for item in found]
    return [*black, *(_of_black(game, item, item.found.chance - item.loss) for item in found[-1:])]


def _of_black(game: GameRecord, item: Reviewed, chance: float) -> float:
    return chance if mover_of(game, item) is Side.BLACK else 1 - chance


def decisive(game: GameRecord, found: Sequence[Reviewed]) -> int | None:
    """Return the ply of the move since which the winner has kept the upper hand, if any has."""
    black = chances(game, found)
    if not black:
        return None
    winner = Side.BLACK if black[-1] >= 0.5 else Side.WHITE
    own = [chance if winner is Side.BLACK else 1 - chance for chance in black]
    place = len(own)
    while place and own[place - 1] >= DECIDED:
        place -= 1
    return found[place - 1].ply if 0 < place < len(own) else None
