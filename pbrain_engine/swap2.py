"""Choosing sides: the swap2 opening and balanced stones, decided by search values.

One player puts three stones (black, white, black). The other takes a colour or puts two
more (white, black) and leaves the choice of colours to the first. Every decision here
compares values that the engine's search gives, from the view of the side to move.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .position.rules import Rule

if TYPE_CHECKING:
    from .engine import Engine, Thought

Cell = tuple[int, int]

OPENINGS = 8  # openings of three stones that are compared
CANDIDATES = 6  # first stones of a pair that are followed up
CLOSE_CALL = 30  # of the value scale: within it, the better colour is a guess
PAIR_SHARE = 0.5  # of the time goes into looking for a pair of stones


class Searcher(NamedTuple):
    """The engine, and how to search its position with a share of the time that is left."""

    engine: Engine
    think: Callable[[float, int], list[Thought]]  # (share, count) -> the best moves, best first


class Choice(NamedTuple):
    """A decision: take the other colour, or put these stones."""

    swap: bool = False
    stones: tuple[Cell, ...] = ()


def set_up(engine: Engine, width: int, height: int, rule: Rule, stones: Sequence[Cell]) -> None:
    """Put stones on an empty board in turn, black first."""
    engine.new_game(width, height, rule)
    for x, y in stones:
        engine.play(x, y)


def openings(width: int, height: int, chance: random.Random) -> list[tuple[Cell, ...]]:
    """Return openings of three stones: one towards the centre, two looser, nothing connected.

    Black's two stones lie apart, so that neither colour has a threat yet; on a small board
    the stones move closer to fit.
    """
    found: list[tuple[Cell, ...]] = []
    reach_x, reach_y = max(1, min(width // 2, 6)), max(1, min(height // 2, 6))
    for attempt in range(OPENINGS * 50):
        if len(found) >= OPENINGS:
            break
        near = 0 if attempt % 2 else width // 4  # half of them begin away from the centre
        x = width // 2 + chance.randint(-1, 1) - near
        y = height // 2 + chance.randint(-1, 1)
        cells = [(x, y)]
        for _ in range(2):
            cells.append((x + chance.randint(-reach_x, reach_x),
                          y + chance.randint(-reach_y, reach_y)))  # fmt: skip
        inside = all(0 <= a < width and 0 <= b < height for a, b in cells)
        if inside and len(set(cells)) == 3 and tuple(cells) not in found:
            found.append(tuple(cells))
    return found or [((0, 0), (1, 0), (0, 1))]


def value_of(searcher: Searcher, share: float) -> int:
    """Return the value of the engine's position for the side to move."""
    thoughts = searcher.think(share, 1)
    return thoughts[0].value if thoughts else 0


def first_three(
    searcher: Searcher, width: int, height: int, rule: Rule, chance: random.Random | None = None
) -> Choice:
    """Return the three stones after which the position is closest to even."""
    candidates = openings(width, height, chance or random.Random())
    best, distance = candidates[0], None
    for index, stones in enumerate(candidates):
        set_up(searcher.engine, width, height, rule, stones)
        value = abs(value_of(searcher, 1 / (len(candidates) - index)))
        if distance is None or value < distance:
            best, distance = stones, value
    return Choice(stones=best)


def balanced_move(searcher: Searcher, bias: int, share: float = 1.0) -> tuple[Cell, int] | None:
    """Return the move whose value comes closest to the bias, with its value."""
    thoughts = [t for t in searcher.think(share, CANDIDATES * 2) if t.move is not None]
    if not thoughts:
        return None
    best = min(thoughts, key=lambda thought: abs(thought.value - bias))
    assert best.move is not None
    return (best.move[0], best.move[1]), best.value


def balanced_pair(
    searcher: Searcher, bias: int, share: float = 1.0
) -> tuple[tuple[Cell, Cell], int] | None:
    """Return two stones after which the side to move again stands closest to the bias.

    The first stones tried are spread over the whole range of the moves that the search
    values, for a pair is balanced by the second stone.
    """
    thoughts = searcher.think(share * 0.3, CANDIDATES * 2)
    firsts = [(t.move[0], t.move[1]) for t in thoughts if t.move is not None][::2]
    best: tuple[tuple[Cell, Cell], int] | None = None
    for index, first in enumerate(firsts):
        searcher.engine.play(*first)
        found = balanced_move(searcher, -bias, share * 0.7 / (len(firsts) - index))
        searcher.engine.undo()
        if found is None:
            continue
        second, value = found
        if best is None or abs(-value - bias) < abs(best[1] - bias):
            best = (first, second), -value
    return best


def choose(
    searcher: Searcher, width: int, height: int, rule: Rule, stones: Sequence[Cell]
) -> Choice:
    """Return what to do with three or five stones on the board, white to move.

    White's value decides the colour. After three stones, where it is too close to call,
    two more stones leave that guess to the opponent if they leave him no more than we had.
    """
    engine = searcher.engine
    set_up(engine, width, height, rule, stones)
    three = len(stones) == 3
    thoughts = searcher.think(1 - PAIR_SHARE if three else 1.0, 1)
    if not thoughts or thoughts[0].move is None:
        return Choice(swap=True)
    value, move = thoughts[0].value, thoughts[0].move
    if three and abs(value) <= CLOSE_CALL:
        pair = balanced_pair(searcher, 0)
        if pair is not None and abs(pair[1]) <= abs(value):
            return Choice(stones=pair[0])
    if value < 0:
        return Choice(swap=True)
    return Choice(stones=((move[0], move[1]),))
