"""Elo from scores, with error bars; a sequential test; a rating ladder; averages over games.

The two games of an opening depend on each other, so the unit is the pair, with 0 to 4 half points
(the pentanomial model). Lone games count with their own three results.

The test is a generalised likelihood ratio test: it compares the most likely distributions of
results with the strength of each hypothesis, in mean score (logistic Elo) or mean score in standard
deviations (normalised Elo).

The ladder fits all games at once (Bradley-Terry, a draw is half a win). Anchored engines keep their
rating; without an anchor the mean is 0. A prior of one draw per opponent keeps ratings finite.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from ..files import Document, rounded
from .settings import Sprt

Z95 = 1.959963984540054
LOGISTIC = 400 / math.log(10)  # Elo of one logistic unit
NORMALISED = 800 / math.log(10)  # normalised Elo of one standard deviation of a game
ELO_CAP = 2400.0  # stands for infinity

Counts = Sequence[float]  # 3 entries: losses, draws, wins; 5 entries: pairs by half points


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


def score_of(elo: float) -> float:
    """Return the expected score of a logistic Elo difference."""
    return 1 / (1 + math.exp(-elo / LOGISTIC))


class MeanScore(NamedTuple):
    """A mean score over all games and the variance of that mean."""

    games: float
    mean: float
    variance: float

    @classmethod
    def of(cls, counts: Counts, lone: Counts = ()) -> MeanScore:
        """Return the mean over pairs and lone games together; 0.5 without games."""
        parts = [part for part in (counts, lone) if sum(part)]
        if not parts:
            return cls(0.0, 0.5, 0.0)
        sizes = [(len(part) - 1) / 2 for part in parts]  # games in one result
        games = sum(size * sum(part) for part, size in zip(parts, sizes, strict=True))
        points = (count * i for part in parts for i, count in enumerate(part))
        mean = sum(points) / 2 / games
        spread = sum(
            size**2 * sum(count * (i / (len(part) - 1) - mean) ** 2 for i, count in enumerate(part))
            for part, size in zip(parts, sizes, strict=True)
        )
        return cls(games, mean, spread / games**2)

    @property
    def interval(self) -> Estimate:
        """The mean with its 95 % interval, 0 to 1 without games.

        If all results are equal, so that their variance is 0, the interval is Wilson's, for
        independent games that are won or lost.
        """
        games, mean, variance = self
        if not games:
            return Estimate(mean, 0.0, 1.0)
        if variance > 0:
            centre, half = mean, Z95 * math.sqrt(variance)
        else:
            z2 = Z95 * Z95
            centre = (mean + z2 / (2 * games)) / (1 + z2 / games)
            root = math.sqrt(mean * (1 - mean) / games + z2 / (4 * games * games))
            half = Z95 * root / (1 + z2 / games)
        return Estimate(mean, max(0.0, centre - half), min(1.0, centre + half))

    @property
    def elo(self) -> Estimate:
        """The logistic Elo, capped."""
        scores = (min(max(score, 1e-9), 1 - 1e-9) for score in self.interval)  # far beyond the cap
        elos = (LOGISTIC * math.log(score / (1 - score)) for score in scores)
        return Estimate(*(max(-ELO_CAP, min(ELO_CAP, elo)) for elo in elos))

    @property
    def normalised_elo(self) -> Estimate | None:
        """The Elo in units of a game's standard deviation.

        It determines how many games it takes to detect a difference, whatever the draw rate. None
        if the deviation is unknown: without results, or if all are equal.
        """
        if not self.variance:
            return None
        value = (self.mean - 0.5) / math.sqrt(self.variance * self.games) * NORMALISED
        error = Z95 * NORMALISED / math.sqrt(self.games)
        return Estimate(value, value - error, value + error)

    @property
    def superiority(self) -> float:
        """The likelihood of superiority: that the first engine is stronger, 0 to 1."""
        if self.variance:
            return 0.5 * math.erfc(-(self.mean - 0.5) / math.sqrt(2 * self.variance))
        if self.mean == 0.5:
            return 0.5
        chance = math.pow(0.5, self.games + 1)  # with a uniform prior of strength
        return 1 - chance if self.mean > 0.5 else chance


PRIOR = 1e-3  # count of a result that never occurred, to keep its logarithm finite
ROUNDS = 40
HALVINGS = 60
PRECISION = 1e-10


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a test: the log-likelihood ratio and its bounds."""

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
            return "accepted"
        return "rejected" if self.llr <= self.lower else ""


