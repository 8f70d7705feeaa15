"""How well weights, without a search, predict positions that have deep labels.

Values and logits are the engine's own integers, as a search asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, log, log1p, nan
from pathlib import Path
from typing import NamedTuple

from ..arena.calibration import Figure, average
from ..engine.engine import LOGIT_UNIT, Engine, Move
from ..errors import FileError
from ..eval.weights import FAMILIES, family_of, scale_of
from ..files import Document
from ..game.record import STAGES, stage_name, stage_of
from ..notation.games import SINGLE, Record, read_about, read_games
from ..values import chance
from .selfplay import set_up_line

ALL = "all"
FIGURES = ("value_above_least", "move_entropy", "first")
KEY = "positions"  # in the head of a file of positions that were searched again


class Labelled(NamedTuple):
    """A position with its deep label."""

    record: Record
    game: tuple[int, int]  # the file and the number in it
    family: str
    stage: int
    chance: float  # of the side to move, 0 to 1


class Assessment(NamedTuple):
    """How well weights predict one label; ``nan`` where they do not say."""

    value_above_least: float  # nats
    move_entropy: float  # nats; nan where they do not list the move
    first: float  # 1 if the move is their first, else 0


class StageRow(NamedTuple):
    """How well weights predict the positions of one family and stage."""

    weights: str
    family: str
    stones: str
    positions: int
    figures: tuple[Figure, ...]  # in the order of FIGURES
    differences: tuple[Figure, ...]  # from those of the first weights; empty for these


def has_deep_labels(paths: Iterable[Path]) -> bool:
    """Return whether files hold positions searched again; FileError if only some do."""
    found = {KEY in read_about(path) for path in paths}
    if len(found) > 1:
        raise FileError("games and positions that were searched again are measured apart")
    return found == {True}


def read_labels(paths: Iterable[Path]) -> Iterator[Labelled]:
    """Yield the positions of files; FileError if one is damaged."""
    for file, path in enumerate(paths):
        about = read_about(path)
        for record in read_games(path):
            if record.ending in SINGLE:
                family = family_of(record.rule)
                deep = chance(record.values[-1], scale_of(about, family))
                stage = stage_of(record.opening)
                yield Labelled(record, (file, record.number), family, stage, deep)


def assess(engine: Engine, labelled: Labelled) -> Assessment:
    """Return how well the engine's weights predict a label."""
    record, game = labelled.record, engine.game
    if (game.width, game.height, game.rule) != (record.width, record.height, record.rule):
        engine.new_game(record.width, record.height, record.rule)
    line = record.cells
    if not set_up_line(engine, line[:-1]):
        raise FileError(f"game {record.number} has a position in which there is no move")
    odds = engine.value() / engine.weights.scale(record.rule)
    deep = labelled.chance
    loss = deep * log1p(exp(-odds)) + (1 - deep) * log1p(exp(odds))
    least = -sum(p * log(p) for p in (deep, 1 - deep) if p > 0)
    logits = {move: logit / LOGIT_UNIT for move, logit in engine.logits().items()}
    wanted = Move(*line[-1])
    if wanted not in logits:
        return Assessment(loss - least, nan, 0.0)
    highest = max(logits.values())
    entropy = log(sum(exp(logit - highest) for logit in logits.values())) + highest
    first = max(logits, key=logits.__getitem__) == wanted
    return Assessment(loss - least, entropy - logits[wanted], float(first))


def measure(paths: Sequence[Path], names: Sequence[str]) -> list[StageRow]:
    """Return how well weights, by name or file, predict files of positions.

    Raises:
        FileError: a file is damaged.
        WeightsError: weights cannot be read.
    """
    labels = list(read_labels(paths))
    assessed: list[tuple[str, list[Assessment]]] = []
    for name in names:
        with Engine(hash_size=1 << 20, weights=name) as engine:
            assessed.append((engine.weights.id, [assess(engine, each) for each in labels]))
    rows = list[StageRow]()
    for family in FAMILIES:
        for stage in (None, *range(len(STAGES))):
            chosen = [
                number
                for number, each in enumerate(labels)
                if each.family == family and stage in (None, each.stage)
            ]
            if chosen:
                stones = ALL if stage is None else stage_name(stage)
                rows += _rows(assessed, chosen, [labels[n].game for n in chosen], family, stones)
    return rows


def _rows(
    assessed: Sequence[tuple[str, list[Assessment]]],
    chosen: Sequence[int],
    games: Sequence[tuple[int, int]],
    family: str,
    stones: str,
) -> Iterator[StageRow]:
    first = assessed[0][1]
    for number, (weights, found) in enumerate(assessed):
        each = range(len(FIGURES))
        figures = tuple(average([found[n][i] for n in chosen], games) for i in each)
        differences = tuple(
            average([found[n][i] - first[n][i] for n in chosen], games) for i in each if number
        )
        yield StageRow(weights, family, stones, len(chosen), figures, differences)


def form(row: StageRow) -> Document:
    """Return a row as JSON has it: a figure, and its standard error as ``FIGURE_se``.

    Where the weights are not the first, ``FIGURE_difference`` is how much more it is than theirs.
    """
    document: Document = row._asdict()
    del document["figures"], document["differences"]
    for key, means in (("", row.figures), ("_difference", row.differences)):
        for name, mean in zip(FIGURES, means, strict=False):
            document |= mean.document(f"{name}{key}")
    return document


def table(rows: Iterable[StageRow]) -> str:
    """Return the rows as a table, each figure with its standard error."""

    def shown(mean: Figure, sign: str = "") -> str:
        numbers = f"{mean.mean:{sign}9.4f}", f"{mean.error:6.4f}"
        return " ".join(each.replace("nan", "  -") for each in numbers)

    lines = [
        "family     stones weights    positions   value above least      move entropy"
        "             first"
    ]
    for row in rows:
        figures = "  ".join(map(shown, row.figures))
        lines.append(
            f"{row.family:10} {row.stones:6} {row.weights:10} {row.positions:9}    {figures}"
        )
        if row.differences:
            differences = "  ".join(shown(mean, "+") for mean in row.differences)
            lines.append(f"{'':10} {'':6} {'difference':10} {'':9}    {differences}")
    return "\n".join(lines)
