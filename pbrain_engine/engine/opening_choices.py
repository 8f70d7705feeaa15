"""How the engine plays opening rules: every choice compares values of its own searches.

All values here are black's. Where black offers N fifth stones and white chooses, black gets the
N-th best of them, so that is what a position of four stones is worth; where a side may still
swap, what counts is how far from even it is. A player swaps where the other colour stands better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..game.cells import cell_name
from ..game.opening_names import openings
from ..game.opening_rules import Act, OpeningPlay, Step
from ..position.geometry import Coordinates, transform
from . import swap2
from .swap2 import OpeningSearch, set_up

if TYPE_CHECKING:
    from random import Random

NAMED = 6  # of the 26 openings are compared
FINALISTS = 3  # even stones are searched again
FOURTHS = 4  # fourth stones are followed up
MARGIN = 2  # more fifth stones are asked for than are offered


def decide(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> str:
    """Return the engine's action for the step of an opening, as ``OpeningPlay.play`` takes it.

    ``searcher`` shares out the time of this step; its engine gets other stones on its board.
    """
    step = opening.step
    assert step is not None, "the opening is over"
    choices = {
        Act.PUT: _put, Act.SWAP: _swap, Act.COUNT: _count,
        Act.OFFER: _offer, Act.CHOOSE: _choose, Act.BRANCH: _branch,
    }  # fmt: skip
    return choices[step.act](searcher, opening, step, chance)


def fifths(
    searcher: OpeningSearch,
    opening: OpeningPlay,
    stones: Sequence[Coordinates],
    count: int,
    share: float,
) -> list[tuple[int, Coordinates]]:
    """Return the best fifth stones with black's values, best first, no two of them symmetric.

    They are ``count`` or a few more, fewer only where the search lists fewer.
    """
    set_up(searcher.engine, stones)
    equivalent = len(opening.twins([(0, 1)], stones))  # symmetries of the position: 1, 2, 4 or 8
    chosen: dict[Coordinates, int] = {}
    for thought in searcher.best(share, (count + MARGIN) * equivalent):
        cell = (thought.move.x, thought.move.y)
        if cell not in opening.twins(chosen, stones):
            chosen[cell] = thought.value
    return sorted(((value, cell) for cell, value in chosen.items()), reverse=True)


def _nth(values: Sequence[tuple[int, Coordinates]], number: int) -> int:
    return values[min(number, len(values)) - 1][0]


def _value(searcher: OpeningSearch, stones: Sequence[Coordinates], share: float) -> int:
    """Return black's value of a position."""
    set_up(searcher.engine, stones)
    value = searcher.best(share, 1)[0].value
    return value if len(stones) % 2 == 0 else -value


def _number_for(values: Sequence[tuple[int, Coordinates]], low: int, high: int) -> int:
    """Return how many fifth stones make the position most even."""
    return min(range(low, high + 1), key=lambda number: abs(_nth(values, number)))


def _fourths(searcher: OpeningSearch, opening: OpeningPlay, share: float) -> list[Coordinates]:
    """Return the fourth stones that are worth a closer look, the best first."""
    set_up(searcher.engine, opening.stones)
    step = opening.step
    allowed = set(opening.cells()) if step is not None and step.act is Act.PUT else None
    found = [(thought.move.x, thought.move.y) for thought in searcher.best(share, 3 * FOURTHS)]
    if allowed is None:
        return found[:FOURTHS]
    return ([cell for cell in found if cell in allowed] or sorted(allowed))[:FOURTHS]


