"""Batches: positions of lessons made ready for a network, and the order in which they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...eval.network_block import NEAR_CLASSES
from .lessons import EMPTY, NO_CELL, NO_SCORE, Lessons
from .patterns import Patterns, patterns_on

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
NO_CHOICE = -1
REACH = 7  # how far away a last stone is seen
THIRDS = 3


class Batch(NamedTuple):
    """Some positions of one size of board, and for untied networks of one side to move.

    Candidates of all positions follow each other; ``starts`` tells where those of each begin.
    """

    height: int
    width: int
    side: int  # to move; 0 where the network is the same for both
    boards: NDArray[np.uint8]  # [positions, height, width], as patterns see them
    last: Ints  # of each position: the cell of the stone before, or NO_CELL
    second: Ints  # the one before that
    patterns: NDArray[np.int32]  # [positions * cells, 4]; see ``patterns_on``
    regions: Ints  # of each cell of a board, 0 to 8
    mask: Ints
    linear: Floats  # the linear evaluation, in its own units
    target: Floats  # the chance to foretell
    result: Floats
    open: NDArray[np.bool_]  # where the value counts
    cells: Ints  # of each candidate: position * cells of a board + cell
    rows: Ints  # of each candidate: its position
    starts: Ints
    scores: Ints  # linear move score of each candidate
    near: Ints  # [2, candidates]: classes of distance from the last two stones
    shares: Floats  # of each candidate, of what the search gave those of its position
    chosen: Ints  # of each position: which candidate was chosen, or NO_CHOICE

    def __len__(self) -> int:
        return len(self.mask)


def third(place: NDArray[np.int64], length: int) -> Ints:
    """Return in which third of a board a row or column lies; the middle one may be smaller."""
    outer = -(-length // THIRDS)
    return np.where(place < outer, 0, np.where(place >= length - outer, 2, 1))


def regions_of(height: int, width: int) -> Ints:
    """Return the region of each cell."""
    y, x = np.divmod(np.arange(height * width), width)
    return THIRDS * third(y, height) + third(x, width)


def distance_class(down: Ints, right: Ints) -> Ints:
    """Return the class of a distance: 0 far away, else by its longer and its shorter part."""
    longer = np.maximum(np.abs(down), np.abs(right))
    shorter = np.minimum(np.abs(down), np.abs(right))
    found = 1 + longer * (longer + 1) // 2 + shorter
    assert NEAR_CLASSES == 1 + (REACH + 1) * (REACH + 2) // 2
    return np.where(longer > REACH, 0, found)


def distance_table(height: int, width: int) -> Ints:
    """Return the class of distance between any two cells of a board."""
    y, x = np.divmod(np.arange(height * width), width)
    return distance_class(y[:, None] - y, x[:, None] - x)


class Source:
    """Lessons with their targets, from which batches are made."""

    def __init__(self, lessons: Lessons, targets: Floats, known: Patterns, tied: bool) -> None:
        """Take the positions of one size of board."""
        self.lessons = lessons
        self.targets = targets
        self._patterns = known
        self.tied = tied
        self.regions = regions_of(lessons.height, lessons.width)

    def batch(self, chosen: Ints) -> Batch:
        """Return the batch of some positions."""
        lessons = self.lessons
        chosen = np.sort(chosen)
        height, width = lessons.height, lessons.width
        side = np.asarray(lessons.side[chosen], np.int64)
        boards = np.asarray(lessons.board[chosen]).reshape(-1, height, width)
        if self.tied:  # seen by the side to move
            turned = np.where(boards == EMPTY, EMPTY, 3 - boards).astype(np.uint8)
            boards = np.where(side[:, None, None] == 1, turned, boards)
        all_scores = np.asarray(lessons.score[chosen])
        rows, cells = np.nonzero(all_scores != NO_SCORE)
        starts = np.searchsorted(rows, np.arange(len(chosen) + 1))
        move = np.asarray(lessons.move[chosen], np.int64)
        is_move = np.flatnonzero(cells == move[rows])
        picked = np.full(len(chosen), NO_CHOICE, np.int64)
        picked[rows[is_move]] = is_move
        shares = np.asarray(lessons.share[chosen])[rows, cells].astype(np.float32)
        sums = np.bincount(rows, shares, len(chosen)).astype(np.float32)
        shares /= np.maximum(sums, 1)[rows]
        last = np.asarray(lessons.last[chosen], np.int64)
        second = np.asarray(lessons.second[chosen], np.int64)
        return Batch(
            height,
            width,
            0 if self.tied else int(side[0]),
            boards,
            last,
            second,
            patterns_on(boards, self._patterns),
            self.regions,
            np.asarray(lessons.mask[chosen], np.int64),
            np.asarray(lessons.linear[chosen], np.float32),
            self.targets[chosen],
            np.asarray(lessons.result[chosen]),
            lessons.open[chosen],
            rows * (height * width) + cells,
            rows,
            starts,
            all_scores[rows, cells].astype(np.int64),
            np.stack([self._near(stone[rows], cells) for stone in (last, second)]),
            shares,
            picked,
        )

    def _near(self, stone: Ints, cells: Ints) -> Ints:
        """Return the class of distance of each candidate from a stone."""
        width = self.lessons.width
        down, right = cells // width - stone // width, cells % width - stone % width
        return np.where(stone == NO_CELL, 0, distance_class(down, right))


def pools_of(lessons: Lessons, wanted: NDArray[np.bool_], tied: bool) -> list[Ints]:
    """Return the wanted positions: all together, or of an untied network by side to move."""
    sides = [wanted] if tied else [wanted & (lessons.side == side) for side in (0, 1)]
    return [np.flatnonzero(side) for side in sides]


class Order:
    """Which positions are taken when: every one once in an epoch, in an order of its own.

    It depends on the seed and the number of the epoch alone, so that a run can go on where
    another one stopped.
    """

    def __init__(self, sources: Sequence[Source], batch: int, seed: int, tied: bool) -> None:
        """Leave out what is held out."""
        self._pools: list[tuple[int, Ints]] = []
        for number, source in enumerate(sources):
            pools = pools_of(source.lessons, ~np.asarray(source.lessons.held), tied)
            self._pools += [(number, pool) for pool in pools if len(pool)]
        self._batch, self._seed = batch, seed
        self.positions = sum(len(pool) for _, pool in self._pools)
        # The remainder of an epoch is left out, unless it is all there is.
        self._counts = [max(1, len(pool) // batch) for _, pool in self._pools]
        self.batches = sum(self._counts)

    def epoch(self, number: int) -> list[tuple[int, Ints]]:
        """Return the batches of an epoch: which source, and which of its positions."""
        chance = np.random.default_rng([self._seed, number])
        found = []
        for (source, pool), count in zip(self._pools, self._counts, strict=True):
            mixed = chance.permutation(pool)
            size = min(self._batch, len(pool))
            found += [(source, mixed[i * size : (i + 1) * size]) for i in range(count)]
        chance.shuffle(found)
        return found

    def after(self, step: int) -> Iterator[tuple[int, Ints]]:
        """Yield the batches that follow so many steps, without end."""
        number, begin = divmod(step, self.batches)
        while True:
            yield from self.epoch(number)[begin:]
            number, begin = number + 1, 0


def held_out(
    sources: Sequence[Source], batch: int, most: int, tied: bool
) -> list[tuple[int, Ints]]:
    """Return batches of the held-out positions, evenly thinned to about so many."""
    pools: list[tuple[int, Ints]] = []
    for number, source in enumerate(sources):
        found = pools_of(source.lessons, np.asarray(source.lessons.held), tied)
        pools += [(number, pool) for pool in found]
    step = max(1, sum(len(pool) for _, pool in pools) // most)
    return [
        (number, pool[::step][i : i + batch])
        for number, pool in pools
        for i in range(0, len(pool[::step]), batch)
    ]
