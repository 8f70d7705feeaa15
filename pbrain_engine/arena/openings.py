"""Openings: lists from files, random stones, or balanced stones.

The opening of a round depends only on the seed and its number, so that a match can be resumed and
its games played in any order. ``numoku openings`` writes balanced openings to a file, each position
once, however it is turned, mirrored or reached.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import count, islice
from math import inf
from typing import Any

from ..engine.engine import Engine, Limit
from ..errors import INTERRUPTED, FileError, SettingsError, complain, counted
from ..files import decode, read_whole, shown, user_path
from ..game.cells import NotationError, format_offsets, parse_moves, parse_offsets
from ..game.game import Game
from ..options import SHARED, CommandLine, Option, not_below_zero, positive
from ..position.geometry import Coordinates, symmetries, transform
from ..progress import Progress
from ..workers import Pool, ThreadCache, in_order
from .settings import Board, MatchSettings

BALANCED, RANDOM, NONE = "balanced", "random", "none"
GENERATORS = (BALANCED, RANDOM, NONE)
DEFAULT_STONES = 5
TRIES = 60  # candidates for one balanced opening
BALANCE = 60  # a value; in freestyle 56 % for the better side
JUDGING_NODES = 30_000
GLANCE_NODES = 3_000  # of a first search that rejects most candidates
GLANCE_WINDOW = 2  # limit of the first search, as a multiple of the balance
LEAST_TABLE = 2_000_000  # bytes; small, because it is cleared for each position
TABLE_PER_NODE = 64  # bytes
SPREAD = 3  # largest distance of stones from the cell in their middle
MOST_STONES = (2 * SPREAD + 1) ** 2 // 2  # with more, nearly every opening is already won
BORDER = 0.5  # share of openings at the border, where games are decided later
BORDER_REACH = 3  # largest distance of a border cell from the outermost line

_STONES = re.compile(r"[0-9]{1,3}")

Judge = Callable[[Sequence[Coordinates]], int]  # the value of a position for the side to move


def read_lines(path: str) -> tuple[str, ...]:
    """Return the lines of an opening file without ``#`` comments; FileError if it has none."""
    text = decode(read_whole(path))
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    found = tuple(line for line in lines if line)
    if not found:
        raise FileError(f"{path} has no openings")
    return found


class Openings:
    """The openings of a match by number; ``skipped`` has unusable lines with the reason."""

    def __init__(self, settings: MatchSettings) -> None:
        """Read the lines of a file, or prepare to generate openings.

        SettingsError if no line is usable, or the opening would end the game.
        """
        self._settings = settings
        self._judge: Judge | None = None  # created for the first opening
        self.skipped: list[str] = []
        self._lines: list[list[Coordinates]] = []
        self._kind, _, stones = settings.openings.partition(":")
        self._stones = DEFAULT_STONES
        for line in settings.opening_lines:
            try:
                parse = parse_offsets if line[0] in "+-0123456789" else parse_moves
                opening = parse(line, settings.width, settings.height)
                problem = find_problem(settings.board, opening, settings.draw_stones)
            except NotationError as error:
                problem = str(error)
            if problem:
                self.skipped.append(f"{shown(line)}: {problem}")
            else:
                self._lines.append(opening)
        if self._lines:
            random.Random(settings.seed).shuffle(self._lines)
            return
        if self.skipped:
            raise SettingsError(f"no opening in the file is usable: {self.skipped[0]}")
        if stones:
            if not _STONES.fullmatch(stones) or int(stones) > MOST_STONES:
                raise SettingsError(f"openings: {self._kind} takes 0 to {MOST_STONES} stones")
            self._stones = int(stones)
        if self._kind in (BALANCED, RANDOM) and self._stones >= settings.draw_stones:
            raise SettingsError(
                f"openings: {self._kind}:{self._stones} leaves nothing to play, "
                f"games are drawn at {counted(settings.draw_stones, 'stone')}"
            )

    def __getitem__(self, number: int) -> list[Coordinates]:
        """Return an opening; the list of a file repeats after its end."""
        settings, opening = self._settings, list[Coordinates]()
        width, height = settings.width, settings.height
        chance = random.Random(f"{settings.seed}:{number}")
        if self._lines:
            opening = list(self._lines[number % len(self._lines)])
        elif self._kind == RANDOM:
            opening = self._random(chance, 0.0)
        elif self._kind == BALANCED:
            self._judge = self._judge or engine_judge(settings.board)
            tried = (self._random(chance, BORDER) for _ in range(TRIES))
            opening = first_balanced(tried, self._judge, BALANCE)
        if settings.transform:
            opening = transform(opening, chance.randrange(symmetries(width, height)), width, height)
        return opening

    def _random(self, chance: random.Random, border: float) -> list[Coordinates]:
        settings = self._settings
        while True:
            opening = scatter(chance, settings.width, settings.height, self._stones, border)
            if find_problem(settings.board, opening, settings.draw_stones) is None:
                return opening


def first_balanced(
    openings: Iterable[list[Coordinates]], judge: Judge, balance: int
) -> list[Coordinates]:
    """Return the first opening within ``balance`` of 0 in value, else the closest; [] of none."""
    best, least = list[Coordinates](), inf
    for opening in openings:
        if (value := abs(judge(opening))) < least:
            best, least = opening, value
        if least <= balance:
            break
    return best


def scatter(
    chance: random.Random, width: int, height: int, stones: int, border: float
) -> list[Coordinates]:
    """Return random stones around the centre, or with probability ``border`` a border cell."""
    middle = width // 2, height // 2
    if border and chance.random() < border:
        cells = [(x, y) for y in range(height) for x in range(width)]
        depths = [min(x, y, width - 1 - x, height - 1 - y) for x, y in cells]
        near = [cell for cell, depth in zip(cells, depths, strict=True) if depth <= BORDER_REACH]
        middle = chance.choice(near)
    near = square_around(middle, SPREAD, width, height)
    return chance.sample(near, min(stones, len(near) - 1))


