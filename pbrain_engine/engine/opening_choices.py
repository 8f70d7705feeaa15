"""How the engine plays opening rules: every choice compares values of its own searches.

All values here are black's. Where black offers N fifth stones and white chooses, black gets the
N-th best of them, so that is what a position of four stones is worth; where a side may still
swap, what counts is how far from even it is. A player swaps where the other colour stands better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..game.cells import cell_name
from ..game.opening_names import SIZE, openings
from ..game.opening_rules import Act, Aim, OpeningPlay, Step
from ..position.geometry import Coordinates, transform
from . import swap2
from .swap2 import OpeningSearch

if TYPE_CHECKING:
    from random import Random

NAMED = 6  # of the 26 openings are compared
SCREENED = 12  # stones that the evaluation calls even are searched
FINALISTS = 3  # of these are searched again
FOURTHS = 4  # fourth stones are followed up
FOURTHS_SHARE = 0.3  # of the time goes into finding them
SWAP_FOURTHS = 2  # where the choice is only one of colours
MARGIN = 2  # more fifth stones are asked for than are offered


class Fifths(NamedTuple):
    """How many fifth stones are offered: black's value of the last of them."""

    value: int
    number: int


def decide(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> str:
    """Return the engine's action for the step of an opening, as ``OpeningPlay.play`` takes it.

    It is several words where the steps that follow are the same player's and were thought of at
    once. ``searcher`` shares out the time of this step; its engine gets other stones on its board.
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
    equivalent = len(opening.twins([(0, 1)], stones))  # symmetries of the position: 1, 2, 4 or 8
    found = searcher.on(stones).best(share, (count + MARGIN) * equivalent)
    values = {(thought.move.x, thought.move.y): thought.value for thought in found}
    unlike = opening.unlike(values, stones)
    return sorted(((values[cell], cell) for cell in unlike), reverse=True)


def _nth(values: Sequence[tuple[int, Coordinates]], number: int) -> Fifths:
    return Fifths(values[min(number, len(values)) - 1][0], number)


def _value(searcher: OpeningSearch, stones: Sequence[Coordinates], share: float) -> int:
    """Return black's value of a position."""
    value = searcher.on(stones).best(share, 1)[0].value
    return value if len(stones) % 2 == 0 else -value


def _offered(
    searcher: OpeningSearch,
    opening: OpeningPlay,
    stones: Sequence[Coordinates],
    step: Step,
    share: float,
) -> Fifths:
    """Return what is offered after four stones, where a number, an offer or a branch comes next.

    Black, who branches, can put one even stone instead, so an offer is worth no less to him.
    """
    if step.act is Act.COUNT:
        found = fifths(searcher, opening, stones, step.high, share)
        numbers = (_nth(found, number) for number in range(step.low, step.high + 1))
        return min(numbers, key=lambda one: abs(one.value))
    number = step.low or opening.count
    if step.act is Act.BRANCH:
        number = next(iter(_offers(step).values()))
    offered = _nth(fifths(searcher, opening, stones, number, share), number)
    return offered._replace(value=max(offered.value, 0)) if step.act is Act.BRANCH else offered


def _offers(step: Step) -> dict[str, int]:
    """Return the branches that begin with an offer, and how many fifth stones each has."""
    return {
        name: steps[0].low for name, steps in step.branches if steps and steps[0].act is Act.OFFER
    }


def _fourths(searcher: OpeningSearch, opening: OpeningPlay) -> list[Coordinates]:
    """Return the fourth stones that are worth a closer look, the best first."""
    step = opening.step
    allowed = set(opening.cells()) if step is not None and step.act is Act.PUT else None
    best = searcher.on(opening.stones).best(FOURTHS_SHARE, 3 * FOURTHS)
    found = [(thought.move.x, thought.move.y) for thought in best]
    if allowed is None:
        return found[:FOURTHS]
    return ([cell for cell in found if cell in allowed] or sorted(allowed))[:FOURTHS]


def _put(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    following = opening.ahead[0] if opening.ahead else None
    match step.aim:
        case Aim.THREE if not opening.stones:
            cells = swap2.first_three(searcher.on(opening.stones), chance).stones
        case Aim.THREE | Aim.NAMED:
            cells = tuple(_named(searcher, opening, chance))
        case Aim.PAIR:
            pair, _ = swap2.balanced_pair(searcher.on(opening.stones), 0)
            cells = pair if following is not None and following.aim is Aim.PAIR else pair[1:]
        case _ if following is not None and following.act is not Act.SWAP:
            return _fourth(searcher, opening, step, following)
        case Aim.EVEN:
            cells = (_even(searcher, opening, chance),)
        case _:
            cells = (searcher.on(opening.stones).best(1.0, 1)[0].move,)
    return " ".join(cell_name(*cell) for cell in cells)


def _named(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> list[Coordinates]:
    """Return the stones that are missing to one of the 26 openings, a rather even one."""
    placed, is_usual = opening.stones, (opening.width, opening.height) == (SIZE, SIZE)
    turned = [
        transform(each.stones, number, SIZE, SIZE)
        for each in openings().values()
        for number in range(8)
        if is_usual
    ]
    fitting = [stones for stones in turned if stones[: len(placed)] == placed]
    if not fitting:  # stones that are free, and begin otherwise
        fitting = [[*placed, *chance.sample(opening.cells(), 3 - len(placed))]]
    drawn = chance.sample(fitting, min(NAMED, len(fitting)))
    best = min(
        enumerate(drawn),
        key=lambda item: abs(_value(searcher, item[1], 1 / (len(drawn) - item[0]))),
    )[1]
    return best[len(placed) :]


def _fourth(searcher: OpeningSearch, opening: OpeningPlay, step: Step, following: Step) -> str:
    """Return the fourth stone, the best or the most even one by the fifth stones that follow.

    With it comes the number of fifth stones if the same player says it.
    """
    tried: list[tuple[int, str]] = []
    cells = _fourths(searcher, opening)
    for index, cell in enumerate(cells):
        share = 0.8 / (len(cells) - index)
        value, number = _offered(searcher, opening, [*opening.stones, cell], following, share)
        worth, words = abs(value) if step.aim is Aim.EVEN else value, cell_name(*cell)
        if following.act is Act.COUNT:
            words += f" {number}"
        tried.append((worth, words))
        searcher.tell(f"fourth {words}: {worth}")
    return min(tried)[1]


def _even(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> Coordinates:
    """Return a stone within reach after which neither side stands better.

    Those that the evaluation calls most even are searched, the best of these once more for longer:
    the least of many short searches' values would be even by chance only.
    """
    left = opening.cells()
    chance.shuffle(left)
    kinds = list(opening.unlike(left))
    if len(kinds) == 1:
        return kinds[0]
    kinds.sort(key=lambda cell: abs(searcher.on([*opening.stones, cell]).engine.value()))
    for keep, share in ((FINALISTS, 0.4), (1, 1.0)):
        tried = [
            (abs(_value(searcher, [*opening.stones, cell], share / (len(kinds) - index))), cell)
            for index, cell in enumerate(kinds[:SCREENED])
        ]
        kinds = [cell for _, cell in sorted(tried)[:keep]]
    return kinds[0]


def _swap(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Change sides where the other colour stands better.

    Where one side puts a stone next and the other may change sides again, that one is better off:
    no stone is quite even.
    """
    colour = "black" if opening.player == opening.black else "white"
    following = opening.ahead[0] if opening.ahead else None
    if following is not None and following.act is Act.PUT and following.aim is Aim.EVEN:
        return "swap" if following.who == colour else "keep"
    value = _worth(searcher, opening)
    searcher.tell(f"{len(opening.stones)} stones: {value} for black")
    return "swap" if (value if colour == "black" else -value) < 0 else "keep"


def _worth(searcher: OpeningSearch, opening: OpeningPlay) -> int:
    """Return what the position of a swap is worth for black."""
    follow = [step for step in opening.ahead[:2] if step.act is not Act.PUT]
    offer = next((step for step in follow if step.act is Act.OFFER), None)
    if offer is None:
        return _value(searcher, opening.stones, 1.0)
    if opening.ahead[0] is offer:
        return _offered(searcher, opening, opening.stones, offer, 1.0).value
    cells = _fourths(searcher, opening)[:SWAP_FOURTHS]
    return min(
        _offered(searcher, opening, [*opening.stones, cell], offer, 1 / (len(cells) - index)).value
        for index, cell in enumerate(cells)
    )


def _count(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return how many fifth stones make it even, after the fourth stone that is best for white."""
    fourths = [opening.stones]
    if len(opening.stones) == 3:
        fourths = [[*opening.stones, cell] for cell in _fourths(searcher, opening)]
    listed = [
        fifths(searcher, opening, stones, step.high, 1 / (len(fourths) - index))
        for index, stones in enumerate(fourths)
    ]
    worths = {
        number: min(_nth(found, number).value for found in listed)
        for number in range(step.low, step.high + 1)
    }
    return str(min(worths, key=lambda number: abs(worths[number])))


def _offer(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return the best fifth stones, no two of them symmetric."""
    wanted = opening.wanted()
    spare = opening.cells()
    chance.shuffle(spare)
    found = [cell for _, cell in fifths(searcher, opening, opening.stones, wanted, 1.0)]
    # a search may list fewer than are to be offered
    chosen = islice(opening.unlike([*found, *spare]), wanted)
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
    for name, number in _offers(step).items():
        found = fifths(searcher, opening, opening.stones, number, 1.0)
        is_good = len(found) >= number and _nth(found, number).value > 0
        return name if is_good else next(other for other, _ in step.branches if other != name)
    choice = swap2.choose(searcher.on(opening.stones))
    if choice.swap:
        return "swap"
    if len(choice.stones) == 2:
        return " ".join(["two", *(cell_name(*cell) for cell in choice.stones)])
    return "keep"
