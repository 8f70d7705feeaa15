"""The sequential probability ratio test over pairs of games.

The generalised test: of all distributions over the possible results that fit a hypothesis
about the strength, the likeliest is found, and the log-likelihoods of both hypotheses are
compared. The strength is either the mean score (logistic Elo) or the mean score in
standard deviations (normalised Elo).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..settings import Sprt
from .elo import NORMALISED, Counts, score_of

PRIOR = 1e-3  # weight of a result that was never seen, so that its likelihood has a logarithm
ROUNDS = 40
PRECISION = 1e-10

# The largest hypotheses by model: much further out no distribution of few results is found.
MOST_ELO = {"normalised": 200.0, "logistic": 1000.0}

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
    total, scores, weights = _observed(counts)

    def likelihood(elo: float) -> float:
        mean = score_of(elo)
        return _log_likelihood(weights, _fit([score - mean for score in scores], weights))

    return total * (likelihood(elo1) - likelihood(elo0))


def normalised_llr(elo0: float, elo1: float, counts: Counts) -> float:
    """Return the log-likelihood ratio of two normalised Elo differences."""
    total, scores, weights = _observed(counts)
    scale = math.sqrt((len(counts) - 1) / 2) / NORMALISED  # to standard deviations of a result

    def likelihood(elo: float) -> float:
        return _log_likelihood(weights, _fit_deviations(elo * scale, scores, weights))

    return total * (likelihood(elo1) - likelihood(elo0))


def _observed(counts: Counts) -> tuple[float, list[float], list[float]]:
    """Return the number of results, the possible scores and how often each was seen."""
    smooth = [count or PRIOR for count in counts]
    total = sum(smooth)
    steps = len(smooth) - 1
    return total, [i / steps for i in range(steps + 1)], [count / total for count in smooth]


def _log_likelihood(observed: Sequence[float], assumed: Sequence[float]) -> float:
    return sum(p * math.log(q) for p, q in zip(observed, assumed, strict=True))


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
    """Return the likeliest distribution whose mean is so many standard deviations above 1/2.

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
