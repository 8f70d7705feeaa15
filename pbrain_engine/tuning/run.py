"""A tuning run: its plan, the duels that it plays, and the file in which it goes on.

The file has one JSON object a line: the plan, then the state after every batch. A line is on the
disk before the next batch begins; one that was cut off is dropped when the run goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..arena.journal import JournalError, LineFile, read_entries
from ..arena.openings import Openings
from ..arena.pool import LocalGames
from ..arena.referee import GameTask
from ..arena.settings import MatchSettings, SettingsError
from ..protocol.serve import is_parameter
from .spsa import BATCH, STEP_SHARE, Duel, Space, Spsa

FORMAT = 1


@dataclass(frozen=True, slots=True)
class TuningPlan:
    """All that decides a tuning run; two equal plans with node limits come to the same end."""

    match: MatchSettings  # twice the engine that is tuned; its games are those of the whole run
    names: tuple[str, ...] = ()
    step_share: float = STEP_SHARE
    rate: float | None = None
    batch: int = BATCH

    def make(self) -> Spsa:
        """Return the method at the beginning of the run, where the engine's own options put it.

        Raises:
            SettingsError: there is no such parameter, or too few games.
        """
        duels = self.match.games // 2
        if duels < 1 or self.batch < 1:
            raise SettingsError("too few games, or too small a batch")
        start = {
            key: int(value)
            for key, value in self.match.engines[0].options
            if is_parameter(key) and (key in self.names or not self.names)
        }
        space = Space(self.names, start, self.step_share)
        return Spsa(space, duels, self.match.seed, self.rate, self.batch)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TuningPlan:
        """Return the plan that ``asdict`` has taken apart."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["names"] = tuple(values["names"])
        values["match"] = MatchSettings.from_json(values["match"])
        return cls(**values)


class TuningFile(LineFile):
    """An open record: the ``states`` it held, and ``append``."""

    def __init__(self, path: Path, plan: TuningPlan) -> None:
        """Begin the file, or open it to go on, if with more or fewer games at the same time.

        Raises:
            JournalError: it cannot be written, or belongs to another run.
        """
        super().__init__(path, "r+b" if path.exists() else "x+b")
        self.states: list[dict[str, Any]] = []
        try:
            if not path.stat().st_size:
                self.write({"type": "tune", "format": FORMAT, "plan": asdict(plan)})
                return
            found, self.states, end = read(path)
            same = replace(plan, match=replace(plan.match, concurrency=found.match.concurrency))
            if found != same:
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
    plans: list[TuningPlan] = []
    states: list[dict[str, Any]] = []

    def take(entry: dict[str, Any]) -> None:
        if entry.pop("type") == "tune":
            plans.append(TuningPlan.from_json(entry["plan"]))
        else:
            states.append(entry)

    end = read_entries(path, "file of a tuning run", take)
    if not plans:
        raise JournalError(f"{path} is no file of a tuning run")
    return plans[-1], states, end


class DuelError(RuntimeError):
    """A game ended by a fault, which no parameter may cause."""


class Duels:
    """Plays duels inside this process, several games at a time.

    The engines stay from game to game and only take new parameters. With a node limit a duel is
    the same whenever it is played, and on whatever machine.
    """

    def __init__(self, settings: MatchSettings) -> None:
        """Begin; the engines are made at the first duel."""
        self._name = settings.engines[0].name
        self._openings = Openings(settings)
        self._games = LocalGames(settings)
        self.close = self._games.close

    def play(self, duels: Sequence[Duel]) -> list[int]:
        """Return the half points, 0 to 4, of the first set in each duel.

        Raises:
            DuelError: an engine did what it must not do.
        """
        for duel in duels:
            stones = tuple(self._openings[duel.opening])
            for black in (0, 1):
                number, sets = 2 * duel.opening + black, (duel.first, duel.second)
                task = GameTask(number, duel.opening, black, 1 - black, stones, sets)
                self._games.submit(task)
        points: Counter[int] = Counter()
        for _ in range(2 * len(duels)):
            played = self._games.wait()
            if played.fault:
                raise DuelError(f"opening {played.round}: {played.fault} {played.detail}")
            points[played.round] += played.points(self._name)
        return [points[duel.opening] for duel in duels]
