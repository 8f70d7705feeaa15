"""How the engine plays opening rules: every choice compares values of its own searches.

All values here are black's. If black offers N fifth stones and white chooses, black gets the N-th
best, which is therefore the value of the four stones. If a side may still swap, the distance from
even counts. A player swaps if the other colour is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ..errors import counted
from ..game.cells import cell_name
from ..game.opening_rules import SIZE, Act, Aim, OpeningPlay, Step, openings
from ..position.geometry import Coordinates, transform
from . import swap2
from .swap2 import OpeningSearch

if TYPE_CHECKING:
    from random import Random

NAMED = 6  # of the 26 openings, to compare
SCREENED = 12  # stones to search, the most even by static evaluation
FINALISTS = 3  # of these to search again
FOURTHS = 4  # fourth stones to follow up
FOURTHS_SHARE = 0.3  # of the time, to find them
SWAP_FOURTHS = 2  # fourth stones to follow up for a swap decision
MARGIN = 2  # fifth stones searched beyond the number offered


Fifths = tuple[int, int]  # of an offer of fifth stones: black's value of the worst, their number


def decide(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> str:
    """Return the engine's action for the step of an opening, as ``OpeningPlay.play`` takes it.

    The action has several words if it also decides following steps of the same player.
    ``searcher`` divides the time of this step; the stones on its engine's board change.
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
    """Return the best fifth stones with black's values, best first, no two symmetric.

    There are ``count`` or a few more, fewer only if the search lists fewer.
    """
    equivalent = len(opening.twins([(0, 1)], stones))  # symmetries of the position: 1, 2, 4 or 8
    found = searcher.on(stones).best(share, (count + MARGIN) * equivalent)
    values = {(thought.move.x, thought.move.y): thought.value for thought in found}
    unlike = opening.unlike(values, stones)
    return sorted(((values[cell], cell) for cell in unlike), reverse=True)


def _nth(values: Sequence[tuple[int, Coordinates]], number: int) -> Fifths:
    return values[min(number, len(values)) - 1][0], number


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
    """Return the expected offer after four stones, before a count, an offer or a branch.

    At a branch black may put one even stone instead, so the offer is worth at least 0.
    """
    if step.act is Act.COUNT:
        found = fifths(searcher, opening, stones, step.high, share)
        numbers = (_nth(found, number) for number in range(step.low, step.high + 1))
        return min(numbers, key=lambda one: abs(one[0]))
    number = step.low or opening.count
    if step.act is Act.BRANCH:
        number = next(iter(_offers(step).values()))
    value, _ = _nth(fifths(searcher, opening, stones, number, share), number)
    return max(value, 0) if step.act is Act.BRANCH else value, number


def _offers(step: Step) -> dict[str, int]:
    """Return the branches that start with an offer, with their numbers of fifth stones."""
    return {
        name: steps[0].low for name, steps in step.branches if steps and steps[0].act is Act.OFFER
    }


def _fourths(searcher: OpeningSearch, opening: OpeningPlay) -> list[Coordinates]:
    """Return the fourth stones to follow up, best first."""
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
    """Return the missing stones of one of the 26 openings, the most even of a sample."""
    placed, is_usual = opening.stones, (opening.width, opening.height) == (SIZE, SIZE)
    turned = [
        transform(each.stones, number, SIZE, SIZE)
        for each in openings().values()
        for number in range(8)
        if is_usual
    ]
    fitting = [stones for stones in turned if stones[: len(placed)] == placed]
    if not fitting:  # the stones so far begin none of the 26: any free stones
        fitting = [[*placed, *chance.sample(opening.cells(), 3 - len(placed))]]
    drawn = chance.sample(fitting, min(NAMED, len(fitting)))
    best = min(
        enumerate(drawn),
        key=lambda item: abs(_value(searcher, item[1], 1 / (len(drawn) - item[0]))),
    )[1]
    return best[len(placed) :]


def _fourth(searcher: OpeningSearch, opening: OpeningPlay, step: Step, following: Step) -> str:
    """Return the best or most even fourth stone, judged by the fifth stones after it.

    The number of fifth stones follows if the same player declares it.
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
    """Return an allowed stone after which the position is closest to even.

    The most even by static evaluation are searched, and the best of these again for longer,
    because the smallest of many noisy values is often small by chance.
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
    """Change sides if the other colour is better.

    If an even stone comes next, take the side that may swap after it, for no stone is quite even.
    """
    colour = "black" if opening.player == opening.black else "white"
    following = opening.ahead[0] if opening.ahead else None
    if following is not None and following.act is Act.PUT and following.aim is Aim.EVEN:
        return "swap" if following.who == colour else "keep"
    value = _worth(searcher, opening)
    searcher.tell(f"{counted(len(opening.stones), 'stone')}: {value} for black")
    return "swap" if (value if colour == "black" else -value) < 0 else "keep"


def _worth(searcher: OpeningSearch, opening: OpeningPlay) -> int:
    """Return black's value of the position at a swap."""
    follow = [step for step in opening.ahead[:2] if step.act is not Act.PUT]
    offer = next((step for step in follow if step.act is Act.OFFER), None)
    if offer is None:
        return _value(searcher, opening.stones, 1.0)
    if opening.ahead[0] is offer:
        return _offered(searcher, opening, opening.stones, offer, 1.0)[0]
    cells = _fourths(searcher, opening)[:SWAP_FOURTHS]
    return min(
        _offered(searcher, opening, [*opening.stones, cell], offer, 1 / (len(cells) - index))[0]
        for index, cell in enumerate(cells)
    )


def _count(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return the most even number of fifth stones, given white's best fourth stone."""
    fourths = [opening.stones]
    if len(opening.stones) == 3:
        fourths = [[*opening.stones, cell] for cell in _fourths(searcher, opening)]
    listed = [
        fifths(searcher, opening, stones, step.high, 1 / (len(fourths) - index))
        for index, stones in enumerate(fourths)
    ]
    worths = {
        number: min(_nth(found, number)[0] for found in listed)
        for number in range(step.low, step.high + 1)
    }
    return str(min(worths, key=lambda number: abs(worths[number])))


def _offer(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return the best fifth stones, no two symmetric."""
    wanted = opening.wanted()
    spare = opening.cells()
    chance.shuffle(spare)
    found = [cell for _, cell in fifths(searcher, opening, opening.stones, wanted, 1.0)]
    # the search may list fewer than wanted
    chosen = islice(opening.unlike([*found, *spare]), wanted)
    return "+".join(cell_name(*cell) for cell in chosen)


def _choose(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    """Return the offered fifth stone worst for black."""
    cells = opening.offered
    tried = [
        (_value(searcher, [*opening.stones, cell], 1 / (len(cells) - index)), index, cell)
        for index, cell in enumerate(cells)
    ]
    return cell_name(*min(tried)[2])


def _branch(searcher: OpeningSearch, opening: OpeningPlay, step: Step, chance: Random) -> str:
    for name, number in _offers(step).items():
        found = fifths(searcher, opening, opening.stones, number, 1.0)
        is_good = len(found) >= number and _nth(found, number)[0] > 0
        return name if is_good else next(other for other, _ in step.branches if other != name)
    choice = swap2.choose(searcher.on(opening.stones))
    if choice.swap:
        return "swap"
    if len(choice.stones) == 2:
        return " ".join(["two", *(cell_name(*cell) for cell in choice.stones)])
    return "keep"
