"""How well weights foretell games, or searches of branches, that they have not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

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


def hear(pools: Sequence[PositionPool], say: Say, usual_scale: float) -> Forecast:
    """Return what is said about all positions."""
    heard: list[tuple[Any, ...]] = []
    choices: list[tuple[CandidateBlock, Vector]] = []
    for pool in pools:
        every = np.arange(len(pool))
        said, opens = say(pool, every), pool.opens("open")
        target = pool.targets(MIX, pool.search_scale(usual_scale), "open")
        heard.append((said.values[opens], target[opens], pool.results[opens]))
        choices.append(pool.choices(every, said.logits)[1:])
    values, targets, results = (
        np.concatenate(each).astype(np.float64) for each in zip(*heard, strict=True)
    )
    return Forecast(values, targets, results, choices)


class Forecast(NamedTuple):
    """What was said about positions, and what came out."""

    value: Vector
    target: Vector
    result: Vector  # NaN where there is none
    choices: list[tuple[CandidateBlock, Vector]]  # and the logits of the candidates

    def values(self) -> ValueLosses:
        """Return the losses of the values at the scale that suits them."""
        return losses_of(self.value, self.target, self.result)

    def scores(self, temperature: float | None) -> ScoreLosses:
        """Return the losses of the logits, at a temperature or at the one that suits them."""

        def entropy(used: float) -> float:
            losses = [block.chances(logits / used)[1] for block, logits in self.choices]
            return float(np.concatenate(losses).mean())

        used = minimise_scale(entropy, *TEMPERATURES) if temperature is None else temperature
        rank = np.concatenate([block.ranks(logits) for block, logits in self.choices])
        return ScoreLosses(entropy(used), float(rank.mean()), float((rank == 1).mean()))


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