def _put(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    number = len(opening.stones)
    if number < 3 and all(first.act is Act.PUT for first in opening.rule.steps[:3]):
        if step.reach is None and number == 0:
            stones = swap2.first_three(_on(searcher, opening), chance).stones
        else:
            stones = tuple(_named(searcher, opening, chance))
        return " ".join(cell_name(*cell) for cell in stones)
    if number == 3 and step.who == "white":
        return cell_name(*_fourth(searcher, opening))
    if step.reach is not None:
        return cell_name(*_even(searcher, opening, chance))
    if number in (3, 4) and step.who == "second":  # the two more of swap2
        pair, _ = swap2.balanced_pair(_on(searcher, opening), 0)
        return " ".join(cell_name(*cell) for cell in pair[number - 3 :])
    return cell_name(*_on(searcher, opening).best(1.0, 1)[0].move)


def _on(searcher: OpeningSearch, opening: OpeningPlay) -> OpeningSearch:
    """Put the stones of an opening on the engine's board."""
    set_up(searcher.engine, opening.stones)
    return searcher


def _named(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> list[Coordinates]:
    """Return the stones that are missing to one of the 26 openings, a rather even one."""
    turned = [
        transform(each.stones, number, opening.size, opening.size)
        for each in openings().values()
        for number in range(8)
    ]
    placed = opening.stones
    fitting = [stones for stones in turned if stones[: len(placed)] == placed]
    if not fitting:  # stones that are free, and begin otherwise
        fitting = [[*placed, *chance.sample(opening.cells(), 3 - len(placed))]]
    drawn = chance.sample(fitting, min(NAMED, len(fitting)))
    best = min(
        enumerate(drawn),
        key=lambda item: abs(_value(searcher, item[1], 1 / (len(drawn) - item[0]))),
    )[1]
    return best[len(placed) :]


def _fourth(searcher: OpeningSearch, opening: OpeningPlay) -> Coordinates:
    """Return white's fourth stone: the best one, or the most even where black may change sides."""
    follow = opening.rule.steps
    asks = next((step for step in follow if step.act is Act.COUNT and step.who == "white"), None)
    ten = any(step.act is Act.BRANCH for step in follow)
    tried: list[tuple[float, Coordinates]] = []
    cells = _fourths(searcher, opening, 0.3)
    for index, cell in enumerate(cells):
        count = asks.high if asks else 10 if ten else opening.count or 2
        found = fifths(
            searcher, opening, [*opening.stones, cell], count, 0.8 / (len(cells) - index)
        )
        if asks:
            worth = abs(_nth(found, _number_for(found, asks.low, asks.high)))
        elif ten:  # black takes the ten where they are good for him, else it is even
            worth = max(0, _nth(found, 10))
        else:
            worth = _nth(found, count)
        tried.append((worth, cell))
        searcher.tell(f"fourth {cell_name(*cell)}: {worth}")
    return min(tried)[1]


def _even(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> Coordinates:
    """Return a stone within reach after which neither side stands better.

    Those that the evaluation calls most even are searched, the best of these once more for longer:
    the least of many short searches' values would be even by chance only.
    """
    left = opening.cells()
    chance.shuffle(left)
    kinds: list[Coordinates] = []
    for cell in left:
        if cell not in opening.twins(kinds):
            kinds.append(cell)
    if len(kinds) == 1:
        return kinds[0]
    kinds.sort(key=lambda cell: abs(_static(searcher, [*opening.stones, cell])))
    for keep, share in ((FINALISTS, 0.4), (1, 1.0)):
        tried = [
            (abs(_value(searcher, [*opening.stones, cell], share / (len(kinds) - index))), cell)
            for index, cell in enumerate(kinds[: 2 * NAMED])
        ]
        kinds = [cell for _, cell in sorted(tried)[:keep]]
    return kinds[0]


def _static(searcher: OpeningSearch, stones: Sequence[Coordinates]) -> int:
    """Return the evaluation of a position, for the side to move."""
    set_up(searcher.engine, stones)
    return searcher.engine.value()


def _swap(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Change sides where the other colour stands better.

    Where one side puts a stone next and the other may change sides again, that one is better off:
    no stone is quite even.
    """
    colour = "black" if opening.player == opening.black else "white"
    follow = opening.ahead[:2]
    if [one.act for one in follow] == [Act.PUT, Act.SWAP]:
        return "swap" if follow[0].who == colour else "keep"
    value = _worth(searcher, opening)
    searcher.tell(f"{len(opening.stones)} stones: {value} for black")
    return "swap" if (value if colour == "black" else -value) < 0 else "keep"


def _worth(searcher: OpeningSearch, opening: OpeningPlay) -> int:
    """Return what the position of a swap is worth for black."""
    offers = [step for step in opening.rule.steps if step.act is Act.OFFER]
    number = len(opening.stones)
    if number == 4 and opening.count:
        return _nth(fifths(searcher, opening, opening.stones, opening.count, 1.0), opening.count)
    if number == 3 and offers and not any(one.who == "white" and one.act is Act.COUNT
                                          for one in opening.rule.steps):  # fmt: skip
        count = offers[0].low or opening.count
        worths = []
        for cell in _fourths(searcher, opening, 0.3)[:2]:
            found = fifths(searcher, opening, [*opening.stones, cell], count, 0.5)
            worths.append(_nth(found, count))
        return min(worths)
    return _value(searcher, opening.stones, 1.0)


def _count(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return how many fifth stones make it even."""
    stones = list(opening.stones)
    if len(stones) == 3:
        stones.append(_fourths(searcher, opening, 0.3)[0])
    found = fifths(searcher, opening, stones, step.high, 1.0)
    return str(_number_for(found, step.low, step.high))


def _offer(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return the best fifth stones, no two of them symmetric."""
    wanted = opening.wanted()
    chosen: list[Coordinates] = []
    spare = opening.cells()
    chance.shuffle(spare)
    found = [cell for _, cell in fifths(searcher, opening, opening.stones, wanted, 1.0)]
    for cell in [*found, *spare]:  # a search may list fewer than are to be offered
        if len(chosen) < wanted and cell not in opening.twins(chosen):
            chosen.append(cell)
    return "+".join(cell_name(*cell) for cell in chosen)


def _choose(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return the offered fifth stone that is worst for black."""
    cells = opening.offered
    tried = [
        (_value(searcher, [*opening.stones, cell], 1 / (len(cells) - index)), index, cell)
        for index, cell in enumerate(cells)
    ]
    return cell_name(*min(tried)[2])


def _branch(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    if opening.rule.name == "swap2":
        choice = swap2.choose(_on(searcher, opening))
        if choice.swap:
            return "swap"
        if len(choice.stones) == 2:
            return " ".join(["two", *(cell_name(*cell) for cell in choice.stones)])
        return "keep"
    found = fifths(searcher, opening, opening.stones, 10, 1.0)
    return "ten" if len(found) >= 10 and _nth(found, 10) > 0 else "one"
