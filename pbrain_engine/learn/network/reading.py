"""Reads games into datasets by replaying each once in the kernel.

The kernel returns the linear evaluation before each move, and the candidate moves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, combinations_with_replacement, islice
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError
from ...eval.weights import Weights, family_of
from ...game.game import tables_of
from ...native.load import library
from ...native.load.memory import Block
from ...notation.games import NO_VALUE, Ending, Record, is_held_out, read_games
from ...patterns.shapes import FOUR, LINE_SHAPES, OPEN_FOUR
from ...position.geometry import MAX_BOARD, MAX_STONES, MIN_BOARD
from ...position.rules import Side
from ...values import WIN_BAND
from ...workers import ThreadCache
from .dataset import UNKNOWN, Dataset, has_bit, join

AT_ONCE = 64  # games per task
NEAR_BYTES = 64
DECIDED = 1 | 2  # threat masks with an enemy five or a winning four: no evaluation needed


class LearnedGame(NamedTuple):
    """A game to learn from or to hold out."""

    number: int  # of the game among all games read
    record: Record
    held: bool


class Lessons(NamedTuple):
    """The kernel's data about the positions before each move of some games."""

    moves: NDArray[np.int16]  # [moves]
    facts: NDArray[np.int16]  # [moves, 3]: threat mask, linear evaluation, number of candidates
    near: NDArray[np.uint8]  # [moves, NEAR_BYTES], a bit for each cell: the candidates
    scores: NDArray[np.int16]  # [candidates]


