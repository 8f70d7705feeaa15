"""Training data: the positions of recorded games, in memory.

Each game is replayed once in the kernel, which returns the linear evaluation before each move, and
the candidate moves. A position takes its place in its game, some numbers, a bit for each cell and
two bytes for each candidate: about 200 bytes, so all games fit and positions can be shuffled
freely. Losses and value targets are computed here, too. A value divided by its *scale* is the
logarithm of the odds that the side to move wins.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations_with_replacement
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import FileError
from ...eval.weights import Weights
from ...game.game import tables_of
from ...native.load import library
from ...native.load.memory import Block
from ...notation.games import LABELS, NO_VALUE, Ending, Record, is_held_out, read_games
from ...patterns.shapes import FOUR, LINE_SHAPES, OPEN_FOUR
from ...position.geometry import MAX_STONES, is_board
from ...position.rules import Side
from ...values import WIN_BAND
from ...workers import Pool, ThreadCache, in_order

Ints = NDArray[np.int64]
Vector = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]  # float32 or float64
LEAST_SCALE, MOST_SCALE = 40.0, 1000.0
NEWTON_STEPS = 12


def chance(value: Vector, scale: float) -> Vector:
    """Return the winning chances for values."""
    return np.asarray(1 / (1 + np.exp(-np.clip(value / scale, -40, 40))))


def log_loss(odds: Vector, target: Floats) -> Vector:
    """Return the loss of each prediction, given as the logarithm of the odds."""
    return np.asarray(np.logaddexp(0, odds) - target * odds)


def best_scale(value: Vector, target: Vector) -> float:
    """Return the scale, 40 to 1,000, with which values predict targets best.

    The loss is convex in the inverse of the scale and its slope concave: Newton's method, started
    at the smallest inverse, approaches the minimum from one side.
    """
    share = 1 / MOST_SCALE
    for _ in range(NEWTON_STEPS):
        likely = chance(value, 1 / share)
        slope = float(((likely - target) * value).mean())
        curvature = float((likely * (1 - likely) * value**2).mean())
        share = min(max(share - slope / max(curvature, 1e-9), 1 / MOST_SCALE), 1 / LEAST_SCALE)
    return 1 / share


def blend(
    side: NDArray[np.int16], results: NDArray[np.float32], game: NDArray[np.int32],
    chances: Vector, mix: float,
) -> Vector:  # fmt: skip
    """Return the targets: at each position the search's chance mixed with the next target.

    Positions are in the order of their games, with the side to move (0 black, 1 white), its final
    score and the number of the game. ``mix`` is the weight of the next target; at the end of a game
    that is the result, or the search's chance if the result is unknown (NaN).
    """
    black = side == 0
    seen = np.where(black, chances, 1 - chances)
    end = np.where(black, results, 1 - results)
    ends = np.append(np.flatnonzero(game[1:] != game[:-1]), len(game) - 1)
    to_end = np.repeat(ends, np.diff(ends, prepend=-1)) - np.arange(len(game))
    targets = (1 - mix) * seen + mix * np.where(np.isnan(end), seen, end)
    order = np.argsort(to_end, kind="stable")
    for these in np.split(order, np.cumsum(np.bincount(to_end))[:-1])[1:]:
        targets[these] = (1 - mix) * seen[these] + mix * targets[these + 1]
    return np.asarray(np.where(black, targets, 1 - targets))


class Choices(NamedTuple):
    """Positions whose move is among their candidates, and the logits of the candidates."""

    positions: Ints  # [choices], indices into the positions asked about
    starts: Ints  # [choices + 1], first candidate of each
    chosen: Ints  # [choices], index of the move among all candidates
    logits: Vector  # [candidates]

    def entropies(self) -> Vector:
        """Return the cross-entropy of each move."""
        tops = np.maximum.reduceat(self.logits, self.starts[:-1])
        powers = np.exp(self.logits - np.repeat(tops, np.diff(self.starts)))
        sums = np.add.reduceat(powers, self.starts[:-1])
        return np.asarray(np.log(sums) + tops - self.logits[self.chosen])

    def firsts(self) -> NDArray[np.bool_]:
        """Return whether each move's logit is strictly the highest."""
        best = np.repeat(self.logits[self.chosen], np.diff(self.starts))
        return np.asarray(np.add.reduceat((self.logits >= best) * 1, self.starts[:-1]) == 1)


# Positions ------------------------------------------------------------------------------

ENOUGH = 400_000  # positions to fit a scale
FAIR = LABELS[0]
UNKNOWN = -1  # half points of a game without a result


