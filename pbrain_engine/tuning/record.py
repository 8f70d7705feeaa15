"""The file of a tuning run: its plan, then the state after every batch, one JSON object a line.

A line is on the disk before the next batch begins; one that was cut off is dropped when the
run goes on. The same file goes on only with the same plan.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..arena.records.journal import whole_lines
from ..arena.settings import SettingsError
from ..files import read_object
from ..native.load.lock import try_lock
from ..options import problem_of
from .plan import TuningPlan

FORMAT = 1


class RecordError(SettingsError):
    """A file that holds no tuning run, or another one."""


class TuningFile:
    """An open record: its plan, the states it held, and ``append``."""

    def __init__(self, path: Path, plan: TuningPlan) -> None:
        """Begin the file, or open it to go on.

        Raises:
            RecordError: it cannot be written, or belongs to another run.
        """
        self.path = path
        self.states: list[dict[str, Any]] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("r+b" if path.exists() else "x+b")
        except OSError as error:
            raise RecordError(problem_of(error)) from None
        try:
            self._lock()
            found, self.states, end = read(path) if path.stat().st_size else (None, [], 0)
            if found is not None and not is_same(found, plan):
                raise RecordError(f"{path} holds a run with other settings; give another file")
        except SettingsError:
            self._file.close()
            raise
        self._file.seek(end)
        self._file.truncate()
        if found is None:
            self._write({"type": "tune", "format": FORMAT, "plan": plan.to_json()})

    def _lock(self) -> None:
        """Keep a second run off the file."""
        if not try_lock(self._file):
            raise RecordError(f"{self.path} is being written by another run")

    def append(self, state: Mapping[str, Any]) -> None:
        """Write a state down for good."""
        self._write({"type": "state", **state})
        self.states.append(dict(state))

    def _write(self, entry: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def is_same(one: TuningPlan, other: TuningPlan) -> bool:
    """Say whether two plans differ in nothing but how many games run at once."""
    return one == replace(other, match=replace(other.match, concurrency=one.match.concurrency))


def read(path: Path) -> tuple[TuningPlan, list[dict[str, Any]], int]:
    """Return the plan, the states, and the length of the part that is whole.

    Raises:
        RecordError: the file cannot be read or holds no tuning run.
    """
    plan: TuningPlan | None = None
    states: list[dict[str, Any]] = []
    end = 0
    try:
        for line in whole_lines(path):
            entry = read_object(line)
            if entry.pop("type") == "tune":
                plan = TuningPlan.from_json(entry["plan"])
            else:
                states.append(entry)
            end += len(line)
    except OSError as error:
        raise RecordError(problem_of(error)) from None
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{path} holds no tuning run ({error})") from None
    if plan is None:
        raise RecordError(f"{path} holds no tuning run")
    return plan, states, end
