"""How well weights predict games, or searches of branches, that they were not trained on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..engine.engine import LOGIT_UNIT
from ..eval.weights import FAMILIES, Weights
from ..game.game import tables_of
from ..native.load import library
from ..native.load.memory import Block
from ..position.geometry import MAX_STONES
from ..position.rules import Rule
from .network.dataset import (
    NEAR_BYTES,
    Dataset,
    Ints,
    Vector,
    best_scale,
    log_loss,
    read_datasets,
)
from .network.forward import SCORE_SCALE


def judge(weights: Weights, family: str, dataset: Dataset, chosen: Ints) -> tuple[Vector, Vector]:
    """Return the network's values of positions, and the logits of all their candidates in turn.

    Positions are in ascending order. WeightsError if there is no such network, or the kernel cannot
    use it.
    """
    kernel = library.load()
    worker = Block(kernel.sizes["worker"])
    evaluator = tables_of(kernel, Rule.parse(family), weights).address
    begins = dataset.at[chosen] - dataset.ply[chosen]  # of their games
    parts = np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(begins)) + 1)
    values, logits = [np.zeros(0, np.int16)], [np.zeros(0, np.int16)]
    for part in parts:
        if not len(part):
            continue
        plies, begin = dataset.ply[chosen[part]], int(begins[part[0]])
        count = int(plies[-1]) + 1
        near = np.zeros((count, NEAR_BYTES), np.uint8)
        near[plies, : dataset.near.shape[1]] = dataset.near[chosen[part]]
        moves = np.ascontiguousarray(dataset.moves[begin : begin + count])
        said, scores = np.empty(count, np.int16), np.empty(count * MAX_STONES, np.int16)
        kernel.game_new(worker.address, evaluator, dataset.width, dataset.height)
        found = kernel.worker_lessons(
            worker.address, evaluator, moves.ctypes.data, count, near.ctypes.data,
            said.ctypes.data, scores.ctypes.data,
        )  # fmt: skip
        values.append(said[plies])
        logits.append(scores[:found].copy())
    worker.close()
    return np.concatenate(values).astype(np.float64), np.concatenate(logits) / LOGIT_UNIT


MIX = 0.7  # weight of later positions and the result in the value targets


class Measure(NamedTuple):
    """The mean losses of weights on the games of a family, at their best scale."""

    weights: str
    family: str
    positions: int  # with a value to predict
    value_loss: float  # on the targets
    on_results: float  # loss of the value; NaN without any results
    move_entropy: float
    first: float  # share of moves with the highest logit


def measure(files: Iterable[Path], weights: Sequence[Weights]) -> list[Measure]:
    """Return the losses of weights on the games of some files, by family.

    If the weights have a network for the family, it is measured, else the linear evaluation.
    Branches count with the results of their searches.
    """
    paths, found = list(files), []
    for family in FAMILIES:
        for each in weights:
            datasets = read_datasets(paths, [], family, each)
            if sum(dataset.size for dataset in datasets):
                found.append(measure_datasets(datasets, family, each))
    return found


def measure_datasets(datasets: Sequence[Dataset], family: str, weights: Weights) -> Measure:
    """Return the losses of weights on positions of a family."""
    usual_scale = weights.scale(Rule.parse(family))
    outcomes, entropies, firsts = [], [], []
    for unlabelled in datasets:
        dataset = unlabelled.with_targets(MIX, unlabelled.search_scale(usual_scale), "open")
        every, opens = np.arange(dataset.size), dataset.opens
        if family in weights.streams:
            values, logits = judge(weights, family, dataset, every)
        else:
            values, logits = dataset.linear.astype(np.float64), dataset.scores / SCORE_SCALE
        said = np.stack([values, dataset.target, dataset.results])[:, opens]
        outcomes.append(said.astype(np.float64))
        choices = dataset.choices(every, logits)
        entropies.append(choices.entropies())
        firsts.append(choices.firsts())
    value, target, result = np.concatenate(outcomes, axis=1)
    odds, known = value / best_scale(value, target), ~np.isnan(result)
    on_results = float(log_loss(odds[known], result[known]).mean()) if known.any() else nan
    return Measure(
        weights.id, family, len(value), float(log_loss(odds, target).mean()), on_results,
        float(np.concatenate(entropies).mean()), float(np.concatenate(firsts).mean()),
    )  # fmt: skip


def table(measures: Iterable[Measure]) -> str:
    """Return the measures as a table."""
    lines = ["family     weights    positions value loss on results  entropy  first"]
    for each in measures:
        lines.append(
            f"{each.family:10} {each.weights:10} {each.positions:9} {each.value_loss:10.4f} "
            f"{each.on_results:10.4f} {each.move_entropy:8.4f} {each.first:6.1%}"
        )
    return "\n".join(lines)
