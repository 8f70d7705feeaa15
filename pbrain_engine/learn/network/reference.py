"""The network in integers, as the kernel computes it, for whole batches in NumPy.

It is what quantisation is measured with, and what the kernel can be compared with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...eval.network_block import (
    FEATURE_LIMIT,
    LAYER_LIMIT,
    Field,
    Sizes,
    head_fields,
    shared_fields,
    sizes_of,
)
from ...values import EVAL_LIMIT
from .batches import Batch

Ints = NDArray[np.int64]
Arrays = dict[str, Ints]
LOGIT_UNIT = 256
LOGIT_LIMIT = 32767
REGION_SHIFT, BOARD_SHIFT = 3, 5
# Of the shifts of a head, in their order; the last two are factors by 2**8.
SHIFT_NAMES = (
    "region", "pool", "trunk", "value", "last", "direct", "shift", "scale", "cell", "logit",
    "linear_share", "score_share",
)  # fmt: skip
_KINDS = {"H": "<u2", "h": "<i2", "i": "<i4"}


class Block(NamedTuple):
    """A network's numbers."""

    sizes: Sizes
    shared: Arrays
    heads: list[Arrays]


def unpack(raw: bytes) -> Block:
    """Return the numbers of a block.

    Raises:
        BlockError: it is no block.
    """
    sizes = sizes_of(raw)
    at = len(sizes.pack())

    def take(fields: list[Field]) -> Arrays:
        nonlocal at
        found = {}
        for field in fields:
            flat = np.frombuffer(raw[at : at + field.bytes], _KINDS[field.kind])
            found[field.name] = flat.reshape(field.shape).astype(np.int64)
            at += field.bytes
        return found

    shared = take(shared_fields(sizes))
    return Block(sizes, shared, [take(head_fields(sizes)) for _ in range(sizes.heads)])


def pack(block: Block) -> bytes:
    """Return the bytes of a block.

    Raises:
        ValueError: an array has another shape, or a number does not fit.
    """
    parts = [block.sizes.pack()]
    groups = [(shared_fields(block.sizes), block.shared)]
    groups += [(head_fields(block.sizes), head) for head in block.heads]
    for fields, arrays in groups:
        for field in fields:
            numbers, kind = arrays[field.name], np.dtype(_KINDS[field.kind])
            limits = np.iinfo(kind)
            if numbers.shape != field.shape:
                raise ValueError(f"{field.name} has shape {numbers.shape}, not {field.shape}")
            if numbers.min() < limits.min or numbers.max() > limits.max:
                raise ValueError(f"{field.name} does not fit {kind.name}")
            parts.append(np.ascontiguousarray(numbers.astype(kind)).tobytes())
    return b"".join(parts)


def vectors_of(block: Block) -> Ints:
    """Return the vector of each pattern, black's channels first, and zeros for none."""
    book = block.shared["book"]
    if block.sizes.tied:
        book = np.concatenate([book, book[block.shared["swap"]]], 1)
    return np.concatenate([book[block.shared["codes"]], np.zeros((1, book.shape[1]), np.int64)])


def _layer(head: Arrays, name: str, inputs: Ints, low: int = 0) -> Ints:
    shift = int(head["shifts"][SHIFT_NAMES.index(name)])
    sums = inputs @ head[f"{name}_weights"].T + head[f"{name}_biases"]
    assert np.abs(sums).max(initial=0) < 1 << 31
    return np.asarray(np.clip(sums >> shift, low, LAYER_LIMIT))


def forward(block: Block, batch: Batch) -> tuple[Ints, Ints]:
    """Return the value of each position, and the logit of each candidate in 1/256."""
    head = block.heads[batch.side if block.sizes.heads == 2 else 0]
    shifts = dict(zip(SHIFT_NAMES, head["shifts"].tolist(), strict=False))
    vectors, half = vectors_of(block), block.sizes.channels // 2
    if batch.side == 1 and not block.sizes.tied:  # patterns of a tied one are turned already
        vectors = np.concatenate([vectors[:, half:], vectors[:, :half]], 1)
    count, area = len(batch), batch.height * batch.width
    sums = sum(vectors[batch.patterns[:, direction]] for direction in range(4))
    features = np.clip(np.asarray(sums), 0, FEATURE_LIMIT)
    of_board = features.reshape(count, area, -1)
    regions = np.stack([of_board[:, batch.regions == r].sum(1) for r in range(9)], 1)

    pooled = _layer(head, "region", regions >> REGION_SHIFT).sum(1)
    board = np.minimum(regions.sum(1) >> BOARD_SHIFT, LAYER_LIMIT)
    seen = np.concatenate([board, np.minimum(pooled >> shifts["pool"], LAYER_LIMIT)], 1)
    sums = (seen @ head["trunk_weights"].T + head["trunk_biases"]) >> shifts["trunk"]
    trunk = np.clip(sums + head["trunk_threats"][batch.mask], 0, LAYER_LIMIT)

    hidden = _layer(head, "value", trunk)
    added = (hidden @ head["last_weights"] + head["last_bias"]) >> shifts["last"]
    linear = batch.linear.astype(np.int64) * shifts["linear_share"] >> 8
    value = np.clip(linear + added, -EVAL_LIMIT, EVAL_LIMIT)

    direct, shift, scale = (
        _layer(head, name, trunk, -LAYER_LIMIT)[batch.rows] for name in ("direct", "shift", "scale")
    )
    own, crosses, corners = neighbours(of_board, batch)
    mixed = sum(
        part * factor * weights >> 16
        for part, factor, weights in zip(
            (own, crosses, corners), (8, 2, 2), head["neighbours"], strict=True
        )
    )
    sums = (mixed @ head["cell_weights"].T) >> shifts["cell"]
    cell = np.clip(sums + shift, 0, LAYER_LIMIT)
    dots = (direct * own).sum(1) + (scale * cell).sum(1)
    logits = (dots >> shifts["logit"]) + (batch.scores * shifts["score_share"] >> 8)
    logits = logits + head["near"][0][batch.near[0]] + head["near"][1][batch.near[1]]
    return value, np.clip(logits, -LOGIT_LIMIT, LOGIT_LIMIT)


def neighbours(boards: Ints, batch: Batch) -> tuple[Ints, Ints, Ints]:
    """Return each candidate's feature, and the sums over its orthogonal and diagonal neighbours."""
    height, width = batch.height, batch.width
    padded = np.zeros((len(batch), height + 2, width + 2, boards.shape[2]), np.int64)
    padded[:, 1:-1, 1:-1] = boards.reshape(len(batch), height, width, -1)
    y, x = np.divmod(batch.cells - batch.rows * height * width, width)

    def at(down: int, right: int) -> Ints:
        return np.asarray(padded[batch.rows, y + 1 + down, x + 1 + right])

    crosses = at(0, 1) + at(0, -1) + at(1, 0) + at(-1, 0)
    return at(0, 0), crosses, at(1, 1) + at(1, -1) + at(-1, 1) + at(-1, -1)
