"""SPSA: all parameters are moved at once, to both sides, and go where the games were won.

Simultaneous perturbation stochastic approximation (Spall): a duel between the values plus
and minus a random step in every parameter gives one noisy figure, and its product with the
steps is, in the mean, the slope of the strength. Every duel of a batch has steps of its own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..arena.settings import SettingsError
from ..files import Document
from ..search.parameters import PARAMETERS

Point = dict[str, int]  # a parameter set as the engine takes it


class Duel(NamedTuple):
    """Two parameter sets that play an opening with both colours, and its number."""

    opening: int
    first: Point
    second: Point


STEP_SHARE = 1 / 12  # of a parameter's range, tried to both sides
LEAST_STEP = 0.5  # less would hardly ever change a whole number
STEP_FADE = 0.101  # steps shrink with this power of the number of the duel
RATE_FADE = 0.602  # and what one duel moves, with this one
SETTLING = 0.1  # share of all duels after which it begins to shrink in earnest
RATE = 0.2  # what one duel moves, in steps, times the root of the number of duels
BATCH = 8


class Spsa:
    """The state of an SPSA run: the values, and how many duels made them."""

    def __init__(
        self,
        names: Iterable[str],
        start: Mapping[str, int],
        duels: int,
        seed: int,
        step_share: float = STEP_SHARE,
        rate: float | None = None,
        batch: int = BATCH,
    ) -> None:
        """Plan a run of this many duels over the named parameters (none: all).

        They begin at their defaults but for ``start``. ``rate`` is what a half point moves at the
        end, in steps; by default it is such that chance alone moves a parameter by about a third of
        a step in the whole run, however long that is.

        Raises:
            SettingsError: there is no such parameter, its start is out of range, or no duel.
        """
        names = tuple(names) or tuple(PARAMETERS)
        for name in (*names, *start):
            if name not in PARAMETERS:
                known = ", ".join(PARAMETERS)
                raise SettingsError(f"there is no parameter {name}; there are {known}")
        if duels < 1 or batch < 1:
            raise SettingsError("too few games, or too small a batch")
        self.start: Point = {name: start.get(name, PARAMETERS[name].default) for name in names}
        self.steps: dict[str, float] = {}
        for name, value in self.start.items():
            low, high = PARAMETERS[name].low, PARAMETERS[name].high
            if not low <= value <= high:
                raise SettingsError(f"{name}={value} lies outside of {low} to {high}")
            self.steps[name] = max(LEAST_STEP, step_share * (high - low))
        self.duels = duels
        self.done = 0
        self.values: dict[str, float] = {name: float(v) for name, v in self.start.items()}
        self.points = 0  # of the plus sides, in half points
        self._seed = seed
        self._rate = RATE / math.sqrt(duels) if rate is None else rate
        self._batch = batch
        self._signs: list[dict[str, int]] = []

    def ask(self) -> list[Duel]:
        """Return the duels of the next batch."""
        self._signs = []
        duels = []
        for number in range(self.done, min(self.done + self._batch, self.duels)):
            chance = random.Random(f"{self._seed}:spsa:{number}")
            signs = {name: chance.choice((-1, 1)) for name in self.start}
            sides: list[Point] = [{}, {}]
            for sign, point in zip((1, -1), sides, strict=True):
                for name, value in self.values.items():
                    value = _clip(name, value + sign * signs[name] * self._step(name, number))
                    whole = math.floor(value)  # up by chance, so that the mean is kept
                    point[name] = whole + (chance.random() < value - whole)
            self._signs.append(signs)
            duels.append(Duel(number, *sides))
        return duels

    def tell(self, duels: Sequence[Duel], results: Sequence[int]) -> None:
        """Move the values by the half points that the plus sides won."""
        for number, (signs, points) in enumerate(zip(self._signs, results, strict=True), self.done):
            surplus = points - 2
            settling = SETTLING * self.duels
            fading = (settling + self.duels) / (settling + number + 1)
            gain = self._rate * math.pow(fading, RATE_FADE)  # of a step, for half a point
            for name in signs if surplus else ():  # steps without end times 0 are none
                move = gain * self._step(name, number) * signs[name] * surplus
                self.values[name] = _clip(name, self.values[name] + move)
            self.points += points
        self.done += len(duels)

    def _step(self, name: str, number: int) -> float:
        """Return how far a parameter is moved for this duel; its step at the end of the run."""
        return self.steps[name] * math.pow(self.duels / (number + 1), STEP_FADE)

    @property
    def best(self) -> Point:
        """The parameter set that the run has come to."""
        return {name: round(_clip(name, value)) for name, value in self.values.items()}

    @property
    def remark(self) -> str:
        """How far the values have moved, in a few words."""
        moved = {n: (self.values[n] - before) / self.steps[n] for n, before in self.start.items()}
        farthest = max(moved, key=lambda name: abs(moved[name]))
        return f"farthest {farthest} {moved[farthest]:+.2f} steps"

    def state(self) -> Document:
        """Return all that is needed to go on from here, to the last digit."""
        return {"done": self.done, "points": self.points, "values": dict(self.values)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; SettingsError if it is damaged, or of other parameters."""
        try:
            self.done, self.points = int(state["done"]), int(state["points"])
            self.values = {name: float(state["values"][name]) for name in self.start}
            if not all(map(math.isfinite, self.values.values())):
                raise ValueError("a value is no number")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise SettingsError(f"the run was written by another version: {error}") from None


def _clip(name: str, value: float) -> float:
    """Return the nearest value within the range of a parameter."""
    return min(max(value, float(PARAMETERS[name].low)), float(PARAMETERS[name].high))
