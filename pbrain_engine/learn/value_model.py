"""Learning the value: a logistic regression of how games end on what the evaluation sees.

The evaluation divided by its scale is the logarithm of the odds of winning. The target mixes
the result of the game with the chance that the search saw. Where black and white play by the
same rules they share one table, seen from the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..eval.weights import COMBINATIONS, MASKS
from .features import Positions
from .minimise import Vector, minimise, minimise_scale
from .prior import Prior, combination_shares, mask_shares
from .sparse import Matrix

Table = NDArray[np.float64]
Array = NDArray[Any]
SCALES = (40.0, 1000.0)  # where the scale of a logistic unit is looked for
VALUE_LIMIT, THREAT_LIMIT = 2000, 3000  # far inside int16, and of the evaluation's range
SHARED_VALUE, OWN_VALUE = 4.0, 3.0  # expected sizes of what is learned (``prior``)
SHARED_THREAT, OWN_THREAT = 60.0, 25.0


class ValueTables(NamedTuple):
    """The weights of the evaluation: one row, or one a side."""

    values: Table
    threats: Table


class ValueLosses(NamedTuple):
    """Mean log losses of an evaluation at its best scale."""

    target: float
    result: float
    scale: float


def chance(value: Vector, scale: float) -> Vector:
    """Return the chance of winning that a value means."""
    return np.asarray(1 / (1 + np.exp(-np.clip(value / scale, -40, 40))))


def log_loss(odds: Vector, target: Vector) -> Vector:
    """Return the loss of each prediction, given as logarithm of the odds."""
    return np.asarray(np.logaddexp(0, odds) - target * odds)


def best_scale(value: Vector, target: Vector) -> float:
    """Return the scale with which values predict a target best."""
    return minimise_scale(lambda scale: float(log_loss(value / scale, target).mean()), *SCALES)


def losses_of(
    values: Vector, target: Vector, result: Vector, scale: float | None = None
) -> ValueLosses:
    """Return the losses of values at a scale, or at the best one; results may be NaN: unknown."""
    used = scale or best_scale(values, target)
    known = ~np.isnan(result)
    odds = values / used
    on_results = float(log_loss(odds[known], result[known]).mean()) if known.any() else nan
    return ValueLosses(float(log_loss(odds, target).mean()), on_results, used)


def blend(side: Array, results: Array, game: Array, chances: Vector, mix: float) -> Vector:
    """Return the targets: at each position the search's chance, mixed with the target after it.

    Positions stand in the order of their games, with the side to move (0 black, 1 white), its
    score in the end and the number of the game. ``mix`` is the share of what came after; at the
    end of a game that is its result.
    """
    black = side == 0
    seen = np.where(black, chances, 1 - chances)
    result = np.where(black, results, 1 - results)
    targets = np.empty(len(seen))
    playing, after = -1, 0.0
    for i in range(len(seen) - 1, -1, -1):
        if game[i] != playing:
            playing, after = game[i], result[i]
        targets[i] = after = (1 - mix) * seen[i] + mix * after
    return np.asarray(np.where(black, targets, 1 - targets))


class ValueData:
    """Positions as a matrix of the weights that they use, and their targets."""

    def __init__(self, positions: Positions, symmetric: bool, mix: float, scale: float) -> None:
        """Mix what the search saw, at a scale, with what came after, as targets."""
        lengths = np.diff(positions.starts)
        side = np.repeat(positions.side, lengths)
        white = positions.columns >= COMBINATIONS
        sign = np.where((side == 1) == white, 0.5, -0.5)  # half: counts are of two positions
        width = COMBINATIONS * (1 if symmetric else 2)
        columns = positions.columns.astype(np.int64) % width
        entries = np.asarray(positions.counts * sign, np.float64)
        self.matrix = Matrix.summed(positions.starts, columns, entries, width)
        turn = np.zeros_like(positions.side) if symmetric else positions.side
        self.mask = positions.mask.astype(np.int64) + MASKS * turn.astype(np.int64)
        self.result = positions.result.astype(np.float64)
        seen = chance(positions.value.astype(np.float64), scale)
        self.target = blend(positions.side, positions.result, positions.game, seen, mix)

    def values(self, tables: ValueTables) -> Vector:
        """Return the evaluation of each position, not rounded."""
        cells = self.matrix.times(tables.values.ravel())
        return np.asarray(cells + tables.threats.ravel()[self.mask])

    def spread(self, tables: ValueTables) -> float:
        """Return how far the values of positions without threats lie from their mean."""
        quiet = self.mask % MASKS == 0
        return float(self.values(tables)[quiet].std()) if quiet.any() else 0.0

    def losses(self, tables: ValueTables, scale: float | None = None) -> ValueLosses:
        """Return the losses at a scale, or at the best one."""
        return losses_of(self.values(tables), self.target, self.result, scale)


def learn_values(
    data: ValueData,
    start: ValueTables,
    scale: float,
    strength: float,
    steps: int,
    watch: Callable[[int, float], None] = lambda step, loss: None,
) -> ValueTables:
    """Return the tables that predict the targets best at a scale, with the start's spread.

    ``strength`` is how many positions count as one: those of a game are much alike, so the
    pull towards the start is that much stronger.
    """
    cells = Prior(combination_shares(), SHARED_VALUE, OWN_VALUE)
    masks = Prior(mask_shares(), SHARED_THREAT, OWN_THREAT)
    sides = len(start.values)
    ends = np.cumsum([cells.length] * sides + [masks.length] * sides)

    def tables_of(numbers: Vector) -> ValueTables:
        parts = np.split(numbers, ends[:-1])
        return ValueTables(
            start.values + np.array([cells.spread(part) for part in parts[:sides]]),
            start.threats + np.array([masks.spread(part) for part in parts[sides:]]),
        )

    def loss(numbers: Vector) -> tuple[float, Vector]:
        tables = tables_of(numbers)
        odds = data.values(tables) / scale
        error = (chance(odds, 1.0) - data.target) / scale
        of_values = data.matrix.times_transposed(error).reshape(sides, -1)
        of_threats = np.asarray(np.bincount(data.mask, error, sides * MASKS), float)
        gathered = [cells.gather(row) for row in of_values] + [
            masks.gather(row) for row in of_threats.reshape(sides, -1)
        ]
        gradient = np.concatenate(gathered) / strength + numbers
        total = float(log_loss(odds, data.target).sum()) / strength + float(numbers @ numbers) / 2
        share = strength / len(data.mask)
        return total * share, gradient * share

    numbers = minimise(loss, np.zeros(ends[-1]), steps, watch=watch)
    learned = tables_of(numbers)
    factor = data.spread(start) / max(data.spread(learned), 1.0)
    return ValueTables(
        np.clip(np.rint(learned.values * factor), -VALUE_LIMIT, VALUE_LIMIT),
        np.clip(np.rint(learned.threats * factor), -THREAT_LIMIT, THREAT_LIMIT),
    )
