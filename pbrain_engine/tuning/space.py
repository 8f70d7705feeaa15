"""The parameters that are tuned: their names, ranges, steps, and how numbers become whole ones."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from ..arena.settings import SettingsError
from ..search.alphabeta.params import PARAMETERS

Point = dict[str, int]  # a parameter set as the engine takes it

FIXED = ("plain",)  # switches for checks, not numbers to tune
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
        self.names = tuple(names) or tuple(name for name in PARAMETERS if name not in FIXED)
        start = start or {}
        unknown = [name for name in (*self.names, *start) if name not in PARAMETERS]
        if unknown:
            raise SettingsError(
                f"there is no parameter {unknown[0]}; there are {', '.join(PARAMETERS)}"
            )
        self.start: Point = {name: start.get(name, PARAMETERS[name].default) for name in self.names}
        for name, value in self.start.items():
            if not self.low(name) <= value <= self.high(name):
                raise SettingsError(
                    f"{name}={value} lies outside of {self.low(name)} to {self.high(name)}"
                )
        self.steps = {
            name: max(LEAST_STEP, step_share * (self.high(name) - self.low(name)))
            for name in self.names
        }

    @staticmethod
    def low(name: str) -> int:
        """Return the least value of a parameter."""
        return PARAMETERS[name].low

    @staticmethod
    def high(name: str) -> int:
        """Return the greatest value of a parameter."""
        return PARAMETERS[name].high

    def clip(self, name: str, value: float) -> float:
        """Return the nearest value within the range."""
        return min(max(value, float(self.low(name))), float(self.high(name)))

    def round(self, values: Mapping[str, float]) -> Point:
        """Return the nearest whole numbers within the ranges."""
        return {name: round(self.clip(name, values[name])) for name in self.names}

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
