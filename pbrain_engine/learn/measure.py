"""How well weights foretell games that they have not learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..eval.weights import FAMILIES, Weights
from ..position.rules import Rule
from ..values import WIN_BAND
from .features import by_family, read_features
from .fit import MIX, RULE_BOUND, Start
from .records import read_games
from .score_model import ScoreData, ScoreLosses, best_temperature
from .value_model import ValueData, ValueLosses, ValueTables, best_scale


class Measure(NamedTuple):
    """What some weights say of the games of one family: each at its best scale."""

    weights: str
    family: str
    positions: int
    value: ValueLosses
    score: ScoreLosses


def measure(files: Iterable[Path], weights: Sequence[Weights]) -> list[Measure]:
    """Return the losses of weights on the games of some files, by family."""
    found = []
    games = by_family(chain.from_iterable(map(read_games, files)))
    for family in FAMILIES:
        positions, choices = read_features(games.get(family, []))
        if not len(positions) or not len(choices):
            continue
        symmetric = family != RULE_BOUND
        undecided = np.abs(positions.value.astype(np.int64)) < WIN_BAND
        search_scale = best_scale(
            positions.value[undecided].astype(np.float64),
            positions.result[undecided].astype(np.float64),
        )
        seen = ValueData(positions, symmetric, MIX, search_scale)
        chosen = ScoreData(choices, symmetric)
        for each in weights:
            start = Start.of(each.block(Rule.parse(family)), symmetric)
            value = seen.losses(ValueTables(start.values, start.threats))
            score = chosen.losses(start.scores, best_temperature(chosen, start.scores))
            found.append(Measure(each.id, family, len(positions), value, score))
    return found


def table(measures: Iterable[Measure]) -> str:
    """Return the measures as a table."""
    head = (
        "family",
        "weights",
        "positions",
        "value loss",
        "on results",
        "entropy",
        "rank",
        "first",
    )
    lines = ["{:10} {:10} {:>9} {:>10} {:>10} {:>8} {:>6} {:>6}".format(*head)]
    for each in measures:
        lines.append(
            f"{each.family:10} {each.weights:10} {each.positions:9} {each.value.target:10.4f} "
            f"{each.value.result:10.4f} {each.score.entropy:8.4f} {each.score.rank:6.2f} "
            f"{each.score.first:6.1%}"
        )
    return "\n".join(lines)
