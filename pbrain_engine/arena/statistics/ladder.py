"""Ratings of many engines from all their games at once (Bradley-Terry), with anchors.

A draw is half a win. Anchored engines keep the rating they are given; without an anchor the
mean rating is 0. A little prior, a draw against every opponent met, keeps the rating of an
engine that lost everything finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .elo import ELO_CAP, LOGISTIC, Z95, score_of

PRIOR_DRAWS = 0.5  # between each pair that met
ROUNDS = 500
PRECISION = 1e-6


@dataclass(frozen=True, slots=True)
class Rating:
    """One rung: the rating, half the width of its 95 % interval, and the games behind it."""

    name: str
    elo: float
    error: float
    games: int
    points: float


Meeting = tuple[str, str, float, int]  # a, b, points of a, games
Result = tuple[str, float, int]  # of one engine: the other one, its own points, games


def rate(meetings: Iterable[Meeting], anchors: Mapping[str, float] | None = None) -> list[Rating]:
    """Return the ratings, best first."""
    fixed = dict(anchors or {})
    table = [meeting for meeting in meetings if meeting[3]]
    names = sorted({name for a, b, _, _ in table for name in (a, b)})
    own: dict[str, list[Result]] = {name: [] for name in names}
    for a, b, points, games in table:
        own[a].append((b, points, games))
        own[b].append((a, games - points, games))
    values = {name: fixed.get(name, 0.0) for name in names}
    free = [name for name in names if name not in fixed]
    for _ in range(ROUNDS):
        largest = 0.0
        for name in free:
            slope, curvature = _likelihood_at(values[name], own[name], values)
            step = max(-400.0, min(400.0, slope / curvature))
            values[name] += step
            largest = max(largest, abs(step))
        if not fixed and names:
            shift = sum(values.values()) / len(names)
            values = {name: value - shift for name, value in values.items()}
        if largest < PRECISION:
            break
    errors = _errors(free, bool(set(fixed) & set(names)), table, values)
    ratings = [
        Rating(
            name,
            values[name],
            errors.get(name, 0.0),
            sum(games for _, _, games in own[name]),
            sum(points for _, points, _ in own[name]),
        )
        for name in names
    ]
    return sorted(ratings, key=lambda rating: -rating.elo)


def _likelihood_at(
    elo: float, results: Sequence[Result], values: Mapping[str, float]
) -> tuple[float, float]:
    """Return slope and curvature of the log-likelihood in one engine's rating."""
    slope = curvature = 0.0
    for other, points, games in results:
        expected = score_of(elo - values[other])
        weight = games + PRIOR_DRAWS
        slope += (points + PRIOR_DRAWS / 2 - weight * expected) / LOGISTIC
        curvature += weight * expected * (1 - expected) / LOGISTIC**2
    return slope, max(curvature, 1e-12)


def _errors(
    free: list[str], is_anchored: bool, table: list[Meeting], values: Mapping[str, float]
) -> dict[str, float]:
    """Return the half widths of the intervals, from the inverse of the information matrix.

    Without an anchor the matrix is singular in the direction of the mean, which is fixed
    at 0: adding a constant to all its entries and taking it off the inverse leaves exactly
    the other directions. Where engines have not met all others in some way, nothing is known of
    some directions; then the width is capped as an Elo is.
    """
    count = len(free)
    if not count:
        return {}
    index = {name: i for i, name in enumerate(free)}
    information = [[0.0] * count for _ in range(count)]
    for a, b, _, games in table:
        expected = score_of(values[a] - values[b])
        weight = (games + PRIOR_DRAWS) * expected * (1 - expected) / LOGISTIC**2
        for name, other in ((a, b), (b, a)):
            if name in index:
                information[index[name]][index[name]] += weight
                if other in index:
                    information[index[name]][index[other]] -= weight
    shift = 0.0
    if not is_anchored:
        shift = max(row[i] for i, row in enumerate(information)) / count
        information = [[cell + shift for cell in row] for row in information]
    inverse = _invert(information)
    off = 1 / (shift * count * count) if shift else 0.0
    return {
        name: min(ELO_CAP, Z95 * math.sqrt(max(0.0, inverse[i][i] - off)))
        for name, i in index.items()
    }


def _invert(matrix: list[list[float]]) -> list[list[float]]:
    """Return the inverse, by elimination with pivots."""
    count = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(count))] for i, row in enumerate(matrix)]
    for column in range(count):
        pivot = max(range(column, count), key=lambda i: abs(rows[i][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column] or 1e-30
        rows[column] = [cell / head for cell in rows[column]]
        for i in range(count):
            if i != column and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[column], strict=True)]
    return [row[count:] for row in rows]
