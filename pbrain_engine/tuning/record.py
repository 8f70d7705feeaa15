"""The file of a tuning run: its plan, then the state after every batch, one JSON object a line.

A line is on the disk before the next batch begins; one that was cut off is dropped when the
run goes on. The same file goes on only with the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..arena.journal import JournalError, LineFile, reading, whole_entries
from ..arena.settings import MatchSettings, SettingsError
from ..protocol.serve import is_parameter
from .spsa import BATCH, STEP_SHARE, Space, Spsa


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


FORMAT = 1


class TuningFile(LineFile):
    """An open record: the ``states`` it held, and ``append``."""

    def __init__(self, path: Path, plan: TuningPlan) -> None:
        """Begin the file, or open it to go on.

        Raises:
            JournalError: it cannot be written, or belongs to another run.
        """
        super().__init__(path, "r+b" if path.exists() else "x+b")
        self.states: list[dict[str, Any]] = []
        try:
            if not path.stat().st_size:
                self.write({"type": "tune", "format": FORMAT, "plan": plan.to_json()})
                return
            found, self.states, end = read(path)
            same = replace(plan, match=replace(plan.match, concurrency=found.match.concurrency))
            if found != same:  # in more than how many games run at once
                raise JournalError(f"{path} holds a run with other settings; give another file")
            self.go_on(end)
        except SettingsError:
            self.close()
            raise

    def append(self, state: Mapping[str, Any]) -> None:
        """Write a state down for good."""
        self.write({"type": "state", **state})
        self.states.append(dict(state))


def read(path: Path) -> tuple[TuningPlan, list[dict[str, Any]], int]:
    """Return the plan, the states, and the length of the part that is whole.

    Raises:
        JournalError: the file cannot be read or holds no tuning run.
    """
    plan: TuningPlan | None = None
    states: list[dict[str, Any]] = []
    end = 0
    with reading(path, "file of a tuning run"):
        for entry, place in whole_entries(path):
            if entry.pop("type") == "tune":
                plan = TuningPlan.from_json(entry["plan"])
            else:
                states.append(entry)
            end = place
    if plan is None:
        raise JournalError(f"{path} is no file of a tuning run")
    return plan, states, end