class GameReader:
    """Replays games in the kernel, with memory for each thread."""

    def __init__(self, weights: Weights) -> None:
        """Use the linear part of weights."""
        # Under its own id, as the same weights with the network have other tables.
        about = weights.about | {"id": f"{weights.id} alone"}
        self._weights = weights._replace(about=about, streams={})
        self._library = library.load()
        self._games, self._lock = ThreadCache(), Lock()
        self._fours = fours()

    def play(self, records: Sequence[Record]) -> Lessons:
        """Return the kernel's data about games with one board size."""
        total = sum(len(record.moves) for record in records)
        longest = max((len(record.moves) for record in records), default=0)
        moves, facts = np.empty(total, np.int16), np.empty((total, 3), np.int16)
        near = np.empty((total, NEAR_BYTES), np.uint8)
        scores = np.empty(longest * MAX_STONES, np.int16)
        found, begin = [np.zeros(0, np.int16)], 0
        for record in records:
            check(record)
            end = begin + len(record.moves)
            moves[begin:end] = record.moves
            with self._lock:  # the first to ask builds them
                tables = tables_of(self._library, record.rule, self._weights).address
            block = self._games.get("game", lambda: Block(self._library.sizes["game"]))
            game = block.address
            self._library.game_new(game, tables, record.width, record.height)
            count = self._library.game_lessons(
                game, tables, moves[begin:].ctypes.data, len(record.moves),
                self._fours.ctypes.data, facts[begin:].ctypes.data, near[begin:].ctypes.data,
                scores.ctypes.data,
            )  # fmt: skip
            found.append(scores[:count].copy())
            begin = end
        return Lessons(moves, facts, near, np.concatenate(found))

    def positions(self, games: Sequence[LearnedGame]) -> Dataset:
        """Return the positions worth learning from, of games with one board size."""
        records = [game.record for game in games]
        lengths = [len(record.moves) for record in records]
        moves, facts, near, scores = self.play(records)
        values = np.concatenate([np.array(record.values, np.int16) for record in records])
        picks = has_bit(near, np.arange(len(moves)), moves)
        kept = (values != NO_VALUE) & (facts[:, 0] & DECIDED == 0) & (picks | (values < WIN_BAND))
        chosen, counts = np.flatnonzero(kept), facts[:, 2].astype(np.int64)
        ply = np.concatenate([np.arange(length, dtype=np.int16) for length in lengths])
        points = np.concatenate([points_of(record) for record in records])
        number = np.repeat(np.array([game.number for game in games], np.int32), lengths)
        held = np.repeat([game.held for game in games], lengths)
        height, width = records[0].height, records[0].width
        return Dataset(
            height, width, moves, chosen, ply[chosen], facts[chosen, 0], facts[chosen, 1],
            values[chosen], points[chosen], number[chosen], held[chosen],
            near[chosen, : -(-height * width // 8)], np.cumsum(counts[kept]) - counts[kept],
            scores[np.repeat(kept, counts)], np.zeros(len(chosen), np.float32),
            np.zeros(len(chosen), bool),
        )  # fmt: skip


def points_of(record: Record) -> NDArray[np.int8]:
    """Return the final half points of the side to move, for each move, or UNKNOWN."""
    points = np.full(len(record.moves), UNKNOWN, np.int8)
    if record.ending is not Ending.BRANCH:
        points[Side.BLACK :: 2], points[Side.WHITE :: 2] = 1 + record.result, 1 - record.result
    return points


def fours() -> NDArray[np.uint8]:
    """Return a 1 for each combination of line shapes that has a four, in the kernel's order."""
    combinations = combinations_with_replacement(range(LINE_SHAPES), 4)
    ordered = sorted(combinations, key=lambda lines: lines[::-1])
    return np.array([FOUR in lines or OPEN_FOUR in lines for lines in ordered], np.uint8)


def check(record: Record) -> None:
    """Check that a game can be replayed; FileError if not."""
    sides = record.width, record.height
    area = record.width * record.height
    if not all(MIN_BOARD <= each <= MAX_BOARD for each in sides):
        raise FileError(f"game {record.number} has a board of {sides[0]}x{sides[1]}")
    if len(set(record.moves)) < len(record.moves) or max(record.moves, default=0) >= area:
        raise FileError(f"game {record.number} has a stone off the board or on a taken cell")


def select_games(files: Iterable[Path], test: Iterable[Path], family: str) -> Iterator[LearnedGame]:
    """Yield a family's games, with test files or one in sixteen held out; FileError if damaged."""
    test = list(test)
    games, others = (chain.from_iterable(map(read_games, each)) for each in (files, test))
    learned = ((each, not test and is_held_out(each.number)) for each in games)
    number, before = -1, None
    for record, held in chain(learned, ((each, True) for each in others)):
        now = record.number if record.ending is Ending.SEARCHED else None
        number += now is None or now != before  # shared by a game's positions searched again
        before = now
        if family_of(record.rule) == family:
            yield LearnedGame(number, record, held)


Size = tuple[int, int]  # height, width


def group_by_size(games: Iterable[LearnedGame]) -> Iterator[tuple[Size, list[LearnedGame]]]:
    """Yield games in groups of the same board size."""
    games = iter(games)
    while part := list(islice(games, 4 * AT_ONCE)):
        sizes: dict[Size, list[LearnedGame]] = {}
        for game in part:
            sizes.setdefault((game.record.height, game.record.width), []).append(game)
        for size, those in sizes.items():
            yield from ((size, those[i : i + AT_ONCE]) for i in range(0, len(those), AT_ONCE))


def read_datasets(
    files: Iterable[Path],
    test: Iterable[Path],
    family: str,
    weights: Weights,
    watch: Callable[[int], None] = lambda positions: None,
    threads: int = 1,
) -> list[Dataset]:
    """Return the positions of one family, one dataset per board size, smallest first.

    ``watch`` is called now and then with the number of positions so far.

    Raises:
        FileError: a file is missing or damaged.
    """
    reader = GameReader(weights)
    found: dict[Size, list[Dataset]] = {}
    waiting: deque[tuple[Size, Future[Dataset]]] = deque()
    total = 0

    def take() -> None:
        nonlocal total
        size, future = waiting.popleft()
        found.setdefault(size, []).append(future.result())
        total += found[size][-1].size
        watch(total)

    with ThreadPoolExecutor(threads) as executor:
        for size, those in group_by_size(select_games(files, test, family)):
            waiting.append((size, executor.submit(reader.positions, those)))
            if len(waiting) > 2 * threads:
                take()
        while waiting:
            take()
    return [join(parts) for size, parts in sorted(found.items())]
