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
from .network.pool import PositionPool, judge, linear, read_pools
from .network.position_loops import SCORE_SCALE

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
            pools = read_pools(paths, [], family, each)
            if sum(map(len, pools)):
                found.append(measure_pools(pools, family, each))
    return found


def measure_pools(pools: Sequence[PositionPool], family: str, weights: Weights) -> Measure:
    """Return the losses of weights on positions of a family."""
    usual_scale = weights.scale(Rule.parse(family))
    outcomes, entropies, firsts = [], [], []
    for pool in pools:
        every, opens = np.arange(len(pool)), pool.opens("open")
        target = pool.targets(MIX, pool.search_scale(usual_scale), "open")
        if family in weights.streams:
            values, logits = judge(weights, family, pool, every)
        else:
            values, logits = linear(pool, every)
            logits = logits / SCORE_SCALE
        outcomes.append(np.stack([values, target, pool.results])[:, opens].astype(np.float64))
        choices = pool.choices(every, logits)
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
