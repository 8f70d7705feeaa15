"""Positions of game files searched again, and how well static weights predict the results.

Every search starts with empty tables and is limited by nodes, so its result depends only on the
position, the weights and the nodes, and a file is the same however the work was divided. The values
and logits compared with it are the engine's own integers, as a search uses them.
"""

from __future__ import annotations

import random
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import exp, log, log1p, nan
from pathlib import Path
from typing import NamedTuple

from ..arena.elo import Figure, average, figures_document
from ..engine.engine import LOGIT_UNIT, Engine, Limit, Move
from ..errors import FileError
from ..eval.weights import FAMILIES, load_weights, scale_of
from ..files import Document
from ..game.record import STAGE_NAMES, stage_of
from ..notation.games import (
    MOST_OPENING,
    NO_VALUE,
    SINGLE,
    Ending,
    NodePlan,
    Record,
    decode,
    read_about,
    read_games,
    split_head,
)
from ..values import WIN_BAND, chance
from .selfplay import SelfPlayed, make_engine, set_up_line

LINES_PART = 2  # the other root moves get half as many nodes as the best


class Place(NamedTuple):
    """A position of a file: its record, and the number of stones on the board."""

    record: int
    stones: int


class Sources:
    """The records of some game files, numbered one after another."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Index the files; FileError if one cannot be read or is damaged."""
        self.about: list[str] = []  # name and checksum of each file, to notice changes
        self._data: list[bytes] = []
        self._places: list[tuple[int, int, int]] = []  # file, offset, first game number of the file
        self._above = 0  # above all game numbers so far
        for number, path in enumerate(paths):
            _, data, at = split_head(path)
            first = self._above
            while (found := decode(data, at)) is not None:
                self._places.append((number, at, first))
                self._above = max(self._above, first + found[0].number + 1)
                at = found[1]
            self._data.append(data)
            self.about.append(f"{ascii(path.name)[1:-1]} {zlib.crc32(data[:at]):08x}")

    def __getitem__(self, number: int) -> Record:
        """Return a record; games of different files have different numbers."""
        file, at, first = self._places[number]
        found = decode(self._data[file], at)
        assert found is not None, "it was there before"
        return found[0]._replace(number=first + found[0].number)

    def places(self) -> Iterator[Place]:
        """Yield all positions with a search value, without duplicates within a game."""
        records = ((number, self[number]) for number in range(len(self._places)))
        for _, same in groupby(records, lambda pair: pair[1].number):
            seen = set[tuple[int, ...]]()
            for number, record in same:
                for stones in range(record.opening, min(len(record.moves), MOST_OPENING + 1)):
                    line = record.moves[:stones]
                    if record.values[stones] != NO_VALUE and line not in seen:
                        seen.add(line)
                        yield Place(number, stones)


def set_up(engine: Engine, record: Record, stones: int) -> bool:
    """Set up the position after some stones of a record; return False if the game is over then."""
    game = engine.game
    if (game.width, game.height, game.rule) != (record.width, record.height, record.rule):
        engine.new_game(record.width, record.height, record.rule)
    return set_up_line(engine, record.cells[:stones])


class Survey(NamedTuple):
    """The settings for searching positions again."""

    sources: str  # of ``Sources.about``
    budget: NodePlan
    weights: str  # name or path
    multipv: int = 1
    is_open: bool = False  # leave out decided positions
    size: int | None = None  # of a sample; None: all positions
    seed: int = 1  # of the sample

    def about(self) -> dict[str, str]:
        """Return the head of a file: everything it depends on, and the scales of its values."""
        weights = load_weights(self.weights)
        sample = {} if self.size is None else {"count": str(self.size), "seed": str(self.seed)}
        return {
            "positions": self.sources,
            **sample,
            "open": "yes" if self.is_open else "no",
            "nodes": str(self.budget),
            "multipv": str(self.multipv),
            "weights": weights.key,
            **{f"scale {name}": f"{scale_of(weights.about, name):g}" for name in FAMILIES},
        }

    def takes(self, engine: Engine, record: Record, stones: int) -> bool:
        """Set up a position and return whether it is to be searched.

        Open ones have a choice of moves and no known forced win.
        """
        if not set_up(engine, record, stones):
            return False
        is_open = abs(record.values[stones]) < WIN_BAND and len(engine.logits()) > 1
        return is_open or not self.is_open

    def play(self, engine: Engine, position: tuple[Record, int]) -> SelfPlayed | None:
        """Search the position after some stones of a record, unless it is to be left out."""
        record, stones = position
        if not self.takes(engine, record, stones):
            return None
        lines = tuple(
            (y * record.width + x, value)
            for (x, y), value in best_lines(engine, self.budget.at(stones), self.multipv)
        )
        move, value = lines[0]
        return SelfPlayed(record._replace(
            opening=stones,
            ending=record.ending if record.ending is Ending.BRANCH else Ending.SEARCHED,
            moves=(*record.moves[:stones], move), values=(*[NO_VALUE] * stones, value),
            lines=lines if len(lines) > 1 else (),
        ))  # fmt: skip


