"""What a tuning run is: engine, games and seeds, as plain values that a file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..arena.settings import MatchSettings, SettingsError, name_apart
from ..protocol.configured import is_parameter
from .space import STEP_SHARE, Space
from .spsa import BATCH, Spsa


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """All that decides a tuning run; two equal plans with node limits come to the same end."""

    match: MatchSettings  # twice the engine that is tuned; its games are those of the whole run
    names: tuple[str, ...] = ()
    step_share: float = STEP_SHARE
    rate: float | None = None
    batch: int = BATCH

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

    def make(self) -> Spsa:
        """Return the method at the beginning of the run.

        Raises:
            SettingsError: there is no such parameter, or too few games.
        """
        duels = self.match.games // 2
        if duels < 1 or self.batch < 1:
            raise SettingsError("too few games, or too small a batch")
        return Spsa(self.space(), duels, self.match.seed, self.rate, self.batch)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TuningPlan:
        """Return the plan that :meth:`to_json` wrote."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["names"] = tuple(values["names"])
        values["match"] = MatchSettings.from_json(values["match"])
        return cls(**values)


def match_of(engine: Any, **conditions: Any) -> MatchSettings:
    """Return the conditions of duels between an engine and itself."""
    return MatchSettings(engines=name_apart([engine, engine]), in_process=True, **conditions)
