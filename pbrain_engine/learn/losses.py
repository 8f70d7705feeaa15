"""What a value and a choice of moves lose on what came out, and the targets of the value.

A value divided by its *scale* is the logarithm of the odds that the side to move wins.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Vector = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]  # float32 or float64
LEAST_SCALE, MOST_SCALE = 40.0, 1000.0
NEWTON_STEPS = 12


def chance(value: Vector, scale: float) -> Vector:
    """Return the chance of winning that a value means."""
    return np.asarray(1 / (1 + np.exp(-np.clip(value / scale, -40, 40))))


def log_loss(odds: Vector, target: Floats) -> Vector:
    """Return the loss of each prediction, given as logarithm of the odds."""
    return np.asarray(np.logaddexp(0, odds) - target * odds)


def best_scale(value: Vector, target: Vector) -> float:
    """Return the scale, 40 to 1,000, with which values predict a target best.

    The loss is convex in one over the scale, and its slope concave: Newton's method from the
    smallest approaches the minimum from one side.
    """
    share = 1 / MOST_SCALE
    for _ in range(NEWTON_STEPS):
        likely = chance(value, 1 / share)
        slope = float(((likely - target) * value).mean())
        curvature = float((likely * (1 - likely) * value**2).mean())
        share = min(max(share - slope / max(curvature, 1e-9), 1 / MOST_SCALE), 1 / LEAST_SCALE)
    return 1 / share


def blend(
    side: NDArray[np.int16], results: NDArray[np.float32], game: NDArray[np.int32],
    chances: Vector, mix: float,
) -> Vector:  # fmt: skip
    """Return the targets: at each position the search's chance, mixed with the target after it.

    Positions stand in the order of their games, with the side to move (0 black, 1 white), its
    score in the end and the number of the game. ``mix`` is the share of what came after; at the
    end of a game that is its result, or what the search saw where it is unknown (NaN).
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


class Choices(NamedTuple):
    """Positions whose move is among their candidates, and the logits of all of these."""

    positions: Ints  # [choices], which of the positions asked about
    starts: Ints  # [choices + 1], where the candidates of each begin
    chosen: Ints  # [choices], the place of the move among all candidates
    logits: Vector  # [candidates]

    def entropies(self) -> Vector:
        """Return the cross-entropy of each move."""
        tops = np.maximum.reduceat(self.logits, self.starts[:-1])
        powers = np.exp(self.logits - np.repeat(tops, np.diff(self.starts)))
        sums = np.add.reduceat(powers, self.starts[:-1])
        return np.asarray(np.log(sums) + tops - self.logits[self.chosen])

    def firsts(self) -> NDArray[np.bool_]:
        """Return where every other logit is below that of the move."""
        best = np.repeat(self.logits[self.chosen], np.diff(self.starts))
        return np.asarray(np.add.reduceat((self.logits >= best) * 1, self.starts[:-1]) == 1)
