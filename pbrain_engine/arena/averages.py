"""Averages over positions of games, with errors that count games.

Positions of one game depend on each other, so the standard error is that of a mean whose games,
not whose positions, are independent.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import nan, sqrt
from typing import NamedTuple


class Figure(NamedTuple):
    """An average and its standard error, which is nan where there is one game only."""

    mean: float
    error: float


def average(numbers: Sequence[float], games: Sequence[Hashable]) -> Figure:
    """Return the average of the numbers that are not nan; ``games``: the one of each."""
    pairs = zip(numbers, games, strict=True)
    known = [(number, game) for number, game in pairs if number == number]
    if not known:
        return Figure(nan, nan)
    mean = sum(number for number, _ in known) / len(known)
    sums: dict[Hashable, float] = {}
    for number, game in known:
        sums[game] = sums.get(game, 0.0) + number - mean
    if len(sums) < 2:
        return Figure(mean, nan)
    spread = sum(each * each for each in sums.values()) * len(sums) / (len(sums) - 1)
    return Figure(mean, sqrt(spread) / len(known))


def known(number: float) -> float | None:
    """Return a number as JSON has it; None for nan."""
    return round(number, 6) if number == number else None
