"""Learning the value: a logistic regression of how games end on what the evaluation sees.

The evaluation divided by its scale is the logarithm of the odds of winning. The target mixes
the result of the game with the chance that the search saw. Where black and white play by the
same rules they share one table, seen from the other side.

A learned table is its start plus a few *shared* numbers, one a line shape, a pair of line
shapes or a class of cells, plus an *own* number for each entry. Both are drawn towards zero, the
shared ones less, so an entry that few games show follows its relatives, and one that none
shows stays near its start (``Prior``). What is learned makes a smooth function as small as it gets.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations as pairs_of
from itertools import count
from math import exp, log, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize, minimize_scalar
from scipy.sparse import csr_array

from ..eval.weights import COMBINATIONS, MASKS
from ..patterns.shapes import CELL_CLASSES, LINE_SHAPES
from .features import Positions
from .hand import class_of_lines, combinations, is_foul

Vector = NDArray[np.float64]
Function = Callable[[Vector], tuple[float, Vector]]  # point -> value and gradient

MEMORY = 12  # steps that the curvature is guessed from
Table = NDArray[np.float64]
Array = NDArray[Any]
SCALES = (40.0, 1000.0)  # where the scale of a logistic unit is looked for
VALUE_LIMIT, THREAT_LIMIT = 2000, 3000  # far inside int16, and of the evaluation's range
SHARED_VALUE, OWN_VALUE = 4.0, 3.0  # expected sizes of what is learned (``Prior``)
SHARED_THREAT, OWN_THREAT = 60.0, 25.0


def minimise(
    function: Function,
    start: Vector,
    steps: int = 150,
    tolerance: float = 1e-7,
    watch: Callable[[int, float], None] = lambda step, value: None,
) -> Vector:
    """Minimise a function with at most ``steps`` steps of L-BFGS; return the point.

    It ends earlier where a step gains less than ``tolerance`` of the value. ``watch`` gets the
    number of each step and the value there.
    """
    numbers = count(1)

    def report(intermediate_result: OptimizeResult) -> None:
        watch(next(numbers), float(intermediate_result.fun))

    options = {"maxiter": steps, "maxcor": MEMORY, "ftol": tolerance, "gtol": 0.0}
    found = minimize(function, start, jac=True, method="L-BFGS-B", callback=report, options=options)
    return np.asarray(found.x)


def minimise_scale(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of a scale with one valley is smallest, to a thousandth."""
    bounds = log(low), log(high)
    found = minimize_scalar(
        lambda x: function(exp(x)), bounds=bounds, method="bounded", options={"xatol": 1e-3}
    )
    return exp(float(found.x))


MASK_BITS = 11


class Prior(NamedTuple):
    """How an entry of a table follows from the numbers that are learned."""

    shares: NDArray[np.float64]  # entry, shared number -> how often it counts
    shared: float  # expected size of a shared number
    own: float  # expected size of an entry's own number

    @property
    def length(self) -> int:
        """How many numbers are learned for one table."""
        return sum(map(int, self.shares.shape))

    def spread(self, numbers: Vector) -> Vector:
        """Return the change of each entry that the learned numbers, in their sizes, make."""
        count = self.shares.shape[1]
        return self.shares @ (self.shared * numbers[:count]) + self.own * numbers[count:]

    def gather(self, gradient: Vector) -> Vector:
        """Return the gradient by the learned numbers from the one by the entries."""
        return np.concatenate((self.shared * (gradient @ self.shares), self.own * gradient))


def combination_shares() -> NDArray[np.float64]:
    """Return which line shapes, pairs of them and class each combination has."""
    pairs_in_order = [(a, b) for b in range(LINE_SHAPES) for a in range(b + 1)]
    pair_number = {pair: number for number, pair in enumerate(pairs_in_order)}
    rows = []
    for lines in combinations():
        shapes = np.bincount(lines, minlength=LINE_SHAPES).astype(float)
        pairs = np.zeros(len(pair_number))
        for a, b in pairs_of(lines, 2):
            pairs[pair_number[min(a, b), max(a, b)]] += 1
        classes = np.zeros(CELL_CLASSES + 1)
        classes[class_of_lines(lines)] = 1
        classes[CELL_CLASSES] = is_foul(lines)
        rows.append(np.concatenate((shapes, pairs, classes)))
    return np.array(rows)


