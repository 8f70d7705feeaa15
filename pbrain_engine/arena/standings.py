"""Where a match stands: the results of every pair of engines, the faults, and the ratings.

Ratings come from all games at once (Bradley-Terry). A draw is half a win. Anchored engines keep
the rating they are given; without an anchor the mean rating is 0. A little prior, a draw against
every opponent met, keeps the rating of an engine that lost everything finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import elo as strength
from .elo import ELO_CAP, LOGISTIC, Z95, score_of
from .journal import Played
from .settings import MatchSettings, Sprt, pairs

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


@dataclass(slots=True)
class PairScore:
    """All results between two engines, from the first one's side."""

    a: str
    b: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    openings: list[int] = field(default_factory=lambda: [0] * 5)  # both games, by half points
    waiting: dict[int, int] = field(default_factory=dict)  # half points of lone games, by round

    @property
    def games(self) -> int:
        """How many games are finished."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """The points of the first engine."""
        return self.wins + self.draws / 2

    def add(self, played: Played) -> None:
        """Count a game."""
        points = played.points(self.a)
        self.wins += points == 2
        self.draws += points == 1
        self.losses += points == 0
        partner = self.waiting.pop(played.round, None)
        if partner is None:
            self.waiting[played.round] = points
        else:
            self.openings[points + partner] += 1

    @property
    def lone(self) -> list[int]:
        """Games without a partner yet: losses, draws, wins."""
        return [sum(points == kind for points in self.waiting.values()) for kind in range(3)]

    @property
    def elo(self) -> strength.Estimate:
        """The logistic Elo difference."""
        return strength.elo(self.openings, self.lone)

    @property
    def normalised_elo(self) -> strength.Estimate | None:
        """The normalised Elo difference, if it is known."""
        return strength.normalised_elo(self.openings, self.lone)

    @property
    def superiority(self) -> float:
        """The likelihood that the first engine is stronger."""
        return strength.superiority(self.openings, self.lone)

    def verdict(self, test: Sprt) -> strength.Verdict:
        """Where a sequential test stands; whole pairs count, lone games do not yet."""
        return strength.judge(test, self.openings)

    def to_json(self) -> dict[str, Any]:
        """Return the pair for the result document."""
        difference, normalised = self.elo, self.normalised_elo
        return {
            "a": self.a,
            "b": self.b,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "elo": round(difference.value, 2),
            "elo_low": round(difference.low, 2),
            "elo_high": round(difference.high, 2),
            "normalised_elo": normalised and round(normalised.value, 2),
            "los": round(self.superiority, 4),
            "pentanomial": list(self.openings),
        }


class Standings:
    """The table of a match, kept up to date game by game."""

    def __init__(self, settings: MatchSettings, games: Iterable[Played] = ()) -> None:
        """Begin with the games that are already finished."""
        self.settings = settings
        names = [engine.name for engine in settings.engines]
        self.names = names
        self.pairs = [PairScore(names[a], names[b]) for a, b in pairs(settings)]
        self._by_names = {frozenset((pair.a, pair.b)): pair for pair in self.pairs}
        self.faults: list[Played] = []
        self.games = 0
        for played in games:
            self.add(played)

    def add(self, played: Played) -> None:
        """Count a game."""
        self.games += 1
        self._by_names[frozenset((played.black, played.white))].add(played)
        if played.fault:
            self.faults.append(played)

    @property
    def verdict(self) -> strength.Verdict | None:
        """Where the match's sequential test stands, if it has one."""
        test = self.settings.sprt
        return self.pairs[0].verdict(test) if test else None

    def ladder(self, anchors: dict[str, float] | None = None) -> list[Rating]:
        """Return the ratings of all engines."""
        return rate(((p.a, p.b, p.points, p.games) for p in self.pairs), anchors)

    def to_json(self, anchors: dict[str, float] | None = None) -> dict[str, Any]:
        """Return the result document."""
        document: dict[str, Any] = {
            "games": self.games,
            "engines": self.names,
            "pairs": [pair.to_json() for pair in self.pairs],
            "faults": [
                {"game": played.game, "engine": played.loser, "cause": played.fault}
                for played in sorted(self.faults, key=lambda played: played.game)
            ],
        }
        if len(self.names) > 2:
            document["ladder"] = [
                {
                    "engine": r.name,
                    "elo": round(r.elo, 2),
                    "error": round(r.error, 2),
                    "games": r.games,
                    "points": r.points,
                }
                for r in self.ladder(anchors)
            ]
        verdict = self.verdict
        if verdict:
            document["sprt"] = {
                "llr": round(verdict.llr, 4),
                "lower": round(verdict.lower, 4),
                "upper": round(verdict.upper, 4),
                "decision": verdict.decision,
            }
        return document
