"""Where games begin: lists from files, random stones, or generated stones of equal chances.

Every opening depends only on the match's seed and its own number, so that a match can be
resumed, or its games played in any order on any machine.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import decode
from ..notation.cells import NotationError, parse_moves, parse_offsets
from ..options import problem_of
from ..position.geometry import Coordinates, symmetries, transform
from ..position.rules import Rule
from .referee import set_up
from .settings import MatchSettings, SettingsError

if TYPE_CHECKING:
    from ..engine.engine import Engine
    from ..game.game import Game

BALANCED, RANDOM, NONE = "balanced", "random", "none"
GENERATORS = (BALANCED, RANDOM, NONE)
DEFAULT_STONES = 5
TRIES = 60  # random sets of stones looked at for one balanced opening
BALANCE = 60  # a value: at the scale of freestyle 56 % for the better side
JUDGING_NODES = 30_000
GLANCE_NODES = 3_000  # of a search that throws most out
GLANCE_WINDOW = 2  # times the balance that is wanted: what it lets pass
LEAST_TABLE = 2_000_000  # bytes; a fresh one for each position costs little
TABLE_PER_NODE = 64  # bytes
SPREAD = 3  # stones lie within this of the cell that they are grouped around
MOST_STONES = (2 * SPREAD + 1) ** 2 // 2  # with more, hardly any opening is not yet won
BORDER = 0.5  # share of openings that lie at the border: games are decided less soon there
BORDER_REACH = 3  # a cell is at the border if it is this close to it, from 0
REMEMBERED = 256  # openings: tuning asks for the same ones again and again

_STONES = re.compile(r"[0-9]{1,3}")

Judge = Callable[[Sequence[Coordinates]], int]  # the value of a position for the side to move


def read_opening(text: str, width: int, height: int) -> list[Coordinates]:
    """Return the stones of one line, in offsets from the centre or in ``h8i9``."""
    words = text.strip()
    if not words or words[0].isdigit() or words[0] in "+-":
        return parse_offsets(words, width, height)
    return parse_moves(words, width, height)


def read_lines(path: str) -> tuple[str, ...]:
    """Return the openings of a file, one a line; ``#`` begins a comment.

    Raises:
        SettingsError: the file cannot be read or holds none.
    """
    try:
        text = decode(Path(path).read_bytes())
    except OSError as error:
        raise SettingsError(f"openings: {problem_of(error)}") from None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    found = tuple(line for line in lines if line)
    if not found:
        raise SettingsError(f"openings: {path} holds none")
    return found


class Openings:
    """The openings of a match by number; ``skipped`` says what a file held in vain."""

    def __init__(self, settings: MatchSettings, judge: Judge | None = None) -> None:
        """Take a file's lines that suit board and rule, or get ready to generate.

        Raises:
            SettingsError: no line suits, or the generator is unknown.
        """
        self._settings = settings
        self._judge = judge
        self._made = lru_cache(REMEMBERED)(self._make)
        self.skipped: list[str] = []
        self._lines: list[list[Coordinates]] = []
        kind, _, stones = settings.openings.partition(":")
        self._kind = kind
        self._stones = DEFAULT_STONES
        if settings.opening_lines:
            self._lines = list(self._usable(settings.opening_lines))
            if not self._lines:
                raise SettingsError(f"no opening of the file suits: {self.skipped[0]}")
            random.Random(settings.seed).shuffle(self._lines)
        elif kind not in GENERATORS:
            raise SettingsError(
                f"openings: {settings.openings!r} is no file and none of {', '.join(GENERATORS)}"
            )
        elif stones:
            if not _STONES.fullmatch(stones) or int(stones) > MOST_STONES:
                raise SettingsError(f"openings: {kind} takes 0 to {MOST_STONES} stones")
            self._stones = int(stones)
        if not self._lines and kind != NONE and self._stones >= settings.draw_stones:
            raise SettingsError(
                f"openings: {kind}:{self._stones} leaves nothing to play, "
                f"a draw comes at {settings.draw_stones} stones"
            )

    def _usable(self, lines: Iterable[str]) -> Iterable[list[Coordinates]]:
        for line in lines:
            try:
                opening = read_opening(line, self._settings.width, self._settings.height)
            except NotationError as error:
                self.skipped.append(f"{line}: {error}")
                continue
            problem = find_problem(self._settings, opening)
            if problem:
                self.skipped.append(f"{line}: {problem}")
            else:
                yield opening

    def __getitem__(self, number: int) -> list[Coordinates]:
        """Return an opening; a file's list begins again after its end."""
        return list(self._made(number))

    def _make(self, number: int) -> list[Coordinates]:
        chance = random.Random(f"{self._settings.seed}:{number}")
        if self._lines:
            opening = self._lines[number % len(self._lines)]
        elif self._kind == NONE:
            opening = []
        elif self._kind == RANDOM:
            opening = self._random(chance, 0.0)
        else:
            opening = self._balanced(chance)
        if self._settings.transform:
            width, height = self._settings.width, self._settings.height
            opening = transform(opening, chance.randrange(symmetries(width, height)), width, height)
        return opening

    def _random(self, chance: random.Random, border: float) -> list[Coordinates]:
        width, height = self._settings.width, self._settings.height
        while True:
            opening = scatter(chance, width, height, self._stones, border)
            if find_problem(self._settings, opening) is None:
                return opening

    def _balanced(self, chance: random.Random) -> list[Coordinates]:
        if self._judge is None:
            self._judge = engine_judge(self._settings)
        tried = (self._random(chance, BORDER) for _ in range(TRIES))
        return first_balanced(tried, self._judge, BALANCE)


