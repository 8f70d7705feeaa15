"""Where a match stands: the results of every pair of engines, and the faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..game.played import Played
from ..settings import MatchSettings, Sprt, pairs
from . import elo as strength
from . import ladder, sprt


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

    def verdict(self, test: Sprt) -> sprt.Verdict:
        """Where a sequential test stands; whole pairs count, lone games do not yet."""
        return sprt.judge(test, self.openings)

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
    def verdict(self) -> sprt.Verdict | None:
        """Where the match's sequential test stands, if it has one."""
        test = self.settings.sprt
        return self.pairs[0].verdict(test) if test else None

    def ladder(self, anchors: dict[str, float] | None = None) -> list[ladder.Rating]:
        """Return the ratings of all engines."""
        return ladder.rate(((p.a, p.b, p.points, p.games) for p in self.pairs), anchors)

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
