"""What a network learns from: the positions of recorded games, in memory.

A game is played once through in the kernel, which says what the linear evaluation sees before
each move. Of a position there stay where in its game it is, some numbers, a bit for each cell
and two bytes for each candidate: about 200 bytes, so all games fit and every one of their
positions can follow any other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import combinations_with_replacement, islice
from pathlib import Path
from threading import Lock, local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError
from ...eval.weights import Weights, family_of
from ...game.game import tables_of
from ...native.load import library
from ...native.load.memory import Block
from ...notation.games import LABELS, NO_VALUE, Ending, Record, is_held_out, read_games
from ...patterns.shapes import FOUR, LINE_SHAPES, OPEN_FOUR
from ...position.geometry import MAX_BOARD, MAX_STONES, MIN_BOARD
from ...position.rules import Rule, Side
from ...values import WIN_BAND
from ..losses import Choices, Vector, best_scale, blend, chance
from .position_loops import LOGIT_UNIT

Array = NDArray[Any]
Ints = NDArray[np.int64]
AT_ONCE = 64  # games that are played through in one go
ENOUGH = 400_000  # positions that a scale is found by
NEAR_BYTES = 64
DECIDED = 1 | 2  # threat masks with a five of the enemy or a winning four: nothing to evaluate
UNKNOWN = -1  # half points of a game without a result


class LearnedGame(NamedTuple):
    """A game to learn from, or one that is held out."""

    record: Record
    held: bool


class Chunk(NamedTuple):
    """Some positions of one size of board, in the order of their games."""

    moves: NDArray[np.int16]  # of all games: ``y * width + x``
    at: NDArray[np.int64]  # of a position: the place in ``moves`` of the move searched for
    ply: NDArray[np.int16]  # stones on the board
    mask: NDArray[np.int16]  # of threats
    linear: NDArray[np.int16]  # the linear evaluation, for the side to move
    value: NDArray[np.int16]  # what the search said
    points: NDArray[np.int8]  # half points of the side to move in the end, or UNKNOWN
    game: NDArray[np.int32]
    held: NDArray[np.bool_]
    near: NDArray[np.uint8]  # bits of cells: the candidates
    score_at: NDArray[np.int64]  # the place in ``scores`` of the first candidate's
    scores: NDArray[np.int16]  # linear scores of the candidates


class PositionPool:
    """All positions of one family and size of board; seen by the side to move."""

    def __init__(self, height: int, width: int, chunk: Chunk) -> None:
        """Take what ``read_pools`` has read."""
        self.height, self.width, self.chunk = height, width, chunk

    def __len__(self) -> int:
        return len(self.chunk.ply)

    @property
    def side(self) -> NDArray[np.int16]:
        """The side to move: 0 black, 1 white."""
        return self.chunk.ply & 1

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which positions are held out."""
        return self.chunk.held

    @property
    def results(self) -> NDArray[np.float32]:
        """1 won, 0.5 draw, 0 lost, NaN unknown."""
        points = self.chunk.points.astype(np.float32)
        return np.where(points < 0, np.float32(np.nan), points / 2)

    def opens(self, labels: str) -> NDArray[np.bool_]:
        """Return where the value has something to learn.

        ``fair``: wherever the engine asks for a value, which it does unless a four decides;
        ``open``: not where the search has found that the side to move wins by force.
        """
        if labels == "fair":
            return np.ones(len(self), bool)
        return np.asarray(self.chunk.value < WIN_BAND)

    @property
    def picks(self) -> NDArray[np.bool_]:
        """Where the chosen move is one of the candidates."""
        move = self.chunk.moves[self.chunk.at]
        rows = np.arange(len(self))
        return np.asarray(self.chunk.near[rows, move >> 3] >> (move & 7) & 1 == 1)

    def candidates(self, chosen: Ints) -> Ints:
        """Return how many candidates positions have."""
        ends = np.append(self.chunk.score_at, len(self.chunk.scores))
        return np.asarray(ends[chosen + 1] - ends[chosen])

    def count_before(self, chosen: Ints) -> Ints:
        """Return how many candidates of positions come before the chosen one."""
        found = np.empty(len(chosen), np.int64)
        for begin in range(0, len(chosen), AT_ONCE * AT_ONCE):
            these = chosen[begin : begin + AT_ONCE * AT_ONCE]
            bits = np.unpackbits(self.chunk.near[these], axis=1, bitorder="little")
            move = self.chunk.moves[self.chunk.at[these]]
            bits[np.arange(bits.shape[1]) >= move[:, None]] = 0
            found[begin : begin + len(these)] = bits.sum(1)
        return found

    def choices(self, chosen: Ints, logits: Vector) -> Choices:
        """Return which of some positions chose a candidate; ``logits`` are of all of these."""
        counts, picks = self.candidates(chosen), self.picks[chosen]
        starts = np.append(0, np.cumsum(counts[picks]))
        moves = starts[:-1] + self.count_before(chosen[picks])
        return Choices(np.flatnonzero(picks), starts, moves, logits[np.repeat(picks, counts)])

    def search_scale(self, usual: float | None = None) -> float:
        """Return the scale with which the values of searches foretell results best.

        Where nothing that is learned from has a result it is the usual one.

        Raises:
            FileError: there is no result, and no usual one was given.
        """
        chunk = self.chunk
        chosen = ~chunk.held & (np.abs(chunk.value.astype(np.int32)) < WIN_BAND)
        places = np.flatnonzero(chosen & (chunk.points >= 0))
        if not len(places):
            if usual is not None:
                return usual
            raise FileError("there are no games with a result to learn from")
        places = places[:: -(-len(places) // ENOUGH)]
        return best_scale(chunk.value[places].astype(np.float64), chunk.points[places] / 2)

    def targets(
        self, mix: float, scale: float | None = None, labels: str = LABELS[0]
    ) -> NDArray[np.float32]:
        """Return the chance to learn of each position; see ``losses.blend``.

        ``scale``: how many units of a search's value are a logistic unit, if not what suits the
        results best.
        """
        seen = chance(self.chunk.value.astype(np.float64), scale or self.search_scale())
        targets = np.ones(len(self))  # whoever has a forced win
        opens, game = self.opens(labels), self.chunk.game
        targets[opens] = blend(self.side[opens], self.results[opens], game[opens], seen[opens], mix)
        return targets.astype(np.float32)


class _Player:
    """Plays games through in the kernel, with memory for each thread."""

    def __init__(self, weights: Weights) -> None:
        # Under a name of its own: what is asked with the network loads other tables.
        about = weights.about | {"id": f"{weights.id} alone"}
        self._weights = weights._replace(about=about, streams={})
        self._library = library.load()
        self._local, self._lock = local(), Lock()
        self._fours = fours()
        self._game_bytes = self._library.sizes["game"]

    def game(self) -> int:
        if not hasattr(self._local, "game"):
            self._local.game = Block(self._game_bytes)
        return int(self._local.game.address)

    def lessons(self, numbered: list[tuple[int, LearnedGame]]) -> Chunk:
        """Return the positions of some games on boards of one size."""
        first = numbered[0][1].record
        area = first.width * first.height
        lengths = np.array([len(game.record.moves) for _, game in numbered])
        total = int(lengths.sum())
        moves, values = np.empty(total, np.int16), np.empty(total, np.int16)
        facts, near = np.empty((total, 3), np.int16), np.empty((total, NEAR_BYTES), np.uint8)
        points = np.empty(total, np.int8)
        parts, begin = [], 0
        scores = np.empty(int(lengths.max(initial=0)) * MAX_STONES, np.int16)
        for (_, game), length in zip(numbered, lengths.tolist(), strict=True):
            record, end = game.record, begin + length
            check(record)
            moves[begin:end], values[begin:end] = record.moves, record.values
            for side, score in ((Side.BLACK, record.result), (Side.WHITE, -record.result)):
                known = record.ending is not Ending.BRANCH
                points[begin + side : end : 2] = 1 + score if known else UNKNOWN
            with self._lock:  # the first to ask builds them
                tables = tables_of(self._library, record.rule, self._weights).address
            found = self._library.game_lessons(
                self.game(), tables, record.width, record.height, _at(moves[begin:]), length,
                _at(self._fours), _at(facts[begin:]), _at(near[begin:]), _at(scores),
            )  # fmt: skip
            parts.append(scores[:found].copy())
            begin = end
        ply = np.concatenate([np.arange(length, dtype=np.int16) for length in lengths.tolist()])
        game_of = np.repeat(np.array([number for number, _ in numbered], np.int32), lengths)
        held = np.repeat([game.held for _, game in numbered], lengths)
        rows = np.arange(total)
        is_candidate = near[rows, moves >> 3] >> (moves & 7) & 1 == 1
        kept = (values != NO_VALUE) & (facts[:, 0] & DECIDED == 0)
        kept &= is_candidate | (values < WIN_BAND)
        counts = facts[:, 2].astype(np.int64)
        all_scores = np.concatenate(parts)[np.repeat(kept, counts)]
        score_at = np.cumsum(counts[kept]) - counts[kept]
        chosen = np.flatnonzero(kept)
        near = near[chosen, : -(-area // 8)]
        return Chunk(
            moves, chosen, ply[chosen], facts[chosen, 0], facts[chosen, 1], values[chosen],
            points[chosen], game_of[chosen], held[chosen], near, score_at, all_scores,
        )  # fmt: skip


def fours() -> NDArray[np.uint8]:
    """Return a 1 for each combination of line shapes that has a four, in the kernel's order."""
    combinations = combinations_with_replacement(range(LINE_SHAPES), 4)
    ordered = sorted(combinations, key=lambda lines: lines[::-1])
    return np.array([FOUR in lines or OPEN_FOUR in lines for lines in ordered], np.uint8)


def _at(array: Array) -> int:
    """Return where an array lies."""
    return int(array.ctypes.data)


def check(record: Record) -> None:
    """Make sure that a game can be played through.

    Raises:
        FileError: a stone lies off the board or on another, or there is no such board.
    """
    sides = record.width, record.height
    area = record.width * record.height
    if not all(MIN_BOARD <= each <= MAX_BOARD for each in sides):
        raise FileError(f"game {record.number} has a board of {sides[0]}x{sides[1]}")
    if len(set(record.moves)) < len(record.moves) or max(record.moves, default=0) >= area:
        raise FileError(f"game {record.number} has a stone that cannot lie there")


def dealt(files: Iterable[Path], test: Iterable[Path]) -> Iterator[LearnedGame]:
    """Yield the games of files; held out are the test files, or one game in sixteen.

    Raises:
        FileError: a file is missing or damaged.
    """
    test = list(test)
    for path in files:
        for record in read_games(path):
            yield LearnedGame(record, not test and is_held_out(record.number))
    for path in test:
        for record in read_games(path):
            yield LearnedGame(record, True)


def in_turn(games: Iterable[LearnedGame]) -> Iterator[tuple[int, LearnedGame]]:
    """Yield games with their numbers; positions of one game, searched again, have the same one."""
    number, before = -1, None
    for game in games:
        now = game.record.number if game.record.ending is Ending.SEARCHED else None
        number += now is None or now != before
        before = now
        yield number, game


Numbered = list[tuple[int, LearnedGame]]
Size = tuple[int, int]


def group_by_size(games: Iterable[tuple[int, LearnedGame]]) -> Iterator[tuple[Size, Numbered]]:
    """Yield games in parts whose boards have the same height and width."""
    games = iter(games)
    while part := list(islice(games, 4 * AT_ONCE)):
        sizes: dict[Size, Numbered] = {}
        for number, game in part:
            sizes.setdefault((game.record.height, game.record.width), []).append((number, game))
        for size, those in sizes.items():
            yield from ((size, those[i : i + AT_ONCE]) for i in range(0, len(those), AT_ONCE))


def read_pools(
    files: Iterable[Path],
    test: Iterable[Path],
    family: str,
    weights: Weights,
    watch: Callable[[int], None] = lambda positions: None,
    threads: int = 1,
) -> list[PositionPool]:
    """Return the positions of one family, by size of board, the smallest first.

    ``watch`` is called now and then with how many positions there are.

    Raises:
        FileError: a file is missing or damaged.
    """
    player = _Player(weights)
    games = (
        (number, game)
        for number, game in in_turn(dealt(files, test))
        if family_of(game.record.rule) == family
    )
    found: dict[Size, list[Chunk]] = {}
    waiting: deque[tuple[Size, Future[Chunk]]] = deque()
    total = 0

    def take() -> None:
        nonlocal total
        size, future = waiting.popleft()
        found.setdefault(size, []).append(future.result())
        total += len(found[size][-1].ply)
        watch(total)

    with ThreadPoolExecutor(threads) as executor:
        for size, those in group_by_size(games):
            waiting.append((size, executor.submit(player.lessons, those)))
            if len(waiting) > 2 * threads:
                take()
        while waiting:
            take()
    return [PositionPool(*size, join_chunks(chunks)) for size, chunks in sorted(found.items())]


def join_chunks(chunks: list[Chunk]) -> Chunk:
    """Return all positions of some chunks; they are emptied, so that nothing is there twice."""
    moves = np.cumsum([0, *(len(chunk.moves) for chunk in chunks)])
    scores = np.cumsum([0, *(len(chunk.scores) for chunk in chunks)])
    columns: list[Array] = []
    for name in Chunk._fields:
        parts = [getattr(chunk, name) for chunk in chunks]
        if name in ("at", "score_at"):
            starts = moves if name == "at" else scores
            parts = [part + start for part, start in zip(parts, starts[:-1], strict=True)]
        columns.append(np.concatenate(parts))
    return Chunk(*columns)


class Judged(NamedTuple):
    """Values for the side to move, and the logits of the candidates of position after position."""

    values: NDArray[np.float64]
    logits: NDArray[np.float64]


def linear(pool: PositionPool, chosen: Ints) -> Judged:
    """Return what the linear evaluation and the linear move score say of positions."""
    counts = pool.candidates(chosen)
    places = np.repeat(pool.chunk.score_at[chosen] - np.cumsum(counts) + counts, counts)
    places += np.arange(len(places))
    return Judged(
        pool.chunk.linear[chosen].astype(np.float64), pool.chunk.scores[places].astype(np.float64)
    )


def judge(weights: Weights, family: str, pool: PositionPool, chosen: Ints) -> Judged:
    """Return what the network of weights says of positions, given in ascending order.

    Raises:
        WeightsError: there is no such network, or it is not one that the kernel can use.
    """
    kernel, chunk = library.load(), pool.chunk
    worker = Block(kernel.sizes["worker"])
    evaluator = tables_of(kernel, Rule.parse(family), weights).address
    begins = chunk.at[chosen] - chunk.ply[chosen]  # of their games
    parts = np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(begins)) + 1)
    values, logits = list[NDArray[np.int16]](), list[NDArray[np.int16]]()
    for part in parts:
        if not len(part):
            continue
        plies, begin = chunk.ply[chosen[part]], int(begins[part[0]])
        count = int(plies[-1]) + 1
        near = np.zeros((count, NEAR_BYTES), np.uint8)
        near[plies, : chunk.near.shape[1]] = chunk.near[chosen[part]]
        moves = np.ascontiguousarray(chunk.moves[begin : begin + count])
        said, scores = np.empty(count, np.int16), np.empty(count * MAX_STONES, np.int16)
        found = kernel.worker_lessons(
            worker.address, evaluator, pool.width, pool.height, moves.ctypes.data, count,
            near.ctypes.data, said.ctypes.data, scores.ctypes.data,
        )  # fmt: skip
        values.append(said[plies])
        logits.append(scores[:found].copy())
    worker.close()
    none = [np.zeros(0, np.int16)]
    return Judged(
        np.concatenate(values or none).astype(np.float64),
        np.concatenate(logits or none) / LOGIT_UNIT,
    )