class FamilyTables(NamedTuple):
    """A family's weights as tables of numbers."""

    values: NDArray[np.float64]
    threats: NDArray[np.float64]
    scores: NDArray[np.float64]

    @classmethod
    def of(cls, raw: bytes, symmetric: bool) -> FamilyTables:
        """Return the tables of a block; black's alone where both sides share them."""
        numbers = np.frombuffer(raw, np.int16).astype(np.float64)
        ends = np.cumsum([2 * COMBINATIONS, 2 * MASKS])
        values, threats, scores = np.split(numbers, ends)
        sides = slice(0, 1 if symmetric else 2)
        return cls(
            values.reshape(2, -1)[sides],
            threats.reshape(2, -1)[sides],
            scores.reshape(2, 2, -1)[sides],
        )

    def block(self) -> bytes:
        """Return the tables as they are written, for both sides."""
        both = [np.concatenate([table] * (2 // len(table))).ravel() for table in self]
        return np.concatenate(both).astype(np.int16).tobytes()


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
    end of a game that is its result, or what the search saw where there is none (NaN).
    """
    black = side == 0
    seen = np.where(black, chances, 1 - chances)
    end = np.where(black, results, 1 - results)
    ends = np.append(np.flatnonzero(game[1:] != game[:-1]), len(game) - 1)
    to_end = np.repeat(ends, np.diff(ends, prepend=-1)) - np.arange(len(game))
    targets = (1 - mix) * seen + mix * np.where(np.isnan(end), seen, end)
    order = np.argsort(to_end, kind="stable")
    for these in np.split(order, np.cumsum(np.bincount(to_end))[:-1])[1:]:
        targets[these] = (1 - mix) * seen[these] + mix * targets[these + 1]
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
        entries = np.asarray(positions.counts * sign, np.float32)
        shape = len(positions), width
        self.matrix = csr_array((entries, columns, positions.starts), shape)
        self.matrix.sum_duplicates()
        self.matrix.eliminate_zeros()
        turn = np.zeros_like(positions.side) if symmetric else positions.side
        self.mask = positions.mask.astype(np.int64) + MASKS * turn.astype(np.int64)
        self.result = positions.result.astype(np.float64)
        seen = chance(positions.value.astype(np.float64), scale)
        self.target = blend(positions.side, positions.result, positions.game, seen, mix)

    def values(self, tables: FamilyTables) -> Vector:
        """Return the evaluation of each position, not rounded."""
        cells = self.matrix @ tables.values.ravel()
        return np.asarray(cells + tables.threats.ravel()[self.mask])

    def spread(self, tables: FamilyTables) -> float:
        """Return how far the values of positions without threats lie from their mean."""
        quiet = self.mask % MASKS == 0
        return float(self.values(tables)[quiet].std()) if quiet.any() else 0.0

    def losses(self, tables: FamilyTables, scale: float | None = None) -> ValueLosses:
        """Return the losses at a scale, or at the best one."""
        return losses_of(self.values(tables), self.target, self.result, scale)


def learn_values(
    data: ValueData,
    start: FamilyTables,
    scale: float,
    strength: float,
    steps: int,
    watch: Callable[[int, float], None] = lambda step, loss: None,
) -> FamilyTables:
    """Return the tables that predict the targets best at a scale, with the start's spread.

    ``strength`` is how many positions count as one: those of a game are much alike, so the
    pull towards the start is that much stronger.
    """
    cells = Prior(combination_shares(), SHARED_VALUE, OWN_VALUE)
    bits = np.arange(MASKS)[:, None] >> np.arange(MASK_BITS) & 1
    masks = Prior(bits.astype(float), SHARED_THREAT, OWN_THREAT)
    sides = len(start.values)
    ends = np.cumsum([cells.length] * sides + [masks.length] * sides)

    def tables_of(numbers: Vector) -> FamilyTables:
        parts = np.split(numbers, ends[:-1])
        return start._replace(
            values=start.values + np.array([cells.spread(part) for part in parts[:sides]]),
            threats=start.threats + np.array([masks.spread(part) for part in parts[sides:]]),
        )

    def loss(numbers: Vector) -> tuple[float, Vector]:
        tables = tables_of(numbers)
        odds = data.values(tables) / scale
        error = (chance(odds, 1.0) - data.target) / scale
        of_values = (error @ data.matrix).reshape(sides, -1)
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
    return start._replace(
        values=np.clip(np.rint(learned.values * factor), -VALUE_LIMIT, VALUE_LIMIT),
        threats=np.clip(np.rint(learned.threats * factor), -THREAT_LIMIT, THREAT_LIMIT),
    )
