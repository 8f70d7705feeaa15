"""From recorded games to numbers: what the evaluation and the move score see of each position.

The value of a position is a sum over its *rows* of (column, count) pairs: the columns are
black's combinations, then white's; the counts are those of the position and of the one before
it together, since the evaluation takes their mean. The threat mask comes beside them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..eval.weights import COMBINATIONS, Weights, family_of
from ..game.game import Game
from ..native.load.library import load
from ..notation.games import NO_VALUE, Ending, Record, group_of
from ..patterns.shapes import FOUR, OPEN_FOUR
from ..position.geometry import MAX_STONES, cell_of
from ..position.rules import Rule, Side
from ..values import WIN_BAND
from .hand import combinations

Ints = NDArray[np.int64]
COLUMNS = 2 * COMBINATIONS
ENEMY_FIVE, WINNING_FOUR, ENEMY_WINNING_FOUR = 1, 2, 4  # bits of the threat mask
FOURS = np.array([FOUR in lines or OPEN_FOUR in lines for lines in combinations()])


class Features(NamedTuple):
    """What the kernel says about one position: the mask, and of each empty cell four numbers."""

    mask: int
    cells: Ints
    black: Ints  # combinations
    white: Ints
    near: NDArray[np.bool_]

    @property
    def counts(self) -> Ints:
        """How often each combination occurs: black's, then white's."""
        both = np.concatenate((self.black, self.white + COMBINATIONS))
        return np.bincount(both, minlength=COLUMNS)


class Reader:
    """Reads the features of games, with a buffer of its own."""

    def __init__(self) -> None:
        """Make the buffer that the kernel writes to."""
        self._library = load()
        self._out = np.zeros(1 + 4 * MAX_STONES, np.int32)
        self._address = self._out.ctypes.data_as(ctypes.c_void_p).value or 0

    def glance(self, game: Game) -> Features:
        """Return what the kernel sees of a game's position."""
        end = self._library.game_features(game.address, self._address)
        cells = self._out[1:end].reshape(-1, 4).astype(np.int64)
        return Features(int(self._out[0]), cells[:, 0], cells[:, 1], cells[:, 2], cells[:, 3] != 0)


