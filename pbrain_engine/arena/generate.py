"""``numoku openings``: make a file of openings of equal chances for matches.

Random stones are looked at in order, as in the openings that a match generates for itself.
Each position is written once, however it is turned, mirrored or reached; a part of them lies
at the border.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from math import inf
from pathlib import Path
from typing import TextIO

from ..game.game import Game
from ..native.load.library import KernelError
from ..notation.cells import format_offsets
from ..options import Parser, add_value, not_below_zero, positive, problem_of, span, whole
from ..position.geometry import Coordinates, symmetries, transform
from ..progress import Progress
from ..workers import in_order
from .openings import (
    BALANCE,
    BORDER,
    JUDGING_NODES,
    MOST_STONES,
    engine_judge,
    find_problem,
    scatter,
)
from .settings import MatchSettings, SettingsError, parse_board, parse_engine, parse_rule

Key = tuple[tuple[Coordinates, ...], tuple[Coordinates, ...]]

DEFAULT_COUNT = 100
DEFAULT_STONES = (3, 7)
INTERRUPTED = 130  # exit status
HOPELESS = 20_000  # candidates in a row without a new opening: there are no more


@dataclass(frozen=True, slots=True)
class Recipe:
    """What openings are wanted; a candidate depends on it and on its own number alone."""

    settings: MatchSettings  # board, rule and seed
    stones: tuple[int, int] = DEFAULT_STONES
    balance: int = BALANCE
    nodes: int = JUDGING_NODES
    border: float = BORDER
    book: str = ""  # from which they are taken, instead of random stones

    def candidate(self, number: int) -> list[Coordinates]:
        """Return random stones, grouped around the centre or around a cell at the border."""
        chance = random.Random(f"{self.settings.seed}:opening:{number}")
        stones = chance.randint(*self.stones)
        return scatter(chance, self.settings.width, self.settings.height, stones, self.border)


def key_of(opening: Sequence[Coordinates], width: int, height: int) -> Key:
    """Return the same for all openings whose positions are alike by symmetry."""
    images = (transform(opening, n, width, height) for n in range(symmetries(width, height)))
    return min((tuple(sorted(image[0::2])), tuple(sorted(image[1::2]))) for image in images)


def generate(recipe: Recipe, concurrency: int = 1) -> Iterator[list[Coordinates]]:
    """Yield openings without end, or until there are no more.

    They are the same whatever the number of searches at once.
    """
    settings, own = recipe.settings, threading.local()

    def judge(number: int) -> tuple[list[Coordinates], bool]:
        """Return a candidate and whether its chances are equal, by a search of this thread's."""
        if not hasattr(own, "judge"):
            own.judge = engine_judge(settings, recipe.nodes, recipe.balance)
        opening = recipe.candidate(number)
        is_playable = find_problem(settings, opening) is None
        return opening, is_playable and abs(own.judge(opening)) <= recipe.balance

    seen: set[Key] = set()
    fruitless = 0
    with ThreadPoolExecutor(concurrency, "judge") as executor:
        try:
            for opening, is_even in in_order(executor, concurrency, judge, count()):
                key = key_of(opening, settings.width, settings.height)
                fruitless += 1
                if is_even and key not in seen:
                    seen.add(key)
                    fruitless = 0
                    yield opening
                if fruitless >= HOPELESS:
                    return
        finally:
            executor.shutdown(cancel_futures=True)


