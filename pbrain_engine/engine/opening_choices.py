"""How the engine plays opening rules: every choice compares values of its own searches.

All values here are black's. If black offers N fifth stones and white chooses, black gets the N-th
best, which is therefore the value of the four stones. If a side may still swap, the distance from
even counts. A player swaps if the other colour is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ..errors import counted
from ..game.cells import cell_name
from ..game.opening_rules import SIZE, Act, Aim, OpeningPlay, Step, openings
from ..position.geometry import Coordinates, transform
from . import swap2
from .swap2 import OpeningSearch, divided

if TYPE_CHECKING:
    from random import Random

NAMED = 6  # of the 26 openings, to compare
SCREENED = 12  # stones to search, the most even by static evaluation
SCREEN_SHARE = 0.4  # of the time, to search them
FINALISTS = 3  # of these to search again
FOURTHS = 4  # fourth stones to follow up
FOURTHS_SHARE = 0.3  # of the time, to find them
SWAP_FOURTHS = 2  # fourth stones to follow up for a swap decision
MARGIN = 2  # fifth stones searched beyond the number offered


class Offer(NamedTuple):
    """An offer of fifth stones: black's value of the worst, and their number."""

    value: int
    number: int


def decide(searcher: OpeningSearch, opening: OpeningPlay, chance: Random) -> str:
    """Return the engine's action for the step of an opening, as ``OpeningPlay.play`` takes it.

    The action has several words if it also decides following steps of the same player.
    ``searcher`` divides the time of this step; the stones on its engine's board change.
    """
    step = opening.step
    assert step is not None, "the opening is over"
    decision = Decision(searcher, opening, step, opening.stones, chance)
    choices = {
        Act.PUT: decision.put, Act.SWAP: decision.swap, Act.COUNT: decision.declare,
        Act.OFFER: decision.offer, Act.CHOOSE: decision.choose, Act.BRANCH: decision.branch,
    }  # fmt: skip
    return choices[step.act]()


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


def _nth(values: Sequence[tuple[int, Coordinates]], number: int) -> Offer:
    return Offer(values[min(number, len(values)) - 1][0], number)


def _offers(step: Step) -> dict[str, int]:
    """Return the branches that start with an offer, with their numbers of fifth stones."""
    return {
        name: steps[0].low for name, steps in step.branches if steps and steps[0].act is Act.OFFER
    }


