"""Calibration of engines: the winning chances that they reported, against their scores.

A reported value becomes a chance at the scale of our own weights; the score is 1, 0.5 or 0 points
of that game. Forced wins and losses are left out, as they are certain. Positions of one game depend
on each other, so standard errors treat games, not positions, as independent.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import isnan, nan, sqrt
from typing import NamedTuple

from ..files import Document, rounded
from ..game.record import STAGES, GameRecord, stage_name, stage_of
from ..values import WIN_BAND
from .standings import table

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)  # of the bins of chances
ALL, AHEAD = "all", "ahead"
FROM_AHEAD = 0.5


class Figure(NamedTuple):
    """An average and its standard error, nan for a single game."""

    mean: float
    error: float

    def document(self, name: str) -> Document:
        """Return both for JSON as ``NAME`` and ``NAME_se``, None for nan."""
        return rounded({name: self.mean, f"{name}_se": self.error})


def average(numbers: Sequence[float], games: Sequence[Hashable]) -> Figure:
    """Return the average of the numbers that are not nan; ``games`` has the game of each."""
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
    """A chance that an engine reported before its move, and its score in the game, 0 to 1."""

    engine: str
    game: int
    stage: int
    said: float
    scored: float


class BinRow(NamedTuple):
    """Reported chances and scores of an engine, at one stage and in one bin of chances."""

    engine: str
    stones: str
    chances: str  # ``0.7-0.9``, ``ahead`` (from 0.5 on) or ``all``
    positions: int
    games: int
    said: Figure
    scored: Figure
    excess: Figure  # chance minus score, by position


def predictions(games: Iterable[GameRecord], scale: float) -> Iterator[Prediction]:
    """Yield the predictions of all games without a fault."""
    for played in games:
        if played.fault:
            continue
        said = zip(played.movers, played.values, played.chances(scale), strict=True)
        for stones, (engine, value, chance) in enumerate(said, played.given):
            if value is not None and chance is not None and abs(value) < WIN_BAND:
                points = played.points(engine) / 2
                yield Prediction(engine, played.number, stage_of(stones), chance, points)


def calibrate(games: Iterable[GameRecord], scale: float) -> list[BinRow]:
    """Return the rows of all engines; ``scale``: value units per logistic unit."""
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
    """Return a row for JSON, with the standard errors of the figures as ``FIGURE_se``."""
    document: Document = row._asdict()
    for name in ("said", "scored", "excess"):
        figure: Figure = getattr(row, name)
        del document[name]
        document |= figure.document(name)
    return document


def text_lines(rows: Sequence[BinRow]) -> list[str]:
    """Return the rows as a table; the excess has a standard error from two games on."""
    found = [["engine", "stones", "chances", "positions", "games", "said", "scored", "excess"]]
    for row in rows:
        error = " " * 8 if isnan(row.excess.error) else f" ± {row.excess.error:.3f}"
        figures = f"{row.said.mean:.3f}", f"{row.scored.mean:.3f}", f"{row.excess.mean:+.3f}{error}"
        counts = str(row.positions), str(row.games)
        found.append([row.engine, row.stones, row.chances, *counts, *figures])
    return table(found)
