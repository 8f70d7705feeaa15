"""What a network learns from: the positions of recorded games, as arrays on the disk.

One folder holds the positions of one rule family on one size of board, in the order of their
games. They are written once and then mapped, so that millions of them need no memory.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...eval.weights import COMBINATIONS, MASKS, Weights, family_of
from ...game.game import Game
from ...helpers import helped
from ...position.geometry import MARGIN, STRIDE
from ...position.rules import Side
from ...values import WIN_BAND
from ..features import (
    Reader,
    candidates_of,
    needs_order,
    needs_value,
    result_for,
)
from ..policy_records import Policy, policies_path, read_taught_games
from ..records import NO_VALUE, GamesError, Record, is_held_out, read_games
from ..value_model import best_scale, blend, chance

Array = NDArray[Any]
NO_CELL = -1
NO_SCORE = -32768  # of a cell that is no candidate
EMPTY, BLACK, WHITE = 3, 2, 1  # on a board, as in a line key
ALL = 255
AT_ONCE = 32  # games that a process reads at once
ABOUT = "about.json"

# Name, kind of number, and whether there is one for each cell of the board.
COLUMNS: tuple[tuple[str, str, bool], ...] = (
    ("board", "u1", True),
    ("score", "<i2", True),  # the linear move score of each candidate, else NO_SCORE
    ("mask", "<i2", False),
    ("linear", "<i2", False),  # the linear evaluation, for the side to move
    ("side", "u1", False),
    ("share", "u1", True),  # what the search gave each cell, the most of it as ``ALL``
    ("move", "<i2", False),  # the cell that the search chose
    ("last", "<i2", False),  # the cell of the stone before, or NO_CELL
    ("second", "<i2", False),  # the one before that
    ("value", "<i2", False),  # what the search said
    ("result", "<f4", False),  # 1 won, 0.5 draw, 0 lost, NaN unknown (of a branch)
    ("game", "<i4", False),
    ("held", "?", False),  # the game is held out
)


class Lessons(NamedTuple):
    """Positions of one family and size of board; seen by the side to move where not said."""

    height: int
    width: int
    board: NDArray[np.uint8]
    score: NDArray[np.int16]
    mask: NDArray[np.int16]
    linear: NDArray[np.int16]
    side: NDArray[np.uint8]
    share: NDArray[np.uint8]
    move: NDArray[np.int16]
    last: NDArray[np.int16]
    second: NDArray[np.int16]
    value: NDArray[np.int16]
    result: NDArray[np.float32]
    game: NDArray[np.int32]
    held: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.mask)

    @property
    def open(self) -> NDArray[np.bool_]:
        """Where the value has something to learn: no forced win was found."""
        return np.asarray(self.value < WIN_BAND)

    def search_scale(self, usual: float | None = None) -> float:
        """Return the scale with which the values of searches foretell results best.

        Where nothing that is learned from has a result it is the usual one.

        Raises:
            GamesError: there is no result, and no usual one was given.
        """
        chosen = ~self.held & (np.abs(self.value.astype(np.int64)) < WIN_BAND)
        chosen &= ~np.isnan(self.result)
        if not chosen.any():
            if usual is not None:
                return usual
            raise GamesError("there are no games with a result to learn from")
        return best_scale(
            self.value[chosen].astype(np.float64), self.result[chosen].astype(np.float64)
        )

    def targets(self, mix: float, scale: float | None = None) -> NDArray[np.float32]:
        """Return the chance to learn of each position; see ``value_model.blend``.

        Of a position without a result it is the chance that the search saw. ``scale``: how many
        units of a search's value are a logistic unit, if not what suits the results best.
        """
        chosen = np.flatnonzero(self.open)
        seen = chance(self.value[chosen].astype(np.float64), scale or self.search_scale())
        results = self.result[chosen]
        results = np.where(np.isnan(results), seen, results)
        targets = np.ones(len(self), np.float32)  # whoever has a forced win
        targets[chosen] = blend(self.side[chosen], results, self.game[chosen], seen, mix)
        return targets


class _Part(NamedTuple):
    """Some positions of one size of board, as they are written."""

    positions: int
    columns: list[bytes]


class _Writer:
    """Appends positions to the files of one folder."""

    def __init__(self, folder: Path, height: int, width: int) -> None:
        folder.mkdir(parents=True)
        self._folder, self._height, self._width = folder, height, width
        self._files: list[IO[bytes]] = [(folder / name).open("wb") for name, _, _ in COLUMNS]
        self.count = 0

    def append(self, part: _Part) -> None:
        for file, column in zip(self._files, part.columns, strict=True):
            file.write(column)
        self.count += part.positions

    def close(self) -> None:
        for file in self._files:
            file.close()

    def finish(self) -> None:
        about = {"height": self._height, "width": self._width, "positions": self.count}
        (self._folder / ABOUT).write_text(json.dumps(about), encoding="ascii")


def read_lessons(folder: Path) -> Lessons:
    """Map the positions of a folder that was written whole."""
    about = json.loads((folder / ABOUT).read_text(encoding="ascii"))
    height, width, count = about["height"], about["width"], about["positions"]
    columns = [
        np.memmap(folder / name, kind, "r", shape=(count, height * width) if cells else (count,))
        for name, kind, cells in COLUMNS
    ]
    return Lessons(height, width, *columns)


def _flat(cells: Array, width: int) -> Array:
    """Return cells of the padded board as ``y * width + x``."""
    return np.asarray((cells // STRIDE - MARGIN) * width + cells % STRIDE - MARGIN)


class Scores:
    """The linear move scores of a weight file."""

    def __init__(self, weights: Weights, record: Record) -> None:
        numbers = np.frombuffer(weights.block(record.rule), np.int16)
        start = 2 * COMBINATIONS + 2 * MASKS
        self._tables = numbers[start:].reshape(2, 2, COMBINATIONS).astype(np.int64)

    def of(self, side: Side, own: Array, enemy: Array) -> Array:
        """Return the scores of candidates by what they make and what they take away."""
        return np.asarray(self._tables[side, 0, own] + self._tables[side, 1, enemy])


class LearnedGame(NamedTuple):
    """A game to learn from, with what tree searches said of its moves where they did."""

    record: Record
    policies: tuple[Policy, ...]  # one for each position after the opening, or none at all
    held: bool  # it is held out


def shares_of(game: LearnedGame, ply: int) -> Array:
    """Return the share of each cell in the move of a position: all of it where one was played."""
    record = game.record
    shares = np.zeros(record.width * record.height, np.uint8)
    known = game.policies and ply >= record.opening
    policy = game.policies[ply - record.opening] if known else ()
    if not policy:
        shares[record.moves[ply]] = ALL
    for cell, share in policy:
        shares[cell] = (ALL * share + policy[0][1] // 2) // policy[0][1]
    return shares


def positions_of(
    taught: LearnedGame, weights: Weights, reader: Reader
) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of each position of a game that has something to teach, but for the last.

    What the search decides at a glance is left out.
    """
    record = taught.record
    game = Game(record.width, record.height, record.rule, weights=weights)
    scores = Scores(weights, record)
    cells = record.width * record.height
    board = np.full(cells, EMPTY, np.uint8)
    last = second = NO_CELL
    for ply, (cell, value) in enumerate(zip(record.moves, record.values, strict=True)):
        side = game.to_move
        glance = reader.glance(game) if value != NO_VALUE else None
        if glance is not None and needs_order(glance.mask):
            near, own, enemy = candidates_of(glance, side)
            places = glance.cells[near]
            score = np.full(cells, NO_SCORE, np.int16)
            score[_flat(places, record.width)] = scores.of(side, own, enemy)
            if score[cell] != NO_SCORE or needs_value(glance.mask, value):
                result = result_for(record, side)
                yield (
                    board.copy(), score, glance.mask, game.value(), int(side),
                    shares_of(taught, ply), cell, last, second, value, result,
                )  # fmt: skip
        board[cell] = BLACK if side is Side.BLACK else WHITE
        last, second = cell, last
        game.play(cell % record.width, cell // record.width)


Parts = dict[tuple[int, int], _Part]  # by height and width of the board
Dealt = tuple[int, LearnedGame]  # which game it is


def parts_of(games: list[Dealt], weights: Weights) -> Parts:
    """Return the positions of some games."""
    reader, found = Reader(), dict[tuple[int, int], list[tuple[Any, ...]]]()
    for number, game in games:
        rows = found.setdefault((game.record.height, game.record.width), [])
        rows += [(*columns, number, game.held) for columns in positions_of(game, weights, reader)]
    return {size: _Part(len(rows), _columns(rows)) for size, rows in found.items()}


def _columns(rows: list[tuple[Any, ...]]) -> list[bytes]:
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return [
        np.array(column, kind).tobytes()
        for (_, kind, _), column in zip(COLUMNS, columns, strict=True)
    ]


def write_lessons(
    learned: Iterable[LearnedGame],
    family: str,
    weights: Weights,
    folder: Path,
    watch: Callable[[int], None] = lambda positions: None,
    processes: int = 1,
) -> None:
    """Write the positions of all games of a family, a folder for each size of board.

    ``watch`` is told now and then how many positions there are. Games whose board never occurs
    again cost nothing but their folder. However many processes read the games, the files are
    the same.
    """
    writers = dict[tuple[int, int], _Writer]()
    games = (
        (number, game)
        for number, game in enumerate(learned)
        if family_of(game.record.rule) == family
    )
    batches = iter(lambda: list(islice(games, AT_ONCE)), [])
    total = 0
    with ExitStack() as stack:
        if processes == 1:
            found: Iterator[Parts] = (parts_of(batch, weights) for batch in batches)
        else:
            linear = weights._replace(streams={})  # all that is asked, and that can be sent
            read = helped(processes, partial(parts_of, weights=linear), batches)
            found = stack.enter_context(closing(read))
        for parts in found:
            for size, part in parts.items():
                if size not in writers:
                    height, width = size
                    writers[size] = _Writer(folder / f"{width}x{height}", height, width)
                    stack.callback(writers[size].close)
                writers[size].append(part)
                total += part.positions
            watch(total)
        for writer in writers.values():
            writer.finish()


def with_policies(path: Path) -> Iterator[tuple[Record, tuple[Policy, ...]]]:
    """Yield the games of a file, each with the policies of the file beside it if there is one."""
    if policies_path(path).exists():
        for record, taught in read_taught_games(path):
            yield record, taught.policies
    else:
        for record in read_games(path):
            yield record, ()


def dealt(files: Iterable[Path], test: Iterable[Path]) -> Iterator[LearnedGame]:
    """Yield the games of files; held out are the test files, or one game in sixteen.

    Raises:
        GamesError: a file is missing or damaged.
    """
    test = list(test)
    for path in files:
        for record, policies in with_policies(path):
            yield LearnedGame(record, policies, not test and is_held_out(record.number))
    for path in test:
        for record, policies in with_policies(path):
            yield LearnedGame(record, policies, True)


def sized(path: Path) -> tuple[str, int, int]:
    """Return a file of games, and by the sizes of it and of its policies what is in it."""
    beside = policies_path(path)
    return str(path), path.stat().st_size, beside.stat().st_size if beside.exists() else 0


def prepare(
    files: list[Path],
    test: list[Path],
    family: str,
    weights: Weights,
    folder: Path,
    watch: Callable[[int], None] = lambda positions: None,
    processes: int = 1,
) -> list[Lessons]:
    """Return the positions of one family, by size of board; those of the last call if they fit.

    Raises:
        GamesError: a file is missing or damaged; what was there before stays.
    """
    wanted = {
        "files": [[*sized(path), held] for held, paths in ((False, files), (True, test))
                  for path in paths],
        "columns": [name for name, _, _ in COLUMNS],
        "weights": weights.key,
    }  # fmt: skip
    about = folder / ABOUT
    if not about.exists() or json.loads(about.read_text(encoding="utf-8")) != wanted:
        half_made = folder.with_name(folder.name + ".part")
        shutil.rmtree(half_made, ignore_errors=True)
        half_made.mkdir(parents=True)
        write_lessons(dealt(files, test), family, weights, half_made, watch, processes)
        shutil.rmtree(folder, ignore_errors=True)
        (half_made / ABOUT).write_text(json.dumps(wanted), encoding="utf-8")
        half_made.rename(folder)
    found = [path.parent for path in sorted(folder.glob(f"*/{ABOUT}"))]
    return [read_lessons(each) for each in found if (each / COLUMNS[0][0]).stat().st_size]