def square_around(middle: Coordinates, reach: int, width: int, height: int) -> list[Coordinates]:
    """Return the cells of the board in the square with a given middle and reach."""
    return [
        (x, y)
        for y in range(max(0, middle[1] - reach), min(height, middle[1] + reach + 1))
        for x in range(max(0, middle[0] - reach), min(width, middle[0] + reach + 1))
    ]


def find_problem(board: Board, opening: Sequence[Coordinates], most: int) -> str | None:
    """Return why a game of ``most`` stones cannot begin with an opening, or None if it can."""
    game = Game(*board)
    for x, y in opening:
        if game.is_forbidden(x, y):
            return f"{x},{y} is forbidden to black"
        game.play(x, y)
        if game.winner is not None:
            return "it is already won"
    return "it fills the board" if game.ply >= most else None


def engine_judge(board: Board, nodes: int = JUDGING_NODES, balance: int = BALANCE) -> Judge:
    """Return a judge of positions: a reproducible search of our own engine.

    A position far from balanced in a first short search is not searched further.
    """
    engine = Engine(hash_size=max(LEAST_TABLE, TABLE_PER_NODE * nodes))

    def judge(opening: Sequence[Coordinates]) -> int:
        value = 0
        for limit in (min(nodes, GLANCE_NODES), nodes):
            engine.new_game(*board)
            engine.clear_hash()
            for x, y in opening:
                engine.play(x, y)
            value = engine.think(Limit(nodes=limit)).value
            if nodes <= GLANCE_NODES or abs(value) > GLANCE_WINDOW * balance:
                break
        return value

    return judge


# -- the command ---------------------------------------------------------------------------------

DEFAULT_COUNT = 100
HOPELESS = 20_000  # candidates in a row without a new opening until giving up

COMMAND = CommandLine(
    "numoku openings",
    "Make balanced openings of few stones for numoku match, one per line in offsets from the "
    "centre.",
    (
        Option("file", user_path, about="output file (standard output)",
               more={"nargs": "?"}),
        Option("--count", positive, DEFAULT_COUNT, "N", "number of openings"),
        SHARED["rule"]._replace(default="freestyle", about="name or code of the rule"),
        SHARED["size"]._replace(default="15", about="side of the board, or WxH"),
        "stones",
        "balance",
        SHARED["nodes"]._replace(default=JUDGING_NODES, about="nodes of the judging search"),
        Option("--border", not_below_zero, BORDER, "SHARE",
               "share of candidates at the border"),
        "seed",
        SHARED["concurrency"]._replace(about="searches at the same time"),
    ),
)  # fmt: skip


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of ``numoku openings``; SettingsError if they are invalid."""
    options = COMMAND.parse(argv)
    least, most = options.stones
    if least < 1 or most > MOST_STONES:
        raise SettingsError(f"--stones takes 1 to {MOST_STONES} stones")
    return options


def generate(options: argparse.Namespace) -> Iterator[list[Coordinates]]:
    """Yield openings, endlessly or until no more are found.

    They do not depend on the number of concurrent searches.
    """
    width, height = options.size
    board, judges = (width, height, options.rule), ThreadCache()

    def judge(number: int) -> tuple[list[Coordinates], bool]:
        """Return a candidate and whether it is balanced, by a search in this thread."""
        value_of = judges.get(board, lambda: engine_judge(board, options.nodes, options.balance))
        chance = random.Random(f"{options.seed}:opening:{number}")
        stones = chance.randint(*options.stones)
        opening = scatter(chance, width, height, stones, options.border)
        is_playable = find_problem(board, opening, width * height) is None
        return opening, is_playable and abs(value_of(opening)) <= options.balance

    seen: set[tuple[tuple[Coordinates, ...], ...]] = set()
    fruitless, make_pool = 0, partial(Pool[Any, Any], workers=options.concurrency)
    for opening, is_even in in_order(make_pool, judge, count()):
        images = (transform(opening, n, width, height) for n in range(symmetries(width, height)))
        key = min(tuple(tuple(sorted(image[side::2])) for side in (0, 1)) for image in images)
        fruitless += 1
        if is_even and key not in seen:
            seen.add(key)
            fruitless = 0
            yield opening
        if fruitless >= HOPELESS:
            return


def main(argv: Sequence[str] | None = None) -> int:
    """Make openings; return 0, 1 (too few found) or 130 (interrupted)."""
    was_interrupted = False
    options = parse(argv)
    progress = Progress(options.count, "openings", every=inf)
    if options.file and options.file.exists():
        raise FileError(f"{options.file} exists")
    opened = options.file.open("x") if options.file else nullcontext(sys.stdout)
    try:
        with opened as out:
            (width, height), (least, most) = options.size, options.stones
            print(
                f"# {options.rule.label} {width}x{height}, "
                f"{least} to {most} stones, within {options.balance} at {options.nodes} nodes, "
                f"border {options.border:g}, seed {options.seed}",
                file=out,
            )
            for opening in islice(generate(options), options.count):
                print(format_offsets(opening, width, height), file=out, flush=True)
                progress.done += 1
                progress.show()
    except KeyboardInterrupt:
        was_interrupted = True
    finally:
        if options.file and not progress.done:
            options.file.unlink()  # so that the next attempt can create it
    if was_interrupted:
        print(f"interrupted: {progress.done} of {options.count} openings", file=sys.stderr)
        return INTERRUPTED
    if progress.done < options.count:
        return complain(f"there are only {progress.done}")
    return 0