class Dataset(NamedTuple):
    """Positions of one family and board size, in the order of their games, for the side to move.

    The move of a position is ``moves[at]``; its game starts ``ply`` places before.
    """

    height: int
    width: int
    moves: NDArray[np.int16]  # [stones of all games], ``y * width + x``
    at: Ints  # [positions], an index into ``moves``
    ply: NDArray[np.int16]  # [positions], stones on the board
    mask: NDArray[np.int16]  # [positions], threats (``eval.evaluator.threat_mask``)
    linear: NDArray[np.int16]  # [positions], the linear evaluation
    value: NDArray[np.int16]  # [positions], of the search
    points: NDArray[np.int8]  # [positions], half points in the end, or UNKNOWN
    game: NDArray[np.int32]  # [positions], the number of the game
    held: NDArray[np.bool_]  # [positions], whether they are held out
    near: NDArray[np.uint8]  # [positions, bytes], a bit for each cell: the candidates
    pick: NDArray[np.int16]  # [positions], the index of the move among the candidates, or -1
    score_at: Ints  # [positions], the index into ``scores`` of the first candidate
    scores: NDArray[np.int16]  # [candidates of all positions], the linear move score
    target: NDArray[np.float32]  # [positions], the winning chance to learn
    opens: NDArray[np.bool_]  # [positions], whether the value is learned

    @property
    def size(self) -> int:
        """The number of positions."""
        return len(self.ply)

    @property
    def side(self) -> NDArray[np.int16]:
        """The side to move: 0 black, 1 white."""
        return self.ply & 1

    @property
    def results(self) -> NDArray[np.float32]:
        """1 won, 0.5 draw, 0 lost, NaN unknown."""
        points = self.points.astype(np.float32)
        return np.where(points < 0, np.float32(np.nan), points / 2)

    @property
    def picks(self) -> NDArray[np.bool_]:
        """Whether each move is one of the candidates."""
        return self.pick >= 0

    def candidates(self, chosen: Ints) -> Ints:
        """Return the numbers of candidates of positions."""
        ends = np.append(self.score_at, len(self.scores))
        return np.asarray(ends[chosen + 1] - ends[chosen])

    def choices(self, chosen: Ints, logits: Vector) -> Choices:
        """Return the positions that chose a candidate; ``logits``: of all positions given."""
        counts, picks = self.candidates(chosen), self.picks[chosen]
        starts = np.append(0, np.cumsum(counts[picks]))
        moves = starts[:-1] + self.pick[chosen[picks]].astype(np.int64)
        return Choices(np.flatnonzero(picks), starts, moves, logits[np.repeat(picks, counts)])

    def search_scale(self, usual: float | None = None) -> float:
        """Return the scale with which search values predict results best.

        Without results among the training positions, return ``usual``; FileError if it is None.
        """
        chosen = ~self.held & (np.abs(self.value.astype(np.int32)) < WIN_BAND)
        places = np.flatnonzero(chosen & (self.points >= 0))
        if not len(places):
            if usual is not None:
                return usual
            raise FileError("there are no games with a result to learn from")
        places = places[:: -(-len(places) // ENOUGH)]
        return best_scale(self.value[places].astype(np.float64), self.points[places] / 2)

    def with_targets(self, mix: float, scale: float | None = None, labels: str = FAIR) -> Dataset:
        """Return the dataset with value targets; see ``blend``.

        ``scale``: units of a search value per logistic unit (default: the best fit to the results).
        ``labels``: ``fair`` to learn all positions that the engine evaluates, i.e. unless a four
        decides; ``open`` to leave out positions where the search found a forced win of the side to
        move.
        """
        opens = np.full(self.size, True) if labels == FAIR else self.value < WIN_BAND
        seen = chance(self.value.astype(np.float64), scale or self.search_scale())
        target = np.ones(self.size)  # for a side with a forced win
        side, results, game = self.side[opens], self.results[opens], self.game[opens]
        target[opens] = blend(side, results, game, seen[opens], mix)
        return self._replace(target=target.astype(np.float32), opens=opens)


def join(parts: Sequence[Dataset]) -> Dataset:
    """Concatenate datasets of one board size."""
    moves = np.cumsum([0, *(len(part.moves) for part in parts)])
    scores = np.cumsum([0, *(len(part.scores) for part in parts)])
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Dataset._fields[2:]
    }
    sizes = [part.size for part in parts]
    columns["at"] += np.repeat(moves[:-1], sizes)
    columns["score_at"] += np.repeat(scores[:-1], sizes)
    return Dataset(parts[0].height, parts[0].width, **columns)


# Reading ------------------------------------------------------------------------------

AT_ONCE = 64  # games per task
NEAR_BYTES = 64
DECIDED = 1 | 2  # threat masks with an enemy five or a winning four: no evaluation needed


class LearnedGame(NamedTuple):
    """A game to learn from or to hold out."""

    number: int  # of the game among all games read
    record: Record
    held: bool


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

    def positions(self, games: Sequence[LearnedGame]) -> Dataset:
        """Return the positions worth learning from, of games with one board size."""
        records = [game.record for game in games]
        lengths = [len(record.moves) for record in records]
        moves = np.empty(sum(lengths), np.int16)
        facts = np.empty((len(moves), 3), np.int16)  # threats, linear evaluation, candidates
        near = np.empty((len(moves), NEAR_BYTES), np.uint8)
        points = np.full(len(moves), UNKNOWN, np.int8)
        scored = np.empty(max(lengths) * MAX_STONES, np.int16)
        found, begin = [np.zeros(0, np.int16)], 0
        for record in records:
            check(record)
            end = begin + len(record.moves)
            moves[begin:end] = record.moves
            if record.ending is not Ending.BRANCH:
                points[begin + Side.BLACK : end : 2] = 1 + record.result
                points[begin + Side.WHITE : end : 2] = 1 - record.result
            with self._lock:  # the first to ask builds them
                tables = tables_of(self._library, record.rule, self._weights).address
            block = self._games.get("game", lambda: Block(self._library.sizes["game"]))
            game = block.address
            self._library.game_new(game, tables, record.width, record.height)
            count = self._library.game_lessons(
                game, tables, moves[begin:].ctypes.data, len(record.moves),
                self._fours.ctypes.data, facts[begin:].ctypes.data, near[begin:].ctypes.data,
                scored.ctypes.data,
            )  # fmt: skip
            found.append(scored[:count].copy())
            begin = end
        scores = np.concatenate(found)
        values = np.concatenate([np.array(record.values, np.int16) for record in records])
        bits = np.unpackbits(near, axis=1, bitorder="little")
        before = (bits & (np.arange(bits.shape[1]) < moves[:, None])).sum(1)
        pick = np.where(bits[np.arange(len(moves)), moves], before, -1).astype(np.int16)
        learned = (pick >= 0) | (values < WIN_BAND)
        kept = (values != NO_VALUE) & (facts[:, 0] & DECIDED == 0) & learned
        chosen, counts = np.flatnonzero(kept), facts[:, 2].astype(np.int64)
        ply = np.concatenate([np.arange(length, dtype=np.int16) for length in lengths])
        number = np.repeat(np.array([game.number for game in games], np.int32), lengths)
        held = np.repeat([game.held for game in games], lengths)
        height, width = records[0].height, records[0].width
        return Dataset(
            height, width, moves, chosen, ply[chosen], facts[chosen, 0], facts[chosen, 1],
            values[chosen], points[chosen], number[chosen], held[chosen],
            near[chosen, : -(-height * width // 8)], pick[chosen],
            np.cumsum(counts[kept]) - counts[kept], scores[np.repeat(kept, counts)],
            np.zeros(len(chosen), np.float32), np.zeros(len(chosen), bool),
        )  # fmt: skip


def fours() -> NDArray[np.uint8]:
    """Return a 1 for each combination of line shapes that has a four, in the kernel's order."""
    combinations = combinations_with_replacement(range(LINE_SHAPES), 4)
    ordered = sorted(combinations, key=lambda lines: lines[::-1])
    return np.array([FOUR in lines or OPEN_FOUR in lines for lines in ordered], np.uint8)


def check(record: Record) -> None:
    """Check that a game can be replayed; FileError if not."""
    area = record.width * record.height
    if not is_board(record.width, record.height):
        raise FileError(f"game {record.number} has a board of {record.width}x{record.height}")
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
        if record.rule.traits.family == family:
            yield LearnedGame(number, record, held)


def group_by_size(games: Iterable[LearnedGame]) -> Iterator[list[LearnedGame]]:
    """Yield games in groups of the same board size."""
    groups = defaultdict[tuple[int, int], list[LearnedGame]](list)
    for game in games:
        size = game.record.height, game.record.width
        groups[size].append(game)
        if len(groups[size]) == AT_ONCE:
            yield groups.pop(size)
    yield from groups.values()


def read_datasets(
    files: Iterable[Path],
    test: Iterable[Path],
    family: str,
    weights: Weights,
    watch: Callable[[int], None] = lambda positions: None,
    threads: int = 1,
) -> list[Dataset]:
    """Return the positions of one family, one dataset per board size, smallest first.

    ``watch`` is called now and then with the number of positions so far. FileError if a file is
    missing or damaged.
    """
    groups = group_by_size(select_games(files, test, family))
    make_pool = partial(Pool[Any, Any], workers=threads)
    found: dict[tuple[int, int], list[Dataset]] = {}
    total = 0
    for dataset in in_order(make_pool, GameReader(weights).positions, groups):
        found.setdefault((dataset.height, dataset.width), []).append(dataset)
        total += dataset.size
        watch(total)
    return [join(parts) for size, parts in sorted(found.items())]