def from_book(recipe: Recipe) -> list[list[Coordinates]]:
    """Return the even positions of a book, in an order that the seed decides.

    Raises:
        BookError: the book cannot be read; an ``OSError``.
    """
    from ..engine.book import Book  # SQLite, which matches do without

    settings = recipe.settings
    game = Game(settings.width, settings.height, settings.rule)
    book = Book(recipe.book)
    try:
        least, most = recipe.stones
        found = [
            opening
            for stones in range(least, most + 1)
            for opening in book.balanced(game, stones, recipe.balance)
        ]
    finally:
        book.close()
    random.Random(f"{settings.seed}:book").shuffle(found)
    return found


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = Parser(
        prog="numoku openings",
        description="Make openings of few stones in which a search sees neither side ahead, "
        "one a line in offsets from the centre, as numoku match reads them.",
    )
    add = parser.add_argument
    least, most = DEFAULT_STONES
    add("file", nargs="?", type=Path, help="where they are written (standard output)")
    add("--count", type=positive, default=DEFAULT_COUNT, metavar="N", help=f"({DEFAULT_COUNT})")
    add("--rule", default="freestyle", metavar="R", help="name or code of the rule (freestyle)")
    add("--board", "--size", default="15", metavar="N", help="side of the board, or WxH (15)")
    add("--stones", type=span, default=f"{least}-{most}", metavar="N-M", help=f"({least}-{most})")
    value = partial(add_value, parser)
    value("--balance", whole, BALANCE, "V", "the greatest value for either side")
    value("--nodes", positive, JUDGING_NODES, "N", "of the search that decides")
    value("--border", not_below_zero, BORDER, "SHARE", "of the candidates that lie at the border")
    add("--book", default="", metavar="BOOK",
        help="take the even positions of a book, and search nothing")  # fmt: skip
    add("--seed", type=int, default=1, metavar="N", help="of everything random (1)")
    value("--concurrency", positive, 1, "N", "searches at the same time")
    return parser


def recipe_of(options: argparse.Namespace) -> Recipe:
    """Return the recipe that the options ask for.

    Raises:
        SettingsError: they make no sense.
    """
    width, height = parse_board(options.board)
    least, most = options.stones
    if least < 1 or most > MOST_STONES:
        raise SettingsError(f"--stones takes 1 to {MOST_STONES} stones")
    engine = parse_engine("numoku")
    settings = MatchSettings(
        (engine, engine), width=width, height=height, rule=parse_rule(options.rule),
        seed=options.seed,
    )  # fmt: skip
    return Recipe(
        settings, options.stones, options.balance, options.nodes, options.border, options.book
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the openings; return 0, 1 (too few, or no kernel), 2 (usage) or 130 (interrupted)."""
    options = make_parser().parse_args(arguments)
    progress = Progress(options.count, "openings", every=inf)
    try:
        recipe = recipe_of(options)
        if options.file and options.file.exists():
            raise SettingsError(f"{options.file} exists")
        source = from_book(recipe) if recipe.book else generate(recipe, options.concurrency)
        with options.file.open("x") if options.file else nullcontext(sys.stdout) as out:
            interrupted = write(recipe, islice(source, options.count), progress, out)
        if options.file and not progress.done:
            options.file.unlink()  # else it would be in the way of the next attempt
    except (SettingsError, KernelError, OSError) as error:
        print(f"numoku openings: {problem_of(error)}", file=sys.stderr)
        return 2 if isinstance(error, SettingsError) else 1
    if interrupted:
        print(f"interrupted: {progress.done} of {options.count} openings", file=sys.stderr)
        return INTERRUPTED
    if progress.done < options.count:
        print(f"numoku openings: there are only {progress.done}", file=sys.stderr)
        return 1
    return 0


def write(
    recipe: Recipe, openings: Iterable[list[Coordinates]], progress: Progress, out: TextIO
) -> bool:
    """Write each opening as soon as it is found; return whether an interrupt ended it."""
    settings = recipe.settings
    rule = settings.rule.name.lower().replace("_", "-")
    least, most = recipe.stones
    if recipe.book:
        how = f"of the book {Path(recipe.book).name}"
    else:
        how = f"at {recipe.nodes} nodes, border {recipe.border:g}"
    out.write(
        f"# {rule} {settings.width}x{settings.height}, {least} to {most} stones, "
        f"within {recipe.balance} {how}, seed {settings.seed}\n"
    )
    try:
        for opening in openings:
            out.write(f"{format_offsets(opening, settings.width, settings.height)}\n")
            out.flush()
            progress.done += 1
            progress.show()
    except KeyboardInterrupt:
        return True
    return False
