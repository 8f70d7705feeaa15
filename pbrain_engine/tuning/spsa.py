"""SPSA: all parameters are moved at once, to both sides, and go where the games were won.

Simultaneous perturbation stochastic approximation (Spall): a duel between the values plus
and minus a random step in every parameter gives one noisy figure, and its product with the
steps is, in the mean, the slope of the strength. Every duel of a batch has steps of its own.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..arena.settings import SettingsError
from ..search.parameters import ALPHABETA

Point = dict[str, int]  # a parameter set as the engine takes it


class Duel(NamedTuple):
    """Two parameter sets that play an opening with both colours, and its number."""

    opening: int
    first: Point
    second: Point


STEP_SHARE = 1 / 12  # of a parameter's range, tried to both sides
LEAST_STEP = 0.5  # less would hardly ever change a whole number


class Space:
    """Some parameters with their ranges, and the values from which tuning starts."""

    def __init__(
        self,
        names: Sequence[str] = (),
        start: Mapping[str, int] | None = None,
        step_share: float = STEP_SHARE,
    ) -> None:
        """Take the named parameters (none: all), starting at the defaults but for ``start``.

        Raises:
            SettingsError: there is no such parameter, or its start is out of range.
        """
        self.names = tuple(names) or tuple(ALPHABETA)
        start = start or {}
        unknown = [name for name in (*self.names, *start) if name not in ALPHABETA]
        if unknown:
            raise SettingsError(
                f"there is no parameter {unknown[0]}; there are {', '.join(ALPHABETA)}"
            )
        self.start: Point = {name: start.get(name, ALPHABETA[name].default) for name in self.names}
        self.steps: dict[str, float] = {}
        for name, value in self.start.items():
            low, high = self.bounds(name)
            if not low <= value <= high:
                raise SettingsError(f"{name}={value} lies outside of {low} to {high}")
            self.steps[name] = max(LEAST_STEP, step_share * (high - low))

    @staticmethod
    def bounds(name: str) -> tuple[int, int]:
        """Return the least and the greatest value of a parameter."""
        return ALPHABETA[name].low, ALPHABETA[name].high

    def clip(self, name: str, value: float) -> float:
        """Return the nearest value within the range."""
        low, high = self.bounds(name)
        return min(max(value, float(low)), float(high))

    def round_by_chance(self, values: Mapping[str, float], chance: random.Random) -> Point:
        """Return whole numbers near the values, up or down so that the mean is kept.

        So a step that is smaller than one still shows in some of the games.
        """
        point = {}
        for name in self.names:
            value = self.clip(name, values[name])
            whole = math.floor(value)
            point[name] = whole + (chance.random() < value - whole)
        return point


def format_point(point: Mapping[str, int | str]) -> str:
    """Return ``name=value,name=value``."""
    return ",".join(f"{name}={value}" for name, value in point.items())


STEP_FADE = 0.101  # steps shrink with this power of the number of the duel
RATE_FADE = 0.602  # and what one duel moves, with this one
SETTLING = 0.1  # share of all duels after which it begins to shrink in earnest
RATE = 0.2  # what one duel moves, in steps, times the root of the number of duels
BATCH = 8


class Spsa:
    """The state of an SPSA run: the values, and how many duels made them."""

    def __init__(
        self, space: Space, duels: int, seed: int, rate: float | None = None, batch: int = BATCH
    ) -> None:
        """Plan a run of this many duels; ``rate`` is what a half point moves at the end, in steps.

        By default it is such that chance alone moves a parameter by about a third of a step in
        the whole run, however long that is.
        """
        self.space = space
        self.duels = duels
        self.done = 0
        self.values: dict[str, float] = {name: float(v) for name, v in space.start.items()}
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
            signs = {name: chance.choice((-1, 1)) for name in self.space.names}
            steps = {name: sign * self._step(name, number) for name, sign in signs.items()}
            sides = [
                self.space.round_by_chance(
                    {name: self.values[name] + side * step for name, step in steps.items()}, chance
                )
                for side in (1, -1)
            ]
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
            for name in self.space.names if surplus else ():  # steps without end times 0 are none
                move = gain * self._step(name, number) * signs[name] * surplus
                self.values[name] = self.space.clip(name, self.values[name] + move)
            self.points += points
        self.done += len(duels)

    def _step(self, name: str, number: int) -> float:
        """Return how far a parameter is moved for this duel; its step at the end of the run."""
        return self.space.steps[name] * math.pow(self.duels / (number + 1), STEP_FADE)

    @property
    def best(self) -> Point:
        """The parameter set that the run has come to."""
        return {name: round(self.space.clip(name, value)) for name, value in self.values.items()}

    @property
    def remark(self) -> str:
        """How far the values have moved, in a few words."""
        space = self.space
        moved = {n: (self.values[n] - space.start[n]) / space.steps[n] for n in space.names}
        farthest = max(moved, key=lambda name: abs(moved[name]))
        return f"farthest {farthest} {moved[farthest]:+.2f} steps"

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on from here, to the last digit."""
        return {"done": self.done, "points": self.points, "values": dict(self.values)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state; SettingsError if it is none, or that of other parameters."""
        try:
            self.done, self.points = int(state["done"]), int(state["points"])
            self.values = {name: float(state["values"][name]) for name in self.space.names}
            if not all(map(math.isfinite, self.values.values())):
                raise ValueError("a value is no number")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise SettingsError(f"the run was written by another version: {error}") from None
