"""Elo from scores, with error bars and a sequential test.

The two games of a pair share their opening, so they are not independent; what is
independent is the pair. Its result is one of five, 0 to 4 half points, and all error bars
here come from the spread of those five (the pentanomial model). Lone games, without a
partner, are added with their own three results.

The test is the generalised one: of all distributions over the possible results that fit a
hypothesis about the strength, the likeliest is found, and the log-likelihoods of both
hypotheses are compared. The strength is either the mean score (logistic Elo) or the mean
score in standard deviations (normalised Elo).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .settings import Sprt

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
    points = (count * i for part in parts for i, count in enumerate(part))
    mean = sum(points) / 2 / games
    spread = sum(
        size * size * sum(count * (i / (len(part) - 1) - mean) ** 2 for i, count in enumerate(part))
        for part, size in zip(parts, sizes, strict=True)
    )
    return Pooled(games, mean, spread / games**2)


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


PRIOR = 1e-3  # weight of a result that was never seen, so that its likelihood has a logarithm
ROUNDS = 40
PRECISION = 1e-10

ACCEPT, REJECT = "accepted", "rejected"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a test stands: the ratio between its bounds, and the decision if there is one."""

    llr: float
    lower: float
    upper: float

    def __str__(self) -> str:
        """``LLR 1.20 (-2.94 to 2.94)``."""
        return f"LLR {self.llr:.2f} ({self.lower:.2f} to {self.upper:.2f})"

    @property
    def decision(self) -> str:
        """``accepted`` (H1), ``rejected`` (H0), or an empty string while undecided."""
        if self.llr >= self.upper:
            return ACCEPT
        return REJECT if self.llr <= self.lower else ""


def judge(test: Sprt, counts: Counts) -> Verdict:
    """Return the verdict on these results."""
    lower = math.log(test.beta / (1 - test.alpha))
    upper = math.log((1 - test.beta) / test.alpha)
    if not sum(counts):
        return Verdict(0.0, lower, upper)
    ratio = normalised_llr if test.model == "normalised" else logistic_llr
    return Verdict(ratio(test.elo0, test.elo1, counts), lower, upper)


def logistic_llr(elo0: float, elo1: float, counts: Counts) -> float:
    """Return the log-likelihood ratio of two logistic Elo differences."""

    def fit(elo: float, scores: Sequence[float], weights: Sequence[float]) -> list[float]:
        return _fit([score - score_of(elo) for score in scores], weights)

    return _log_ratio(elo0, elo1, counts, fit)


def normalised_llr(elo0: float, elo1: float, counts: Counts) -> float:
    """Return the log-likelihood ratio of two normalised Elo differences."""
    scale = math.sqrt((len(counts) - 1) / 2) / NORMALISED  # to standard deviations of a result
    return _log_ratio(elo0 * scale, elo1 * scale, counts, _fit_deviations)


def _log_ratio(
    strength0: float,
    strength1: float,
    counts: Counts,
    fit: Callable[[float, Sequence[float], Sequence[float]], list[float]],
) -> float:
    """Return the log-likelihood ratio of the likeliest distributions of two strengths."""
    smooth = [count or PRIOR for count in counts]
    total, steps = sum(smooth), len(smooth) - 1
    weights = [count / total for count in smooth]
    scores = [i / steps for i in range(steps + 1)]
    weak, strong = (fit(strength, scores, weights) for strength in (strength0, strength1))
    ratios = (p * math.log(b / a) for p, a, b in zip(weights, weak, strong, strict=True))
    return total * sum(ratios)


def _fit(moments: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the likeliest distribution under which these moments have the mean 0.

    Lagrange: it is ``p / (1 + x m)`` with the ``x`` that makes the mean vanish. The mean
    falls in ``x`` between two poles; Newton's steps find its zero, halving where they leave
    the interval.
    """
    low, high = -1 / max(moments), -1 / min(moments)
    pairs = list(zip(weights, moments, strict=True))
    x = 0.0
    for _ in range(ROUNDS):
        terms = [(p * m / (1 + x * m), m / (1 + x * m)) for p, m in pairs]
        mean = sum(term for term, _ in terms)
        if mean > 0:
            low = x
        else:
            high = x
        step = mean / sum(term * factor for term, factor in terms)
        if abs(step) < PRECISION:
            break
        x = x + step if low < x + step < high else (low + high) / 2
    return [p / (1 + x * m) for p, m in pairs]


def _fit_deviations(
    deviations: float, scores: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """Return the likeliest distribution whose mean is this many deviations above 1/2.

    The condition is not linear in the distribution; its tangent at the last one is, and
    some rounds of fitting to the tangent settle.
    """
    fitted = [1 / len(scores)] * len(scores)
    for _ in range(ROUNDS):
        mean = sum(q * s for q, s in zip(fitted, scores, strict=True))
        deviation = math.sqrt(sum(q * (s - mean) ** 2 for q, s in zip(fitted, scores, strict=True)))
        moments = [
            s - 0.5 - deviations * deviation * (1 + ((s - mean) / deviation) ** 2) / 2
            for s in scores
        ]
        last, fitted = fitted, _fit(moments, weights)
        if max(abs(p - q) for p, q in zip(last, fitted, strict=True)) < PRECISION:
            break
    return fitted
