"""Learning the move score: which of the candidate moves the search will choose.

A softmax over the candidates of a position: the score of a move, its own combination's plus
the enemy's, divided by a temperature, is the logarithm of its chance. The temperature is that
with which the start predicts best and stays, so that scores keep the units which the search
knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..eval.weights import COMBINATIONS
from .features import Choices
from .value_model import Prior, Vector, combination_shares, minimise, minimise_scale

Table = NDArray[np.float64]  # side to move (one row where sides are alike), whose, combination
TEMPERATURES = (1.0, 300.0)
SCORE_LIMIT = 8000
SHARED_SCORE, OWN_SCORE = 4.0, 4.0  # expected sizes of what is learned (``value_model.Prior``)
LITTLE = 10  # a score of next to nothing
BLOCK = 1 << 13  # positions at a time


class ScoreLosses(NamedTuple):
    """How well scores tell the search's move: cross-entropy, its mean rank, how often first."""

    entropy: float
    rank: float
    first: float


class CandidateBlock(NamedTuple):
    """Some positions: places in the table of each candidate's two scores, and the chosen ones."""

    starts: NDArray[np.int64]
    own: NDArray[np.int64]
    enemy: NDArray[np.int64]
    chosen: NDArray[np.int64]

    def logits(self, table: Vector) -> Vector:
        """Return the score of each candidate."""
        return np.asarray(table[self.own] + table[self.enemy])

    def chances(self, logits: Vector) -> tuple[Vector, Vector]:
        """Return each candidate's chance, and the chosen ones' minus logarithms."""
        lengths = np.diff(self.starts)
        tops = np.maximum.reduceat(logits, self.starts[:-1])
        powers = np.exp(logits - np.repeat(tops, lengths))
        sums = np.add.reduceat(powers, self.starts[:-1])
        losses = np.log(sums) + tops - logits[self.chosen]
        return powers / np.repeat(sums, lengths), losses

    def ranks(self, logits: Vector) -> Vector:
        """Return the rank of each chosen one, from 1; equal scores share their ranks."""
        chosen = np.repeat(logits[self.chosen], np.diff(self.starts))
        above = (logits > chosen) + (logits == chosen) / 2
        return np.asarray(np.add.reduceat(above, self.starts[:-1]) + 0.5)


class ScoreData:
    """Choices with the places of their candidates in the table."""

    def __init__(self, choices: Choices, symmetric: bool) -> None:
        """Take the choices; sides that play by the same rules share one table."""
        self._choices = choices
        self.symmetric = symmetric
        self.width = 2 * COMBINATIONS * (1 if symmetric else 2)

    def __len__(self) -> int:
        return len(self._choices)

    def blocks(self) -> Iterator[CandidateBlock]:
        """Yield the positions in pieces that fit the memory."""
        choices = self._choices
        for first in range(0, len(choices), BLOCK):
            last = min(first + BLOCK, len(choices))
            begin, end = int(choices.starts[first]), int(choices.starts[last])
            starts = choices.starts[first : last + 1] - begin
            side = np.repeat(choices.side[first:last], np.diff(starts)).astype(np.int64)
            table = side * 0 if self.symmetric else side * 2 * COMBINATIONS
            own = table + choices.own[begin:end]
            enemy = table + COMBINATIONS + choices.enemy[begin:end]
            yield CandidateBlock(starts, own, enemy, choices.chosen[first:last] - begin)

    def entropy(self, table: Table, temperature: float) -> float:
        """Return the mean cross-entropy of the chosen moves."""
        flat = table.ravel() / temperature
        return sum(float(b.chances(b.logits(flat))[1].sum()) for b in self.blocks()) / len(self)

    def losses(self, table: Table, temperature: float) -> ScoreLosses:
        """Return how well a table tells the chosen moves."""
        flat = table.ravel()
        rank = np.concatenate([block.ranks(block.logits(flat)) for block in self.blocks()])
        entropy = self.entropy(table, temperature)
        return ScoreLosses(entropy, float(rank.mean()), float((rank == 1).mean()))


def best_temperature(data: ScoreData, table: Table) -> float:
    """Return the temperature with which scores predict the choices best."""
    return minimise_scale(lambda t: data.entropy(table, t), *TEMPERATURES)


def keep_zero(data: ScoreData, start: Table, learned: Table) -> Table:
    """Return scores shifted by a number a side so that as many moves score little as at the start.

    A number that is added to all candidates changes no choice, so games do not teach it.
    """
    parts = zip(*((block.own, block.enemy) for block in data.blocks()), strict=True)
    own, enemy = map(np.concatenate, parts)
    shifted = learned.copy()
    for side in range(len(start)):
        here = own // (2 * COMBINATIONS) == side
        before, after = (t.ravel()[own[here]] + t.ravel()[enemy[here]] for t in (start, learned))
        shifted[side, 0] += np.rint(LITTLE - np.quantile(after, (before < LITTLE).mean()))
    return shifted


def learn_scores(
    data: ScoreData,
    start: Table,
    temperature: float,
    strength: float,
    steps: int,
    watch: Callable[[int, float], None] = lambda step, loss: None,
) -> Table:
    """Return the scores that predict the choices best; ``strength`` as in ``learn_values``."""
    prior = Prior(combination_shares(), SHARED_SCORE, OWN_SCORE)
    rows = start.reshape(-1, COMBINATIONS)

    def table_of(numbers: Vector) -> Vector:
        parts = numbers.reshape(len(rows), prior.length)
        return np.asarray(rows + np.array([prior.spread(part) for part in parts])).ravel()

    def loss(numbers: Vector) -> tuple[float, Vector]:
        table = table_of(numbers) / temperature
        total = 0.0
        of_table = np.zeros(data.width)
        for block in data.blocks():
            errors, losses = block.chances(block.logits(table))
            errors[block.chosen] -= 1
            total += float(losses.sum())
            of_table += np.bincount(block.own, errors, data.width)
            of_table += np.bincount(block.enemy, errors, data.width)
        by_row = of_table.reshape(len(rows), -1) / temperature
        gradient = np.concatenate([prior.gather(row) for row in by_row]) / strength + numbers
        share = strength / len(data)
        return (total / strength + float(numbers @ numbers) / 2) * share, gradient * share

    numbers = minimise(loss, np.zeros(len(rows) * prior.length), steps, watch=watch)
    learned = table_of(numbers).reshape(start.shape)
    return np.clip(np.rint(learned), -SCORE_LIMIT, SCORE_LIMIT)