class Decision(NamedTuple):
    """The decision of one step: an action for each kind of step, and what they ask for."""

    searcher: OpeningSearch
    opening: OpeningPlay
    step: Step
    stones: list[Coordinates]
    chance: Random

    def _value(self, stones: Sequence[Coordinates], share: float) -> int:
        """Return black's value of a position."""
        value = self.searcher.on(stones).best(share, 1)[0].value
        return value if len(stones) % 2 == 0 else -value

    def _offered(self, stones: Sequence[Coordinates], step: Step, share: float) -> Offer:
        """Return the expected offer after four stones, before a count, an offer or a branch.

        At a branch black may put one even stone instead, so the offer is worth at least 0.
        """
        if step.act is Act.COUNT:
            found = fifths(self.searcher, self.opening, stones, step.high, share)
            numbers = (_nth(found, number) for number in range(step.low, step.high + 1))
            return min(numbers, key=lambda offer: abs(offer.value))
        number = step.low or self.opening.count
        if step.act is Act.BRANCH:
            number = next(iter(_offers(step).values()))
        offer = _nth(fifths(self.searcher, self.opening, stones, number, share), number)
        return offer._replace(value=max(offer.value, 0)) if step.act is Act.BRANCH else offer

    def _fourths(self) -> list[Coordinates]:
        """Return the fourth stones to follow up, best first."""
        best = self.searcher.on(self.stones).best(FOURTHS_SHARE, 3 * FOURTHS)
        found = [(thought.move.x, thought.move.y) for thought in best]
        if self.step.act is Act.PUT:
            allowed = set(self.opening.cells())
            found = [cell for cell in found if cell in allowed] or sorted(allowed)
        return found[:FOURTHS]

    def put(self) -> str:
        """Return the best stone, or several, for the purpose of the step."""
        following = self.opening.ahead[0] if self.opening.ahead else None
        match self.step.aim:
            case Aim.THREE if not self.stones:
                cells = swap2.first_three(self.searcher.on(self.stones), self.chance).stones
            case Aim.THREE | Aim.NAMED:
                cells = tuple(self._named())
            case Aim.PAIR:
                pair, _ = swap2.balanced_pair(self.searcher.on(self.stones), 0)
                cells = pair if following is not None and following.aim is Aim.PAIR else pair[1:]
            case _ if following is not None and following.act is not Act.SWAP:
                return self._fourth(following)
            case Aim.EVEN:
                cells = (self._even(),)
            case _:
                cells = (self.searcher.on(self.stones).best(1.0, 1)[0].move,)
        return " ".join(cell_name(*cell) for cell in cells)

    def _named(self) -> list[Coordinates]:
        """Return the missing stones of one of the 26 openings, the most even of a sample."""
        placed, is_usual = self.stones, (self.opening.width, self.opening.height) == (SIZE, SIZE)
        turned = [
            transform(each.stones, number, SIZE, SIZE)
            for each in openings().values()
            for number in range(8)
            if is_usual
        ]
        fitting = [stones for stones in turned if stones[: len(placed)] == placed]
        if not fitting:  # the stones so far begin none of the 26: any free stones
            fitting = [[*placed, *self.chance.sample(self.opening.cells(), 3 - len(placed))]]
        drawn = divided(self.chance.sample(fitting, min(NAMED, len(fitting))))
        best, _ = min(drawn, key=lambda item: abs(self._value(*item)))
        return best[len(placed) :]

    def _fourth(self, following: Step) -> str:
        """Return the best or most even fourth stone, judged by the fifth stones after it.

        The number of fifth stones follows if the same player declares it.
        """
        tried: list[tuple[int, str]] = []
        for cell, share in divided(self._fourths()):
            value, number = self._offered([*self.stones, cell], following, share)
            worth, words = abs(value) if self.step.aim is Aim.EVEN else value, cell_name(*cell)
            if following.act is Act.COUNT:
                words += f" {number}"
            tried.append((worth, words))
            self.searcher.tell(f"fourth {words}: {worth}")
        return min(tried)[1]

    def _even(self) -> Coordinates:
        """Return an allowed stone after which the position is closest to even.

        The most even by static evaluation are searched, and the best of these again for longer,
        because the smallest of many noisy values is often small by chance.
        """
        left, searcher = self.opening.cells(), self.searcher
        self.chance.shuffle(left)
        kinds = list(self.opening.unlike(left))
        if len(kinds) == 1:
            return kinds[0]
        kinds.sort(key=lambda cell: abs(searcher.on([*self.stones, cell]).engine.value()))
        for keep, whole in ((SCREENED, SCREEN_SHARE), (FINALISTS, 1.0)):
            tried = [
                (abs(self._value([*self.stones, cell], share)), cell)
                for cell, share in divided(kinds[:keep], whole)
            ]
            kinds = [cell for _, cell in sorted(tried)]
        return kinds[0]

    def swap(self) -> str:
        """Change sides if the other colour is better.

        If an even stone comes next, take the side that may swap after it, for no stone is quite
        even.
        """
        opening = self.opening
        colour = "black" if opening.player == opening.black else "white"
        following = opening.ahead[0] if opening.ahead else None
        if following is not None and following.act is Act.PUT and following.aim is Aim.EVEN:
            return "swap" if following.who == colour else "keep"
        value = self._worth()
        self.searcher.tell(f"{counted(len(self.stones), 'stone')}: {value} for black")
        return "swap" if (value if colour == "black" else -value) < 0 else "keep"

    def _worth(self) -> int:
        """Return black's value of the position at a swap."""
        follow = [step for step in self.opening.ahead[:2] if step.act is not Act.PUT]
        offer = next((step for step in follow if step.act is Act.OFFER), None)
        if offer is None:
            return self._value(self.stones, 1.0)
        if self.opening.ahead[0] is offer:
            return self._offered(self.stones, offer, 1.0).value
        shared = divided(self._fourths()[:SWAP_FOURTHS])
        return min(self._offered([*self.stones, cell], offer, part).value for cell, part in shared)

    def declare(self) -> str:
        """Return the most even number of fifth stones, given white's best fourth stone."""
        fourths = [self.stones]
        if len(self.stones) == 3:
            fourths = [[*self.stones, cell] for cell in self._fourths()]
        listed = [
            fifths(self.searcher, self.opening, stones, self.step.high, share)
            for stones, share in divided(fourths)
        ]
        worths = {
            number: min(_nth(found, number).value for found in listed)
            for number in range(self.step.low, self.step.high + 1)
        }
        return str(min(worths, key=lambda number: abs(worths[number])))

    def offer(self) -> str:
        """Return the best fifth stones, no two symmetric."""
        wanted, spare = self.opening.wanted(), self.opening.cells()
        self.chance.shuffle(spare)
        best = fifths(self.searcher, self.opening, self.stones, wanted, 1.0)
        # the search may list fewer than wanted
        unlike = self.opening.unlike([*(cell for _, cell in best), *spare])
        return "+".join(cell_name(*cell) for cell in islice(unlike, wanted))

    def choose(self) -> str:
        """Return the offered fifth stone worst for black."""
        tried = [
            (self._value([*self.stones, cell], share), index, cell)
            for index, (cell, share) in enumerate(divided(self.opening.offered))
        ]
        return cell_name(*min(tried)[2])

    def branch(self) -> str:
        """Return an offer if black gains by it, else another branch; or what swap2 calls for."""
        for name, number in _offers(self.step).items():
            found = fifths(self.searcher, self.opening, self.stones, number, 1.0)
            is_good = len(found) >= number and _nth(found, number).value > 0
            return name if is_good else next(o for o, _ in self.step.branches if o != name)
        choice = swap2.choose(self.searcher.on(self.stones))
        if choice.swap:
            return "swap"
        if len(choice.stones) == 2:
            return " ".join(["two", *(cell_name(*cell) for cell in choice.stones)])
        return "keep"