def best_lines(engine: Engine, nodes: int, count: int) -> list[tuple[tuple[int, int], int]]:
    """Return the best moves of the engine's position with their values, best first.

    The first comes from a search of ``nodes``; the others from a search of several lines with half
    as many nodes and the same tables, with values capped by the first.
    """
    engine.clear_hash()
    best = engine.think(Limit(nodes=nodes))
    found = [(best.move, best.value)]
    if count > 1:
        others = engine.think_lines(Limit(nodes=max(1, nodes // LINES_PART)), count)
        found += [(o.move, min(o.value, best.value)) for o in others if o.move != best.move]
    return [((move.x, move.y), value) for move, value in found[:count]]


def sample(survey: Survey, sources: Sources) -> list[Place]:
    """Return a sample of positions, in order, with equal numbers of each rule, board and stage.

    If one kind has too few, others replace them. No position is taken twice.
    """
    kinds: dict[tuple[int, int, int, int], list[Place]] = {}  # by rule, board and stage
    for number, places in groupby(sources.places(), lambda place: place.record):
        record = sources[number]
        for place in places:
            kind = int(record.rule), record.width, record.height, stage_of(place.stones)
            kinds.setdefault(kind, []).append(place)
    for kind, places_of in kinds.items():
        random.Random(f"{survey.seed}:{kind}").shuffle(places_of)
    found, seen = list[Place](), set[tuple[object, ...]]()
    with make_engine(survey.budget, survey.weights) as engine:
        while len(found) < (survey.size or 0) and any(kinds.values()):
            for _, places_of in sorted(kinds.items()):
                while places_of:
                    place = places_of.pop()
                    record = sources[place.record]
                    line = record.moves[: place.stones]
                    key = (*record[1:4], frozenset(line[::2]), frozenset(line[1::2]))
                    if key in seen or not survey.takes(engine, record, place.stones):
                        continue
                    seen.add(key)
                    found.append(place)
                    break
    return sorted(found[: survey.size])


def count_done(sources: Sources, places: Sequence[Place], last: Record | None) -> int:
    """Return how many of the places, in order, are done if ``last`` is the last record."""
    if last is None:
        return 0
    begin = bisect_left(places, last.number, key=lambda place: sources[place.record].number)
    for at in range(begin, len(places)):
        record = sources[places[at].record]
        if record.moves[: places[at].stones] == last.moves[: last.opening]:
            return at + 1
    raise FileError(f"a position of game {last.number} is not among those to search")


# Measuring ------------------------------------------------------------------------------

KEY = "positions"  # in the head of a file of positions searched again


class Labelled(NamedTuple):
    """A position with its deep label."""

    record: Record
    game: tuple[int, int]  # file and game number
    family: str
    stage: int
    chance: float  # of the side to move, 0 to 1


class Assessment(NamedTuple):
    """How well weights predict one label."""

    value_above_least: float  # nats
    move_entropy: float  # nats; NaN if the move is not a candidate
    first: float  # 1 if the move has the highest logit, else 0


FIGURES = Assessment._fields


class StageRow(NamedTuple):
    """How well weights predict the positions of one family and stage."""

    weights: str
    family: str
    stones: str
    positions: int
    figures: tuple[Figure, ...]  # in the order of FIGURES
    differences: tuple[Figure, ...]  # from the first weights; empty for those


def has_deep_labels(paths: Iterable[Path]) -> bool:
    """Return whether files contain positions searched again; FileError if only some do."""
    found = {KEY in read_about(path) for path in paths}
    if len(found) > 1:
        raise FileError("measure games and positions searched again separately")
    return found == {True}


def read_labels(paths: Iterable[Path]) -> Iterator[Labelled]:
    """Yield the labelled positions of files; FileError if one is damaged."""
    for file, path in enumerate(paths):
        about = read_about(path)
        for record in read_games(path):
            if record.ending in SINGLE:
                family = record.rule.traits.family
                deep = chance(record.values[-1], scale_of(about, family))
                stage = stage_of(record.opening)
                yield Labelled(record, (file, record.number), family, stage, deep)


def set_up_label(engine: Engine, record: Record) -> None:
    """Set up the position of a labelled record; FileError if it has no moves."""
    if not set_up(engine, record, record.opening):
        raise FileError(f"game {record.number} has a position without moves")


def loss_above_least(odds: float, deep: float) -> float:
    """Return the log loss of odds against the chance of a label, above the least possible."""
    loss = deep * log1p(exp(-odds)) + (1 - deep) * log1p(exp(odds))
    return loss + sum(p * log(p) for p in (deep, 1 - deep) if p > 0)


def assess(engine: Engine, labelled: Labelled) -> Assessment:
    """Return how well the engine's weights predict a label."""
    record = labelled.record
    set_up_label(engine, record)
    loss = loss_above_least(engine.value() / engine.weights.scale(record.rule), labelled.chance)
    logits = {move: logit / LOGIT_UNIT for move, logit in engine.logits().items()}
    wanted = Move(*record.cells[-1])
    if wanted not in logits:
        return Assessment(loss, nan, 0.0)
    highest = max(logits.values())
    entropy = log(sum(exp(logit - highest) for logit in logits.values())) + highest
    first = max(logits, key=logits.__getitem__) == wanted
    return Assessment(loss, entropy - logits[wanted], float(first))


def measure(paths: Sequence[Path], names: Sequence[str]) -> list[StageRow]:
    """Return how well weights, by name or file, predict positions; FileError if one is damaged."""
    labels = list(read_labels(paths))
    assessed: list[tuple[str, list[Assessment]]] = []
    for name in names:
        with Engine(hash_size=1 << 20, weights=name) as engine:
            assessed.append((engine.weights.id, [assess(engine, each) for each in labels]))
    rows = list[StageRow]()
    for family in FAMILIES:
        for stage, stones in STAGE_NAMES.items():
            chosen = [
                number
                for number, each in enumerate(labels)
                if each.family == family and stage in (None, each.stage)
            ]
            if chosen:
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
    """Return a row as JSON: each figure, and its standard error as ``FIGURE_se``.

    Except for the first weights, ``FIGURE_difference`` is the difference from the first.
    """
    cells = dict(zip(StageRow._fields[:4], row[:4], strict=True))
    cells |= zip(FIGURES, row.figures, strict=True)
    cells |= zip((f"{name}_difference" for name in FIGURES), row.differences, strict=False)
    return figures_document(cells)


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