def taken(starts: Ints, chosen: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
    """Return where the rows of the chosen positions start, and which of all rows they are."""
    lengths = np.diff(starts)
    return np.append(0, np.cumsum(lengths[chosen])), np.repeat(chosen, lengths)


class Positions(NamedTuple):
    """Positions of one rule family; seen by the side to move where nothing else is said."""

    starts: Ints  # rows[starts[i]:starts[i + 1]] belong to position i
    columns: NDArray[np.int16]  # combination, black's first
    counts: NDArray[np.int16]  # in this position and the one before
    side: NDArray[np.int8]
    mask: NDArray[np.int16]
    value: NDArray[np.int16]  # what the search said
    result: NDArray[np.float32]  # 1 won, 0.5 draw, 0 lost
    group: NDArray[np.int8]  # of the game, to hold some out
    game: Ints  # which one; its positions follow each other

    def __len__(self) -> int:
        return len(self.side)

    def take(self, chosen: NDArray[np.bool_]) -> Positions:
        """Return the chosen positions alone."""
        starts, rows = taken(self.starts, chosen)
        facts: Iterator[Any] = (fact[chosen] for fact in self[3:])
        return Positions(starts, self.columns[rows], self.counts[rows], *facts)


FACTS = (np.int8, np.int16, np.int16, np.float32, np.int8, np.int64)  # from ``side`` on


class Choices(NamedTuple):
    """Which of its candidate moves the search chose, position by position."""

    starts: Ints  # candidates[starts[i]:starts[i + 1]] belong to position i
    own: NDArray[np.int16]  # combination of the side to move on the candidate's cell
    enemy: NDArray[np.int16]
    chosen: Ints  # index of the chosen one among all candidates
    side: NDArray[np.int8]
    group: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.side)

    def take(self, wanted: NDArray[np.bool_]) -> Choices:
        """Return the wanted positions alone."""
        starts, rows = taken(self.starts, wanted)
        chosen = (self.chosen - self.starts[:-1])[wanted] + starts[:-1]
        side, group = self.side[wanted], self.group[wanted]
        return Choices(starts, self.own[rows], self.enemy[rows], chosen, side, group)

    def thin(self, most: int) -> Choices:
        """Return every so manieth position, so that there are not more than wanted."""
        step = -(-len(self) // most)
        return self if step < 2 else self.take(np.arange(len(self)) % step == 0)


class _Columns:
    """Lists of arrays that become one array each."""

    def __init__(self, width: int) -> None:
        self.parts: list[list[NDArray[np.int16]]] = [[] for _ in range(width)]

    def append(self, *arrays: Ints) -> None:
        for part, array in zip(self.parts, arrays, strict=True):
            part.append(array.astype(np.int16))

    def join(self) -> tuple[Ints, list[NDArray[np.int16]]]:
        starts = np.concatenate(([0], np.cumsum([len(array) for array in self.parts[0]])))
        empty = [np.zeros(0, np.int16)]
        return starts.astype(np.int64), [np.concatenate(part or empty) for part in self.parts]


class Sight(NamedTuple):
    """A searched position of a recorded game, just before its move."""

    record: Record
    game: Game
    glance: Features
    counts: Ints
    move: tuple[int, int]
    value: int


def replay(records: Iterable[Record], weights: Weights | None = None) -> Iterator[Sight]:
    """Yield every searched position of the games; the game goes on after each."""
    reader = Reader()
    for record in records:
        game = Game(record.width, record.height, record.rule, weights=weights)
        before = reader.glance(game).counts
        for cell, value in zip(record.moves, record.values, strict=True):
            y, x = divmod(cell, record.width)
            glance = reader.glance(game)
            now = glance.counts
            if value != NO_VALUE:
                yield Sight(record, game, glance, now + before, (x, y), value)
            game.play(x, y)
            before = now


def result_for(record: Record, side: Side) -> float:
    """Return the score of a side in a finished game; NaN where there is no result."""
    if record.ending is Ending.BRANCH:
        return nan
    return (1 + record.result * (1 if side is Side.BLACK else -1)) / 2


def candidates_of(glance: Features, side: Side) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Return which cells a search looks at, and the combinations of the mover and the enemy there.

    Cells near stones; where the enemy threatens a winning four, those where either side makes a
    four, which is nearly what answers it.
    """
    own, enemy = glance.black, glance.white
    if side is Side.WHITE:
        own, enemy = enemy, own
    chosen = glance.near
    if glance.mask & ENEMY_WINNING_FOUR:
        chosen = chosen & (FOURS[own] | FOURS[enemy])
    return chosen, own[chosen], enemy[chosen]


def read_features(records: Iterable[Record]) -> tuple[Positions, Choices]:
    """Return the positions of games of one rule family, and the choices made in them.

    What the search decides at a glance, or by a forced win, teaches nothing about values.
    """
    rows, candidates = _Columns(2), _Columns(2)
    positions: list[tuple[int, int, int, float, int, int]] = []
    choices: list[tuple[int, int, int]] = []
    total = 0
    game, playing = -1, None
    for sight in replay(records):
        side = sight.game.to_move
        glance = sight.glance
        if sight.record is not playing:
            game, playing = game + 1, sight.record
        if glance.mask & (ENEMY_FIVE | WINNING_FOUR):
            continue
        group = group_of(sight.record.number)
        played = sight.record.ending is not Ending.BRANCH
        if played and sight.value < WIN_BAND:
            columns = np.flatnonzero(sight.counts)
            rows.append(columns, sight.counts[columns])
            score = result_for(sight.record, side)
            positions.append((side, glance.mask, sight.value, score, group, game))
        near, own, enemy = candidates_of(glance, side)
        found = np.flatnonzero(glance.cells[near] == cell_of(*sight.move))
        if len(found):
            candidates.append(own, enemy)
            choices.append((total + int(found[0]), side, group))
            total += len(own)
    starts, (columns16, counts16) = rows.join()
    table = np.array(positions, np.float64).reshape(-1, 6).T
    facts = (column.astype(kind) for column, kind in zip(table, FACTS, strict=True))
    seen = Positions(starts, columns16, counts16, *facts)
    starts, (own16, enemy16) = candidates.join()
    chosen = np.array(choices, np.int64).reshape(-1, 3).T
    taken = Choices(
        starts, own16, enemy16, chosen[0], chosen[1].astype(np.int8), chosen[2].astype(np.int8)
    )
    return seen, taken


def by_family(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the games by the rule family whose weights they teach."""
    families: dict[str, list[Record]] = {}
    for record in records:
        families.setdefault(family_of(Rule(record.rule)), []).append(record)
    return families
