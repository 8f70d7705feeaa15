"""Elo from scores: pairs of games with colours changed, error bars, likelihood of superiority.

The two games of a pair share their opening, so they are not independent; what is
independent is the pair. Its result is one of five, 0 to 4 half points, and all error bars
here come from the spread of those five (the pentanomial model). Lone games, without a
partner, are added with their own three results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Z95 = 1.959963984540054
LOGISTIC = 400 / math.log(10)  # Elo of one logistic unit
NORMALISED = 800 / math.log(10)  # normalised Elo of one standard deviation of a game
ELO_CAP = 2400.0  # shown where a score has no bound

Counts = Sequence[float]  # 3 entries: losses, draws, wins; 5 entries: pairs by half points


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def elo_of(score: float) -> float:
    """Return the logistic Elo of a score between 0 and 1, capped."""
    if score <= 0:
        return -ELO_CAP
    if score >= 1:
        return ELO_CAP
    return max(-ELO_CAP, min(ELO_CAP, LOGISTIC * math.log(score / (1 - score))))


def score_of(elo: float) -> float:
    """Return the expected score of a logistic Elo difference."""
    return 1 / (1 + math.exp(-elo / LOGISTIC))


class Pooled(NamedTuple):
    """A mean score over all games and the variance of that mean."""

    games: float
    mean: float
    variance: float


def pool(counts: Counts, lone: Counts = ()) -> Pooled:
    """Return the mean over pairs and lone games together."""
    parts = [part for part in (counts, lone) if sum(part)]
    sizes = [(len(part) - 1) / 2 for part in parts]  # games in one result
    games = sum(size * sum(part) for part, size in zip(parts, sizes, strict=True))
    mean = sum(size * sum(part) * _mean(part) for part, size in zip(parts, sizes, strict=True))
    mean /= games
    spread = sum(
        size * size * sum(count * (i / (len(part) - 1) - mean) ** 2 for i, count in enumerate(part))
        for part, size in zip(parts, sizes, strict=True)
    )
    return Pooled(games, mean, spread / games**2)


def _mean(counts: Counts) -> float:
    return sum(count * i for i, count in enumerate(counts)) / sum(counts) / (len(counts) - 1)


def score_interval(counts: Counts, lone: Counts = ()) -> Estimate:
    """Return the mean score with its interval.

    Where all results are alike their spread says nothing; then the interval is Wilson's,
    as if each game were one throw of a coin.
    """
    games, mean, variance = pool(counts, lone)
    if variance > 0:
        error = Z95 * math.sqrt(variance)
        return Estimate(mean, max(0.0, mean - error), min(1.0, mean + error))
    z2 = Z95 * Z95
    centre = (mean + z2 / (2 * games)) / (1 + z2 / games)
    root = math.sqrt(mean * (1 - mean) / games + z2 / (4 * games * games))
    half = Z95 * root / (1 + z2 / games)
    return Estimate(mean, max(0.0, centre - half), min(1.0, centre + half))


def elo(counts: Counts, lone: Counts = ()) -> Estimate:
    """Return the logistic Elo with its interval; without results it is anything."""
    if not sum(counts) + sum(lone):
        return Estimate(0.0, -ELO_CAP, ELO_CAP)
    score = score_interval(counts, lone)
    return Estimate(elo_of(score.value), elo_of(score.low), elo_of(score.high))


def normalised_elo(counts: Counts, lone: Counts = ()) -> Estimate | None:
    """Return the Elo in units of a game's standard deviation, with its interval.

    It says how many games it takes to see a difference, whatever the draw rate. None where
    the deviation is not known: without results, or where all of them are alike.
    """
    if not sum(counts) + sum(lone):
        return None
    games, mean, variance = pool(counts, lone)
    if variance == 0:
        return None
    value = (mean - 0.5) / math.sqrt(variance * games) * NORMALISED
    error = Z95 * NORMALISED / math.sqrt(games)
    return Estimate(value, value - error, value + error)


def superiority(counts: Counts, lone: Counts = ()) -> float:
    """Return the likelihood, from 0 to 1, that the first engine is the stronger one."""
    if not sum(counts) + sum(lone):
        return 0.5
    games, mean, variance = pool(counts, lone)
    if variance == 0:
        if mean == 0.5:
            return 0.5
        alike = math.pow(0.5, games)  # as if each game were the throw of a fair coin
        return 1 - alike if mean > 0.5 else alike
    return 0.5 * math.erfc(-(mean - 0.5) / math.sqrt(2 * variance))