def judge(test: Sprt, counts: Counts) -> Verdict:
    """Return the state of a test after these results."""
    lower = math.log(test.beta / (1 - test.alpha))
    upper = math.log((1 - test.beta) / test.alpha)
    ratio = 0.0
    if sum(counts):
        smooth = [count or PRIOR for count in counts]
        weights = [count / sum(smooth) for count in smooth]
        fits = [_likeliest(elo, test.model, weights) for elo in (test.elo0, test.elo1)]
        ratio = sum(n * math.log(b / a) for n, a, b in zip(smooth, *fits, strict=True))
    return Verdict(ratio, lower, upper)


def _likeliest(elo: float, model: str, weights: Counts) -> list[float]:
    """Return the most likely distribution of results with this Elo.

    A normalised Elo is not a linear constraint on the distribution, so it is linearised at the last
    fit, and repeated fits converge.
    """
    steps = len(weights) - 1
    scores = [i / steps for i in range(steps + 1)]
    above = elo * math.sqrt(steps / 2) / NORMALISED  # standard deviations of a result over 1/2
    fitted = [1 / len(scores)] * len(scores)
    for _ in range(ROUNDS):
        if model == "logistic":
            moments = [score - score_of(elo) for score in scores]
        else:
            mean = sum(q * s for q, s in zip(fitted, scores, strict=True))
            variance = sum(q * (s - mean) ** 2 for q, s in zip(fitted, scores, strict=True))
            deviation = math.sqrt(variance)
            moments = [
                s - 0.5 - above * deviation * (1 + ((s - mean) / deviation) ** 2) / 2
                for s in scores
            ]
        last, fitted = fitted, _fit(moments, weights)
        if max(abs(p - q) for p, q in zip(last, fitted, strict=True)) < PRECISION:
            break
    return fitted


