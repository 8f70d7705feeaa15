"""Why renju forbids black a cell, in words."""

from __future__ import annotations

from ..game.game import Game
from ..notation.picture import DIRECTIONS
from ..position.geometry import Coordinates
from ..position.rules import Side

OVERLINE = "a row of six or more"
DOUBLE_FOUR = "two fours at once"
DOUBLE_THREE = "two open threes at once"
REACH = 5  # cells on either side that a five through a cell, or a six, can touch


def foul_at(game: Game, x: int, y: int) -> str:
    """Return what a black stone would make on a cell that is forbidden to it."""
    lines = [_line(game, (x, y), step) for step in DIRECTIONS]
    if any(len(_run(line, REACH)) > 5 for line in lines):
        return OVERLINE
    if sum(len(_fours(line)) for line in lines) > 1:
        return DOUBLE_FOUR
    return DOUBLE_THREE


def _line(game: Game, cell: Coordinates, step: Coordinates) -> list[Side]:
    """Return what stands along a line, with a black stone on the cell in its middle."""
    (x, y), (dx, dy) = cell, step
    line = [game.at(x + n * dx, y + n * dy) for n in range(-REACH, REACH + 1)]
    line[REACH] = Side.BLACK
    return line


def _run(line: list[Side], at: int) -> range:
    """Return the places of the black stones that stand in a row with the one here."""
    first = last = at
    while first > 0 and line[first - 1] is Side.BLACK:
        first -= 1
    while last < len(line) - 1 and line[last + 1] is Side.BLACK:
        last += 1
    return range(first, last + 1)


def _fours(line: list[Side]) -> set[frozenset[int]]:
    """Return the sets of four stones, the middle one among them, that one stone makes a five."""
    fours = set()
    for place in range(1, len(line) - 1):
        if line[place] is not Side.EMPTY:
            continue
        run = _run([*line[:place], Side.BLACK, *line[place + 1 :]], place)
        if len(run) == 5 and REACH in run:
            fours.add(frozenset(run) - {place})
    return fours
