"""The network as it is described, in plain Python numbers: slow, and read from the file's block.

Nothing is shared with the kernel but the description of the block (``eval.network_block``).
It begins with the stones, and is what both the kernel and the trainer are held against.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import Any

from pbrain_engine.eval.network_block import (
    FEATURE_LIMIT,
    LAYER_LIMIT,
    head_fields,
    shared_fields,
    sizes_of,
)
from tests.oracle.rules import BLACK, BLOCKED, EMPTY, OUTSIDE, WHITE, Board, Cell

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))  # towards the higher places of a line key
BITS = {EMPTY: 3, BLACK: 2, WHITE: 1, BLOCKED: 0, OUTSIDE: 0}
EVAL_LIMIT = 6000

Row = list[int]


@cache
def pattern_numbers(half: int) -> dict[tuple[int, ...], int]:
    """Return the number of each window of neighbours that counts as one of its own.

    A window is its neighbours' bits, lowest place first; nothing is seen behind a wall, and
    of two mirror images the smaller key counts. They are numbered by key.
    """
    sides: list[tuple[int, ...]] = [()]
    arms = []
    for length in range(half + 1):
        arms += [arm + (0,) * (half - length) for arm in sides]
        sides = [(*arm, bits) for arm in sides for bits in (1, 2, 3)]
    windows = ((*reversed(low), *high) for low in arms for high in arms)
    canonical = {min(window, window[::-1], key=key_of) for window in windows}
    return {window: number for number, window in enumerate(sorted(canonical, key=key_of))}


def key_of(window: Sequence[int]) -> int:
    """Return the line key of a window."""
    return sum(bits << (2 * place) for place, bits in enumerate(window))


def limit(number: int, low: int, high: int) -> int:
    """Return a number clamped between ``low`` and ``high``."""
    return max(low, min(number, high))


def third(place: int, length: int) -> int:
    """Return the third of the board that a row or column belongs to."""
    part = -(-length // 3)
    return 0 if place < part else 2 if place >= length - part else 1


def near_class(dx: int, dy: int) -> int:
    """Return the class of a distance."""
    longer, shorter = max(abs(dx), abs(dy)), min(abs(dx), abs(dy))
    return 0 if longer > 7 else 1 + longer * (longer + 1) // 2 + shorter


class Network:
    """A network as stored in a file."""

    def __init__(self, raw: bytes) -> None:
        """Read a block."""
        self.sizes = sizes_of(raw)
        at = 64

        def read(fields: Any) -> dict[str, Row]:
            nonlocal at
            found = {}
            for field in fields:
                found[field.name] = list(array(field.kind, raw[at : at + field.bytes]))
                at += field.bytes
            return found

        self.shared = read(shared_fields(self.sizes))
        self.heads = [read(head_fields(self.sizes)) for _ in range(self.sizes.heads)]

    def vector(self, window: tuple[int, ...]) -> Row:
        """Return the vector of a window, black's channels first."""
        half = self.sizes.half
        low, high = list(window[:half][::-1]), list(window[half:])
        for arm in (low, high):
            if 0 in arm:
                arm[arm.index(0) :] = [0] * (half - arm.index(0))
        seen = (*reversed(low), *high)
        seen = min(seen, seen[::-1], key=key_of)
        code = self.shared["codes"][pattern_numbers(half)[seen]]
        width = len(self.shared["book"]) // self.sizes.codes
        found = self.shared["book"][code * width : (code + 1) * width]
        if self.sizes.tied:
            twin = self.shared["swap"][code]
            found = found + self.shared["book"][twin * width : (twin + 1) * width]
        return found

    def features(self, board: Board, side: int) -> dict[Cell, Row]:
        """Return the features of the empty cells as a side sees them."""
        half = self.sizes.half
        places = [place for place in range(-half, half + 1) if place]
        found = {}
        for x, y in board.empties():
            total = [0] * self.sizes.channels
            for dx, dy in DIRECTIONS:
                window = tuple(BITS[board.at((x + p * dx, y + p * dy))] for p in places)
                total = [a + b for a, b in zip(total, self.vector(window), strict=True)]
            row = [limit(number, 0, FEATURE_LIMIT) for number in total]
            middle = len(row) // 2
            found[x, y] = row if side == BLACK else row[middle:] + row[:middle]
        return found

    def layer(
        self, side: int, name: str, inputs: Row, shift: int, low: int = 0, more: Sequence[int] = ()
    ) -> Row:
        """Return the outputs of a layer; ``more`` is added before clamping."""
        head = self.heads[side if len(self.heads) == 2 else 0]
        weights, biases = head[f"{name}_weights"], head[f"{name}_biases"]
        outputs = []
        for number, bias in enumerate(biases):
            row = weights[number * len(inputs) : (number + 1) * len(inputs)]
            total = bias + sum(w * i for w, i in zip(row, inputs, strict=True))
            assert -(2**31) <= total < 2**31
            outputs.append(
                limit((total >> shift) + sum(more[number : number + 1]), low, LAYER_LIMIT)
            )
        return outputs

    def trunk(self, board: Board, features: dict[Cell, Row], side: int, mask: int) -> Row:
        """Return the trunk, shared by value and policy."""
        head = self.heads[side if len(self.heads) == 2 else 0]
        shifts, channels = head["shifts"], self.sizes.channels
        sums = [[0] * channels for _ in range(9)]
        for (x, y), row in features.items():
            region = 3 * third(y, board.height) + third(x, board.width)
            sums[region] = [a + b for a, b in zip(sums[region], row, strict=True)]
        pooled = [0] * self.sizes.region_units
        for row in sums:
            outputs = self.layer(side, "region", [number >> 3 for number in row], shifts[0])
            pooled = [a + b for a, b in zip(pooled, outputs, strict=True)]
        whole = [sum(column) >> 5 for column in zip(*sums, strict=True)]
        inputs = [min(number, LAYER_LIMIT) for number in whole]
        inputs += [min(number >> shifts[1], LAYER_LIMIT) for number in pooled]
        units = self.sizes.trunk_units
        threats = head["trunk_threats"][mask * units : (mask + 1) * units]
        return self.layer(side, "trunk", inputs, shifts[2], more=threats)

    def value(self, trunk: Row, side: int, linear: int) -> int:
        """Return the value for the side to move."""
        head = self.heads[side if len(self.heads) == 2 else 0]
        shifts = head["shifts"]
        hidden = self.layer(side, "value", trunk, shifts[3])
        total = head["last_bias"][0]
        total += sum(w * h for w, h in zip(head["last_weights"], hidden, strict=True))
        value = ((linear * shifts[10]) >> 8) + (total >> shifts[4])
        return limit(value, -EVAL_LIMIT, EVAL_LIMIT)

    def logit(
        self,
        features: dict[Cell, Row],
        trunk: Row,
        side: int,
        cell: Cell,
        score: int,
        last: Sequence[Cell | None],
    ) -> int:
        """Return the logit of a move; ``last``: the enemy's last stone, and the own."""
        head = self.heads[side if len(self.heads) == 2 else 0]
        shifts, channels = head["shifts"], self.sizes.channels
        direct = self.layer(side, "direct", trunk, shifts[5], -LAYER_LIMIT)
        shift = self.layer(side, "shift", trunk, shifts[6], -LAYER_LIMIT)
        scale = self.layer(side, "scale", trunk, shifts[7], -LAYER_LIMIT)
        nothing = [0] * channels
        x, y = cell
        own = features[cell]
        around = []
        for steps in (((0, 1), (0, -1), (1, 0), (-1, 0)), ((1, 1), (1, -1), (-1, 1), (-1, -1))):
            rows = [features.get((x + dx, y + dy), nothing) for dx, dy in steps]
            around.append([sum(column) for column in zip(*rows, strict=True)])
        weights = head["neighbours"]
        mixed = [
            ((own[i] * 8 * weights[i]) >> 16)
            + ((around[0][i] * 2 * weights[channels + i]) >> 16)
            + ((around[1][i] * 2 * weights[2 * channels + i]) >> 16)
            for i in range(channels)
        ]
        total = sum(d * f for d, f in zip(direct, own, strict=True))
        for number in range(self.sizes.cell_units):
            row = head["cell_weights"][number * channels : (number + 1) * channels]
            hidden = sum(w * m for w, m in zip(row, mixed, strict=True)) >> shifts[8]
            total += limit(hidden + shift[number], 0, LAYER_LIMIT) * scale[number]
        logit = (total >> shifts[9]) + ((score * shifts[11]) >> 8)
        for kind, stone in enumerate(last):
            where = near_class(x - stone[0], y - stone[1]) if stone else 0
            logit += head["near"][kind * self.sizes.near + where]
        return limit(logit, -32767, 32767)
