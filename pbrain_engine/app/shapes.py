"""What a stone on an empty cell would make for a side, and why renju forbids it.

A line is a string of the cells through one cell: ``O`` own stone, ``.`` empty cell, ``X``
opposing stone, ``#`` wall or edge. This is for display; the search has tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ..files import Document
from ..game.diagram import DIRECTIONS
from ..game.game import Game
from ..position.rules import Rule, Side

REACH = 6  # relevant cells of a line on either side
OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = "overline", "double four", "double three"
FIVE, OPEN_FOUR, FOUR, THREE = "five", "open four", "four", "three"
FOUR_THREE = "four and three"


def _row(line: str, at: int) -> tuple[int, int]:
    """Return the start and end (exclusive) of the row of own stones around a cell."""
    first, end = at, at + 1
    while first > 0 and line[first - 1] == "O":
        first -= 1
    while end < len(line) and line[end] == "O":
        end += 1
    return first, end


@cache
def _is_five(line: str, at: int, rule: Rule, side: Side) -> bool:
    """Return whether the own row through a cell wins."""
    first, end = _row(line, at)
    if end - first > 5:
        return not rule.traits.exact[side]
    ends = line[max(first - 1, 0) : first], line[end : end + 1]
    return end - first == 5 and not (rule.traits.closing and ends == ("X", "X"))


def _longer(line: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield each cell that extends the middle row, with the new line and the new row's ends."""
    for at, sign in enumerate(line):
        if sign == ".":
            after = f"{line[:at]}O{line[at + 1 :]}"
            first, end = _row(after, at)
            if first <= REACH < end:
                yield at, after, first, end


@cache
def _fives(line: str, rule: Rule, side: Side) -> tuple[int, ...]:
    """Return the empty cells that make five with the stone in the middle."""
    return tuple(at for at, after, *_ in _longer(line) if _is_five(after, at, rule, side))


@cache
def line_shape(line: str, rule: Rule, side: Side) -> tuple[str, int]:
    """Return what the stone in the middle of a line makes, and its number of fours."""
    if _is_five(line, REACH, rule, side):
        return FIVE, 0
    first, end = _row(line, REACH)
    if end - first > 5:
        return OVERLINE, 0
    fives = _fives(line, rule, side)
    if len(fives) > 1:
        straight = end - first == 4 and fives == (first - 1, end)
        return (OPEN_FOUR, 1) if straight else (DOUBLE_FOUR, 2)
    if fives:
        return FOUR, 1
    for _, after, first, end in _longer(line):
        if end - first == 4 and _fives(after, rule, side) == (first - 1, end):
            return THREE, 0
    return "", 0


def shape_of(game: Game, x: int, y: int, side: Side) -> str:
    """Return the strongest shape that a side makes on an empty cell; often empty."""
    signs, made = {Side.EMPTY: ".", Side.WALL: "#", side: "O", side.opponent: "X"}, []
    for dx, dy in DIRECTIONS:
        held = [game.at(x + step * dx, y + step * dy) for step in range(-REACH, REACH + 1)]
        held[REACH] = side
        made.append(line_shape("".join(signs[one] for one in held), game.rule, side))
    names = [name for name, _ in made]
    fours = sum(count for _, count in made)
    if FIVE in names:
        return FIVE
    if OVERLINE in names and game.rule is Rule.RENJU and side is Side.BLACK:
        return OVERLINE
    if fours > 1:
        return DOUBLE_FOUR
    if OPEN_FOUR in names:
        return OPEN_FOUR
    threes = names.count(THREE)
    if fours:
        return FOUR_THREE if threes else FOUR
    return DOUBLE_THREE if threes > 1 else THREE if threes else ""


def foul_of(game: Game, x: int, y: int) -> str:
    """Return the kind of foul on a cell that renju forbids to black."""
    shape = shape_of(game, x, y, Side.BLACK)
    return shape if shape in (OVERLINE, DOUBLE_FOUR) else DOUBLE_THREE


def shapes(game: Game) -> dict[str, list[Document]]:
    """Return, for each side, the cells where it makes a three or more, and what it makes."""
    return {
        side.name.lower(): [
            {"cell": [x, y], "makes": shape}
            for x, y in game.empty_cells()
            if (shape := shape_of(game, x, y, side))
        ]
        for side in (Side.BLACK, Side.WHITE)
    }
