"""How well weights foretell games, or searches of branches, that they have not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..eval.weights import FAMILIES, Weights
from ..position.rules import Rule
from .fit import MIX, RULE_BOUND
from .minimise import Vector, minimise_scale
from .network.batches import NO_CHOICE, Batch, Source, pools_of
from .network.lessons import Lessons, prepare
from .network.patterns import half_of, patterns
from .network.reference import LOGIT_UNIT, forward, unpack
from .score_model import TEMPERATURES, Candidates, ScoreLosses
from .value_model import ValueLosses, losses_of

AT_ONCE = 1024  # positions
Ints = NDArray[np.int64]
Say = Callable[[Batch], tuple[Vector, Vector]]  # the values of positions, the logits of candidates


class Measure(NamedTuple):
    """What some weights say of the games of one family: each at its best scale."""

    weights: str
    family: str
    positions: int  # that have a value to foretell
    value: ValueLosses
    score: ScoreLosses


class Said(NamedTuple):
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
        each = Candidates(self.starts, empty, empty, self.chosen)

        def entropy(used: float) -> float:
            return float(each.chances(self.logits / used)[1].mean())

        used = minimise_scale(entropy, *TEMPERATURES) if temperature is None else temperature
        rank = each.ranks(self.logits)
        return ScoreLosses(entropy(used), float(rank.mean()), float((rank == 1).mean()))


def linear_say(batch: Batch) -> tuple[Vector, Vector]:
    """Say what the linear evaluation and the linear move score say."""
    return batch.linear.astype(np.float64), batch.scores.astype(np.float64)


def network_say(raw: bytes) -> Say:
    """Return what says what a network says."""
    block = unpack(raw)

    def say(batch: Batch) -> tuple[Vector, Vector]:
        values, logits = forward(block, batch)
        return values.astype(np.float64), logits / LOGIT_UNIT

    return say


def batches_of(lessons: Lessons, targets: NDArray[np.float32], family: str) -> Iterator[Batch]:
    """Yield all positions in batches; where sides differ each batch has one side to move."""
    tied = family != RULE_BOUND
    source = Source(lessons, targets, patterns(half_of(family)), tied)
    for pool in pools_of(lessons, np.ones(len(lessons), bool), tied):
        for first in range(0, len(pool), AT_ONCE):
            yield source.batch(pool[first : first + AT_ONCE])


def hear(lessons: Sequence[Lessons], family: str, say: Say, usual_scale: float) -> Said:
    """Return what was said about all positions."""
    value, target, result, lengths, logits, chosen = ([] for _ in range(6))
    total = 0
    for each in lessons:
        targets = each.targets(MIX, each.search_scale(usual_scale))
        for batch in batches_of(each, targets, family):
            values, said = say(batch)
            value.append(values[batch.open])
            target.append(batch.target[batch.open].astype(np.float64))
            result.append(batch.result[batch.open].astype(np.float64))
            counts = np.bincount(batch.rows, minlength=len(batch))
            picks = batch.chosen != NO_CHOICE
            kept = said[picks[batch.rows]]
            starts = np.cumsum(counts) - counts
            new_starts = np.cumsum(counts[picks]) - counts[picks]
            lengths.append(counts[picks])
            logits.append(kept)
            chosen.append(total + new_starts + (batch.chosen - starts)[picks])
            total += len(kept)
    starts = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    values, wanted, results = (np.concatenate(each) for each in (value, target, result))
    return Said(values, wanted, results, starts, np.concatenate(logits), np.concatenate(chosen))


def measure(files: Iterable[Path], weights: Sequence[Weights]) -> list[Measure]:
    """Return the losses of weights on the games of some files, by family.

    Of weights with a network for the family it is the network that is asked. Branches count
    with what their searches said; where a family has nothing else there is no loss on results.
    """
    paths, found = list(files), []
    for family in FAMILIES:
        rule = Rule.parse(family)
        for each in weights:
            with TemporaryDirectory() as folder:
                lessons = prepare(paths, [], family, each, Path(folder) / family)
                if not sum(map(len, lessons)):
                    break
                raw = each.network(rule)
                say = linear_say if raw is None else network_say(raw)
                said = hear(lessons, family, say, each.scale(rule))
                del lessons  # the files under it go
            score = said.scores(None if raw is None else 1.0)
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
