"""Lessons that live on a device: batches are made where they are needed.

What ``batches.Source`` does with NumPy for any processor, with torch; so a GPU does not wait for
one thread of the processor. Both make the same batches.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from .batches import NO_CHOICE, Source, distance_table
from .lessons import EMPTY, NO_CELL, NO_SCORE, Lessons
from .model import Inputs
from .patterns import DIRECTIONS, Patterns

# The columns of lessons that a batch needs.
COLUMNS = (
    "board", "score", "mask", "linear", "side", "share", "move", "last", "second", "result",
)  # fmt: skip


class Resident:
    """The positions of one size of board, with all that batches are made of, on a device."""

    def __init__(self, source: Source, known: Patterns, device: torch.device) -> None:
        """Copy them there: about 900 bytes a position on a board of 15x15."""

        def there(array: NDArray[np.generic]) -> Tensor:
            return torch.from_numpy(np.array(array)).to(device)

        lessons: Lessons = source.lessons
        self._height, self._width, self._tied = lessons.height, lessons.width, source.tied
        self._device, self._half = device, known.half
        self._columns = {name: there(getattr(lessons, name)) for name in COLUMNS}
        self._target, self._open = there(source.targets), there(lessons.open)
        self._number, self._swapped = there(known.number), there(known.swapped)
        self._blank, self._regions = known.blank, there(source.regions)
        self._distances = there(distance_table(lessons.height, lessons.width))

    def inputs(self, chosen: NDArray[np.int64]) -> Inputs:
        """Return the batch of some positions."""
        these = torch.from_numpy(np.sort(chosen)).to(self._device)
        column = {name: values[these] for name, values in self._columns.items()}
        count, area = len(these), self._height * self._width
        boards = column["board"].view(count, self._height, self._width)
        if self._tied:  # seen by the side to move
            turned = torch.where(boards == EMPTY, boards, 3 - boards)
            boards = torch.where(column["side"][:, None, None] == 1, turned, boards)
        patterns = self._patterns_on(boards)
        used, place = self._used(patterns)
        rows, cells = torch.nonzero(column["score"] != NO_SCORE, as_tuple=True)
        chooses, picked = self._picked(column["move"].long(), rows, cells, count)
        shares = column["share"][rows, cells].float()
        sums = shares.new_zeros(count).index_add(0, rows, shares)
        last, second = column["last"].long(), column["second"].long()
        near = [self._near(stone[rows], cells) for stone in (last, second)]
        return Inputs(
            self._height,
            self._width,
            0 if self._tied else int(column["side"][0]),
            boards,
            last,
            second,
            place[patterns],
            used,
            place[self._swapped[used]].long(),
            self._regions,
            column["mask"].long(),
            column["linear"].float(),
            self._target[these],
            column["result"],
            self._open[these],
            rows * area + cells,
            rows,
            column["score"][rows, cells].float(),
            torch.stack(near),
            shares / sums.clamp_min(1)[rows],
            picked,
            chooses,
        )

    def _patterns_on(self, boards: Tensor) -> Tensor:
        """Return the four patterns of each cell, as ``patterns.patterns_on`` does."""
        half, (height, width) = self._half, boards.shape[1:]
        padded = functional.pad(boards.int(), (half, half, half, half))
        offsets = [offset for offset in range(-half, half + 1) if offset]
        found = []
        for down, right in DIRECTIONS:
            key = torch.zeros_like(boards, dtype=torch.int32)
            for place, offset in enumerate(offsets):
                y, x = half + down * offset, half + right * offset
                key |= padded[:, y : y + height, x : x + width] << 2 * place
            found.append(torch.where(boards == EMPTY, self._number[key.long()], self._blank + 1))
        return torch.stack(found, -1).view(-1, len(DIRECTIONS)).long()

    def _used(self, patterns: Tensor) -> tuple[Tensor, Tensor]:
        """Return the patterns whose vectors are needed, and the place of each among them."""
        occurs = torch.zeros(self._blank + 2, dtype=torch.bool, device=self._device)
        occurs[patterns.view(-1)] = True
        occurs[self._swapped[occurs[:-1].nonzero().squeeze(1)]] = True
        occurs[self._blank] = True
        used = occurs[:-1].nonzero().squeeze(1)
        place = torch.full_like(occurs, 0, dtype=torch.int32) + len(used)
        place[used] = torch.arange(len(used), dtype=torch.int32, device=self._device)
        return used, place

    def _picked(
        self, move: Tensor, rows: Tensor, cells: Tensor, count: int
    ) -> tuple[Tensor, Tensor]:
        """Return of each position whether a candidate was chosen, and which one, or 0."""
        picks = (cells == move[rows]).nonzero().squeeze(1)
        picked = torch.full((count,), NO_CHOICE, dtype=torch.long, device=self._device)
        picked[rows[picks]] = picks
        chooses = picked != NO_CHOICE
        return chooses, torch.where(chooses, picked, 0)

    def _near(self, stone: Tensor, cells: Tensor) -> Tensor:
        """Return the class of distance of each candidate from a stone."""
        known = self._distances[stone.clamp_min(0), cells]
        return torch.where(stone == NO_CELL, 0, known)
