"""How well weights foretell games, or searches of branches, that they have not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..eval.weights import FAMILIES, Weights
from ..position.rules import Rule
from .fit import MIX
from .network.pool import Judged, PositionPool, judge, linear, read_pools
from .score_model import TEMPERATURES, CandidateBlock, ScoreLosses
from .value_model import ValueLosses, Vector, losses_of, minimise_scale

Ints = NDArray[np.int64]
Say = Callable[[PositionPool, Ints], Judged]


class Measure(NamedTuple):
    """What some weights say of the games of one family: each at its best scale."""

    weights: str
    family: str
    positions: int  # that have a value to foretell
    value: ValueLosses
    score: ScoreLosses


class Forecast(NamedTuple):
    """What was said about positions, and what came out."""

    value: Vector
    target: Vector
    result: Vector  # NaN where there is none
    starts: Ints  # of the candidates of each position whose move was one of them
    logits: Vector
    chosen: Ints

    def values(self) -> ValueLosses:
        """Return the losses of the values at the scale that suits them."""
        return losses_of(self.value, self.target, self.result)

    def scores(self, temperature: float | None) -> ScoreLosses:
        """Return the losses of the logits, at a temperature or at the one that suits them."""
        empty = np.zeros(0, np.int64)
        each = CandidateBlock(self.starts, empty, empty, self.chosen)

        def entropy(used: float) -> float:
            return float(each.chances(self.logits / used)[1].mean())

        used = minimise_scale(entropy, *TEMPERATURES) if temperature is None else temperature
        rank = each.ranks(self.logits)
        return ScoreLosses(entropy(used), float(rank.mean()), float((rank == 1).mean()))


def hear(pools: Sequence[PositionPool], say: Say, usual_scale: float) -> Forecast:
    """Return what was said about all positions."""
    value, target, result, lengths, logits, chosen = ([] for _ in range(6))
    total = 0
    for pool in pools:
        every = np.arange(len(pool))
        said = say(pool, every)
        opens = pool.opens("open")
        value.append(said.values[opens])
        target.append(pool.targets(MIX, pool.search_scale(usual_scale), "open")[opens])
        result.append(pool.results[opens].astype(np.float64))
        counts, picks = pool.candidates(every), pool.picks
        logits.append(said.logits[np.repeat(picks, counts)])
        lengths.append(counts[picks])
        begins = total + np.cumsum(counts[picks]) - counts[picks]
        chosen.append(begins + pool.picked(np.flatnonzero(picks)))
        total += len(logits[-1])
    starts = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    return Forecast(
        np.concatenate(value), np.concatenate(target).astype(np.float64), np.concatenate(result),
        starts, np.concatenate(logits), np.concatenate(chosen),
    )  # fmt: skip


def measure(files: Iterable[Path], weights: Sequence[Weights]) -> list[Measure]:
    """Return the losses of weights on the games of some files, by family.

    Of weights with a network for the family it is the network that is asked. Branches count
    with what their searches said; where a family has nothing else there is no loss on results.
    """
    paths, found = list(files), []
    for family in FAMILIES:
        rule = Rule.parse(family)
        for each in weights:
            pools = read_pools(paths, [], family, each)
            if not sum(map(len, pools)):
                break
            known = family in each.streams
            say = partial(judge, each, family) if known else linear
            said = hear(pools, say, each.scale(rule))
            score = said.scores(1.0 if known else None)
            found.append(Measure(each.id, family, len(said.value), said.values(), score))
    return found


def table(measures: Iterable[Measure]) -> str:
    """Return the measures as a table."""
    lines = ["family     weights    positions value loss on results  entropy   rank  first"]
    for each in measures:
        lines.append(
            f"{each.family:10} {each.weights:10} {each.positions:9} {each.value.target:10.4f} "
            f"{each.value.result:10.4f} {each.score.entropy:8.4f} {each.score.rank:6.2f} "
            f"{each.score.first:6.1%}"
        )
    return "\n".join(lines)
