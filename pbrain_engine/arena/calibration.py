"""What engines said of their chances in the games of a match, and what they scored.

Each value that an engine reported is a chance at the scale of our own weights; what it scored is 1,
0.5 or 0 points of that game. Forced wins and losses are left out: they say what will be. Positions
of one game depend on each other, so standard errors take games, not positions, as independent.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import isnan, nan, sqrt
from typing import NamedTuple

from ..files import Document, rounded
from ..game.record import STAGES, GameRecord, stage_name, stage_of
from ..values import WIN_BAND, chance, scale_at

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # of the bins of chances
ALL, AHEAD = "all", "ahead"
FROM_AHEAD = 0.5


class Figure(NamedTuple):
    """An average and its standard error, which is nan where there is one game only."""

    mean: float
    error: float

    def document(self, name: str) -> Document:
        """Return both under a name as JSON has them, None for nan."""
        return rounded({name: self.mean, f"{name}_se": self.error})


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


class Prediction(NamedTuple):
    """A chance that an engine said before its move, and the points that it scored, 0 to 1."""

    engine: str
    game: int
    stage: int
    said: float
    scored: float


class BinRow(NamedTuple):
    """What an engine said and scored at a stage, where it said a chance of one bin."""

    engine: str
    stones: str
    chances: str  # ``0.7-0.9``, ``ahead`` (from 0.5 on) or ``all``
    positions: int
    games: int
    said: Figure
    scored: Figure
    excess: Figure  # of what was said over what was scored, position by position


def predictions(games: Iterable[GameRecord], scale: float) -> Iterator[Prediction]:
    """Yield what was said in games that no fault ended."""
    for played in games:
        if played.fault:
            continue
        given = played.given
        for number, (engine, value) in enumerate(zip(played.movers, played.values, strict=True)):
            if value is not None and abs(value) < WIN_BAND:
                stones, cells = given + number, played.width * played.height
                stage, said = stage_of(stones), chance(value, scale_at(scale, stones, cells))
                yield Prediction(engine, played.number, stage, said, played.points(engine) / 2)


def calibrate(games: Iterable[GameRecord], scale: float) -> list[BinRow]:
    """Return the rows of all engines by stage and chance; ``scale``: units of a logistic unit."""
    found = list(predictions(games, scale))
    rows = list[BinRow]()
    for engine in sorted({each.engine for each in found}):
        for stage in (None, *range(len(STAGES))):
            stones = ALL if stage is None else stage_name(stage)
            those = [e for e in found if e.engine == engine and stage in (None, e.stage)]
            bins: list[list[Prediction]] = [[] for _ in EDGES[1:]]
            for each in those:
                bins[min(bisect(EDGES, each.said), len(bins)) - 1].append(each)
            for low, high, chosen in zip(EDGES, EDGES[1:], bins, strict=False):
                rows += _rows(chosen, f"{low:.1f}-{high:.1f}", stones)
            rows += _rows([each for each in those if each.said >= FROM_AHEAD], AHEAD, stones)
            rows += _rows(those, ALL, stones)
    return rows


def _rows(chosen: Sequence[Prediction], chances: str, stones: str) -> Iterator[BinRow]:
    if chosen:
        games = [each.game for each in chosen]
        figures = (
            average([each.said for each in chosen], games),
            average([each.scored for each in chosen], games),
            average([each.said - each.scored for each in chosen], games),
        )
        yield BinRow(chosen[0].engine, stones, chances, len(chosen), len({*games}), *figures)


def form(row: BinRow) -> Document:
    """Return a row as JSON has it, with the standard errors of the figures as ``FIGURE_se``."""
    document: Document = row._asdict()
    for name in ("said", "scored", "excess"):
        figure: Figure = getattr(row, name)
        del document[name]
        document |= figure.document(name)
    return document


def text_lines(rows: Sequence[BinRow]) -> list[str]:
    """Return the rows as a table; the excess has a standard error where there are two games."""
    width = max([6, *(len(row.engine) for row in rows)])
    found = [f"{'engine':{width}} stones chances positions games   said scored   excess"]
    for row in rows:
        facts = (
            f"{row.engine:{width}} {row.stones:6} {row.chances:7} {row.positions:9} {row.games:5}"
        )
        error = "" if isnan(row.excess.error) else f" ± {row.excess.error:.3f}"
        figures = f"{row.said.mean:6.3f} {row.scored.mean:6.3f}  {row.excess.mean:+7.3f}{error}"
        found.append(f"{facts} {figures}")
    return found