def _fit(moments: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the most likely distribution under which these moments have mean 0.

    By Lagrange multipliers it is ``p / (1 + x m)``, with the ``x`` that makes the mean vanish; the
    mean decreases in ``x`` between two poles.
    """
    low, high = -1 / max(moments), -1 / min(moments)
    pairs = list(zip(weights, moments, strict=True))
    for _ in range(HALVINGS):
        x = (low + high) / 2
        if sum(p * m / (1 + x * m) for p, m in pairs) > 0:
            low = x
        else:
            high = x
    return [p / (1 + x * m) for p, m in pairs]


PRIOR_DRAWS = 0.5  # between each pair that met
LADDER_ROUNDS = 200
LADDER_PRECISION = 1e-6  # Elo
LONGEST_STEP = 400.0  # Elo
LEAST_PIVOT = 1e-30
RIDGE = 1e-8  # of the largest entry; makes the matrix invertible

Meeting = tuple[str, str, float, int]  # a, b, points of a, games


class Rating(NamedTuple):
    """A rating, half the width of its 95 % interval, and the games and points behind it."""

    engine: str
    elo: float
    error: float
    games: int
    points: float


def rate(meetings: Iterable[Meeting], anchors: Mapping[str, float] | None = None) -> list[Rating]:
    """Return the ratings, best first.

    Newton's method finds the most likely ratings; the intervals come from the inverse of the last
    information matrix. (The MM iteration gives no intervals, and takes 13,000 sweeps if each of six
    engines won all 100 games against the next.) Without an anchor, the matrix is singular in the
    direction of the mean, which is fixed at 0: a constant added to all entries and subtracted from
    the inverse removes exactly that direction. If some engines are not connected by games, their
    difference is unknown, and the interval is capped like an Elo.
    """
    table = [meeting for meeting in meetings if meeting[3]]
    names = sorted({name for a, b, _, _ in table for name in (a, b)})
    fixed = {name: elo for name, elo in (anchors or {}).items() if name in names}
    values = dict.fromkeys(names, fmean(fixed.values()) if fixed else 0.0) | fixed
    index, count, off = {name: i for i, name in enumerate(names)}, len(names), 0.0
    inverse: list[list[float]] = []
    for _ in range(LADDER_ROUNDS if names else 0):
        slopes = [0.0] * count
        information = [[0.0] * count for _ in names]
        for a, b, points, games in table:
            expected, weight = score_of(values[a] - values[b]), games + PRIOR_DRAWS
            slope = (points + PRIOR_DRAWS / 2 - weight * expected) / LOGISTIC
            curvature = weight * expected * (1 - expected) / LOGISTIC**2
            for i, j, sign in ((index[a], index[b], 1), (index[b], index[a], -1)):
                slopes[i] += sign * slope
                information[i][i] += curvature
                information[i][j] -= curvature
        largest = max(row[i] for i, row in enumerate(information))
        shift = 0.0 if fixed else largest / count
        off = 0.0 if fixed else 1 / (largest * count)
        for i, row in enumerate(information):
            information[i] = [cell + shift for cell in row]
            information[i][i] += RIDGE * largest + LEAST_PIVOT
        for i in (index[name] for name in fixed):  # these do not move
            slopes[i], information[i] = 0.0, [float(i == j) for j in range(count)]
        inverse = _invert(information)
        steps = [sum(c * slope for c, slope in zip(row, slopes, strict=True)) for row in inverse]
        longest = max(map(abs, steps))
        for name, step in zip(names, steps, strict=True):
            values[name] += step * min(1.0, LONGEST_STEP / (longest or 1.0))
        if longest < LADDER_PRECISION:
            break
    ratings = []
    for name, elo in values.items():
        own = [(points, games) for a, _, points, games in table if a == name]
        own += [(games - points, games) for _, b, points, games in table if b == name]
        known = 0.0 if name in fixed else inverse[index[name]][index[name]] - off
        error = min(ELO_CAP, Z95 * math.sqrt(max(0.0, known)))
        points = sum(points for points, _ in own)
        ratings.append(Rating(name, elo, error, sum(games for _, games in own), points))
    return sorted(ratings, key=lambda rating: -rating.elo)


def _invert(matrix: list[list[float]]) -> list[list[float]]:
    """Return the inverse of a positive definite matrix, by Gauss-Jordan elimination."""
    count = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(count))] for i, row in enumerate(matrix)]
    for column in range(count):
        rows[column] = [cell / rows[column][column] for cell in rows[column]]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[column], strict=True)]
    return [row[count:] for row in rows]


class Figure(NamedTuple):
    """An average and its standard error, nan for a single game."""

    mean: float
    error: float


def figures_document(row: Mapping[str, Any]) -> Document:
    """Return a row for JSON, each of its figures as ``NAME`` and ``NAME_se``, None for nan."""
    document: Document = {}
    for name, value in row.items():
        if isinstance(value, Figure):
            document |= rounded({name: value.mean, f"{name}_se": value.error})
        else:
            document[name] = value
    return document


def average(numbers: Sequence[float], games: Sequence[Hashable]) -> Figure:
    """Return the average of the numbers that are not nan; ``games`` has the game of each.

    Numbers of one game depend on each other, so the standard error treats games as independent.
    """
    pairs = zip(numbers, games, strict=True)
    known = [(number, game) for number, game in pairs if number == number]
    if not known:
        return Figure(math.nan, math.nan)
    mean = sum(number for number, _ in known) / len(known)
    sums: dict[Hashable, float] = {}
    for number, game in known:
        sums[game] = sums.get(game, 0.0) + number - mean
    if len(sums) < 2:
        return Figure(mean, math.nan)
    spread = sum(each * each for each in sums.values()) * len(sums) / (len(sums) - 1)
    return Figure(mean, math.sqrt(spread) / len(known))