def first_balanced(
    openings: Iterable[list[Coordinates]], judge: Judge, balance: int
) -> list[Coordinates]:
    """Return the first opening within ``balance`` of 0, or else the closest; [] of none."""
    best: tuple[int, list[Coordinates]] | None = None
    for opening in openings:
        value = abs(judge(opening))
        if best is None or value < best[0]:
            best = value, opening
        if value <= balance:
            break
    return best[1] if best is not None else []


def scatter(
    chance: random.Random, width: int, height: int, stones: int, border: float = 0.0
) -> list[Coordinates]:
    """Return random stones grouped around the centre, or around a cell at the border.

    ``border`` is the share of the latter.
    """
    middle = width // 2, height // 2
    if border and chance.random() < border:
        cells = [(x, y) for y in range(height) for x in range(width)]
        near_border = [
            cell
            for cell in cells
            if min(*cell, width - 1 - cell[0], height - 1 - cell[1]) <= BORDER_REACH
        ]
        middle = chance.choice(near_border)
    near = square_around(middle, SPREAD, width, height)
    return chance.sample(near, min(stones, len(near) - 1))


def square_around(middle: Coordinates, reach: int, width: int, height: int) -> list[Coordinates]:
    """Return the cells of the board that lie within a reach of one, both ways."""
    return [
        (x, y)
        for y in range(max(0, middle[1] - reach), min(height, middle[1] + reach + 1))
        for x in range(max(0, middle[0] - reach), min(width, middle[0] + reach + 1))
    ]


def find_problem(settings: MatchSettings, opening: Sequence[Coordinates]) -> str | None:
    """Return why a game cannot begin like this, or None if it can."""
    return problem_on(set_up(settings, ()), opening, settings.draw_stones)


def problem_on(game: Game, opening: Sequence[Coordinates], draw_stones: int) -> str | None:
    """Return why stones cannot be played on an empty game to begin with, or None if they can."""
    for x, y in opening:
        if game.is_forbidden(x, y):
            return f"{x},{y} is forbidden to black"
        game.play(x, y)
        if game.winner is not None:
            return "it is already won"
    return "it fills the board" if game.ply >= draw_stones else None


def begin(
    engine: Engine, width: int, height: int, rule: Rule, opening: Sequence[Coordinates]
) -> None:
    """Make an engine forget everything but the stones of an opening."""
    engine.new_game(width, height, rule)
    engine.clear_hash()
    for x, y in opening:
        engine.play(x, y)


def engine_judge(
    settings: MatchSettings, nodes: int = JUDGING_NODES, balance: int = BALANCE
) -> Judge:
    """Return a judge of positions: a search of our own engine, the same everywhere.

    What a glance sees far from balance is not searched any further.
    """
    from ..engine.engine import Engine, Limit

    engine = Engine(hash_size=max(LEAST_TABLE, TABLE_PER_NODE * nodes))

    def value_at(opening: Sequence[Coordinates], nodes: int) -> int:
        begin(engine, settings.width, settings.height, settings.rule, opening)
        return engine.think(Limit(nodes=nodes)).value

    def judge(opening: Sequence[Coordinates]) -> int:
        glance = value_at(opening, min(nodes, GLANCE_NODES))
        if nodes <= GLANCE_NODES or abs(glance) > GLANCE_WINDOW * balance:
            return glance
        return value_at(opening, nodes)

    return judge
