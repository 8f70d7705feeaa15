"""How well weights predict games, or searches of branches, that they have not learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..eval.weights import FAMILIES, Weights
from ..position.rules import Rule
from .losses import best_scale, log_loss
from .network.dataset import Dataset
from .network.forward import SCORE_SCALE
from .network.judging import judge, linear
from .network.reading import read_datasets

MIX = 0.7  # share of what came after in the targets of the value


class Measure(NamedTuple):
    """The mean losses of weights on the games of a family, at the scale that suits them best."""

    weights: str
    family: str
    positions: int  # that have a value to predict
    target: float
    result: float  # NaN where nothing has a result
    entropy: float  # of the move
    first: float  # share of the moves that no other is above


def measure(files: Iterable[Path], weights: Sequence[Weights]) -> list[Measure]:
    """Return the losses of weights on the games of some files, by family.

    Of weights with a network for the family it is the network that is asked. Branches count
    with what their searches said.
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
            values, logits = linear(dataset, every)
            logits = logits / SCORE_SCALE
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
            f"{each.family:10} {each.weights:10} {each.positions:9} {each.target:10.4f} "
            f"{each.result:10.4f} {each.entropy:8.4f} {each.first:6.1%}"
        )
    return "\n".join(lines)
