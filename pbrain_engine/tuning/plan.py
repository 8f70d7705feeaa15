"""What a tuning run is: engine, method, games and seeds, as plain values that a file can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..arena.settings import MatchSettings, SettingsError, name_apart
from ..protocol.configured import is_parameter
from .duels import Duel
from .evolution import DUELS, POPULATION, Evolution
from .space import STEP_SHARE, Point, Space
from .spsa import BATCH, Spsa

METHODS = ("spsa", "evolution")


class Method(Protocol):
    """A way of tuning: asks for duels, is told their results, and knows the best set so far."""

    space: Space
    duels: int
    done: int

    def ask(self) -> list[Duel]:
        """Return the next duels; none when the run is over."""

    def tell(self, duels: Sequence[Duel], results: Sequence[int]) -> None:
        """Take in the half points of the first sides."""

    @property
    def best(self) -> Point:
        """The parameter set that the run has come to."""

    @property
    def remark(self) -> str:
        """How the run goes, in a few words."""

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on from here."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state."""


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """All that decides a tuning run; two equal plans with node limits come to the same end."""

    match: MatchSettings  # twice the engine that is tuned; its games are those of the whole run
    method: str = "spsa"
    names: tuple[str, ...] = ()
    step_share: float = STEP_SHARE
    rate: float | None = None
    batch: int = BATCH
    population: int = POPULATION
    each: int = DUELS

    def space(self) -> Space:
        """Return the parameters, starting where the engine's own options put them.

        Raises:
            SettingsError: there is no such parameter.
        """
        start = {
            key: int(value) for key, value in self.match.engines[0].options if is_parameter(key)
        }
        return Space(self.names, {k: start[k] for k in start if k in self.names or not self.names},
                     self.step_share)  # fmt: skip

    def make(self) -> Method:
        """Return the method at the beginning of the run.

        Raises:
            SettingsError: there is no such parameter or method, or too few games.
        """
        space, duels, seed = self.space(), self.match.games // 2, self.match.seed
        if duels < 1 or self.batch < 1 or self.population < 2 or self.each < 1:
            raise SettingsError("too few games, or too small a batch or population")
        if self.method == "spsa":
            return Spsa(space, duels, seed, self.rate, self.batch)
        if self.method == "evolution":
            return Evolution(space, duels, seed, self.population, self.each)
        raise SettingsError(f"there is no method {self.method}; there are {', '.join(METHODS)}")

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {
            "method": self.method,
            "names": list(self.names),
            "step_share": self.step_share,
            "rate": self.rate,
            "batch": self.batch,
            "population": self.population,
            "each": self.each,
            "match": self.match.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TuningPlan:
        """Return the plan that :meth:`to_json` wrote."""
        values = dict(data)
        values["names"] = tuple(values["names"])
        values["match"] = MatchSettings.from_json(values["match"])
        return cls(**values)


def match_of(engine: Any, **conditions: Any) -> MatchSettings:
    """Return the conditions of duels between an engine and itself."""
    return MatchSettings(engines=name_apart([engine, engine]), in_process=True, **conditions)
