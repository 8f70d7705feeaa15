"""The journal of a match: a file of JSON lines that survives whatever happens to its writer.

The first line holds the settings, every other one a finished game (or settings that
replace the former ones from there on). A line is on the disk
before its game counts; a line that was cut off by a crash is dropped when the file is
opened again. One writer at a time.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .. import __version__
from ..files import read_object
from ..native.load.lock import try_lock
from ..options import problem_of
from .played import BLACK, DRAW, WHITE, Played
from .settings import MatchSettings, SettingsError

FORMAT = 1


class JournalError(SettingsError):
    """A file that is no such journal, or that another one is writing."""


class LineFile:
    """A file of JSON lines that is written by one process at a time, each line for good."""

    def __init__(self, path: Path, mode: str) -> None:
        """Open the file and keep others off it.

        Raises:
            JournalError: that cannot be.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open(mode)
        except FileExistsError:
            raise JournalError(f"{path} exists; continue it with --resume {path}") from None
        except OSError as error:
            raise JournalError(problem_of(error)) from None
        if not try_lock(self._file):
            self._file.close()
            raise JournalError(f"{path} is being written by another runner")

    def go_on(self, end: int) -> None:
        """Write on behind the part that is whole."""
        self._file.seek(end)
        self._file.truncate()

    def write(self, entry: Mapping[str, Any]) -> None:
        """Write a line, which is on the disk then."""
        with self._named():
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        with self._named():
            self._file.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Let errors of writing say which file cannot be written."""
        try:
            yield
        except OSError as error:
            error.filename = str(self.path)
            raise


class Journal(LineFile):
    """An open journal of a match: ``settings``, the ``games`` it held, and ``append``."""

    settings: MatchSettings
    games: list[Played]

    @classmethod
    def create(cls, path: Path, settings: MatchSettings) -> Journal:
        """Begin a journal; it must not exist yet.

        Raises:
            JournalError: it exists or cannot be written.
        """
        journal = cls(path, "xb")
        journal.settings, journal.games = settings, []
        journal._write_settings()
        return journal

    @classmethod
    def resume(cls, path: Path) -> Journal:
        """Open a journal to continue it.

        Raises:
            JournalError: it cannot be opened or is none.
        """
        journal = cls(path, "r+b")
        journal.settings, journal.games, end = _read(path)
        journal.go_on(end)
        return journal

    def change(self, settings: MatchSettings) -> None:
        """Go on under other settings, such as more games."""
        if settings != self.settings:
            self.settings = settings
            self._write_settings()

    def _write_settings(self) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        head = {"type": "match", "format": FORMAT, "version": __version__, "time": now}
        self.write({**head, "settings": self.settings.to_json()})

    def append(self, played: Played) -> None:
        """Write a game down for good, with the date."""
        played.date = played.date or time.strftime("%Y-%m-%d")
        self.write({"type": "game", **played.to_json()})
        self.games.append(played)


def read_journal(path: Path) -> tuple[MatchSettings, list[Played]]:
    """Return the settings and the games of a journal, complete or not.

    Raises:
        JournalError: the file cannot be read or is no journal.
    """
    settings, games, _ = _read(path)
    return settings, games


def _read(path: Path) -> tuple[MatchSettings, list[Played], int]:
    """Return settings, games, and the length of the part that is whole."""
    settings: MatchSettings | None = None
    names: frozenset[str] = frozenset()
    games: dict[int, Played] = {}
    end = 0
    collects = gc.isenabled()
    gc.disable()  # it would look through all games again and again: half of the time
    try:
        with reading(path, "journal of a match"):
            for entry, place in whole_entries(path):
                if entry["type"] == "match":
                    settings = MatchSettings.from_json(entry["settings"])
                    names = frozenset(engine.name for engine in settings.engines)
                elif entry["type"] == "game":
                    played = games.setdefault(entry["game"], Played.from_json(entry))
                    _check(played, names)
                end = place
    finally:
        if collects:
            gc.enable()
    if settings is None:
        raise JournalError(f"{path} is no journal of a match")
    return settings, list(games.values()), end


def _check(played: Played, names: frozenset[str]) -> None:
    """Refuse what cannot be a game between engines of these names.

    Raises:
        ValueError: it is none.
    """
    columns = (played.ms, played.depth, played.value, played.nodes)
    if not {played.black, played.white} <= names:
        raise ValueError(f"game {played.game} is one of other engines")
    if played.winner not in (BLACK, WHITE, DRAW):
        raise ValueError(f"game {played.game} has no result")
    if any(len(column) != len(played.moves) for column in columns):
        raise ValueError(f"game {played.game} does not tell of each move")


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn what goes wrong while entries are read into one line.

    Raises:
        JournalError: the file cannot be read, or is no such thing.
    """
    try:
        yield
    except SettingsError as error:
        raise JournalError(f"{path}: {error}") from None
    except OSError as error:
        raise JournalError(problem_of(error)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalError(f"{path} is no {what} ({error})") from None


def whole_entries(path: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the entries of a file, each with its end, up to the first line that is not whole."""
    end = 0
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or b"\0" in line:
                return
            end += len(line)
            yield read_object(line), end
