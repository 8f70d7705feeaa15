"""What the linear evaluation and a network of the engine say of the positions of a dataset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...eval.weights import Weights
from ...game.game import tables_of
from ...native.load import library
from ...native.load.memory import Block
from ...position.geometry import MAX_STONES
from ...position.rules import Rule
from ..losses import Ints
from .dataset import Dataset
from .forward import LOGIT_UNIT
from .reading import NEAR_BYTES


class Judged(NamedTuple):
    """Values for the side to move, and the logits of the candidates of position after position."""

    values: NDArray[np.float64]
    logits: NDArray[np.float64]


def linear(dataset: Dataset, chosen: Ints) -> Judged:
    """Return what the linear evaluation and the linear move score say of positions."""
    counts = dataset.candidates(chosen)
    places = np.repeat(dataset.score_at[chosen] - np.cumsum(counts) + counts, counts)
    places += np.arange(len(places))
    return Judged(
        dataset.linear[chosen].astype(np.float64), dataset.scores[places].astype(np.float64)
    )


def judge(weights: Weights, family: str, dataset: Dataset, chosen: Ints) -> Judged:
    """Return what the network of weights says of positions, given in ascending order.

    Raises:
        WeightsError: there is no such network, or it is not one that the kernel can use.
    """
    kernel = library.load()
    worker = Block(kernel.sizes["worker"])
    evaluator = tables_of(kernel, Rule.parse(family), weights).address
    begins = dataset.at[chosen] - dataset.ply[chosen]  # of their games
    parts = np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(begins)) + 1)
    values, logits = list[NDArray[np.int16]](), list[NDArray[np.int16]]()
    for part in parts:
        if not len(part):
            continue
        plies, begin = dataset.ply[chosen[part]], int(begins[part[0]])
        count = int(plies[-1]) + 1
        near = np.zeros((count, NEAR_BYTES), np.uint8)
        near[plies, : dataset.near.shape[1]] = dataset.near[chosen[part]]
        moves = np.ascontiguousarray(dataset.moves[begin : begin + count])
        said, scores = np.empty(count, np.int16), np.empty(count * MAX_STONES, np.int16)
        found = kernel.worker_lessons(
            worker.address, evaluator, dataset.width, dataset.height, moves.ctypes.data, count,
            near.ctypes.data, said.ctypes.data, scores.ctypes.data,
        )  # fmt: skip
        values.append(said[plies])
        logits.append(scores[:found].copy())
    worker.close()
    none = [np.zeros(0, np.int16)]
    return Judged(
        np.concatenate(values or none).astype(np.float64),
        np.concatenate(logits or none) / LOGIT_UNIT,
    )
