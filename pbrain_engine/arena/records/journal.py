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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ... import __version__
from ...files import read_object
from ...native.load.lock import try_lock
from ...options import problem_of
from ..game.played import BLACK, DRAW, WHITE, Played
from ..settings import MatchSettings, SettingsError

FORMAT = 1


class JournalError(SettingsError):
    """A file that is no journal, or that another runner is writing."""


class Journal:
    """An open journal: ``settings``, the ``games`` it held, and ``append``."""

    def __init__(self, path: Path, settings: MatchSettings, games: list[Played], file: IO[bytes]):
        """Use :meth:`create` or :meth:`resume` instead."""
        self.path = path
        self.settings = settings
        self.games = games
        self._file = file

    @classmethod
    def create(cls, path: Path, settings: MatchSettings) -> Journal:
        """Begin a journal; it must not exist yet.

        Raises:
            JournalError: it exists or cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("xb")
        except FileExistsError:
            raise JournalError(f"{path} exists; continue it with --resume {path}") from None
        except OSError as error:
            raise JournalError(problem_of(error)) from None
        journal = cls(path, settings, [], file)
        journal._lock()
        journal._write_settings()
        return journal

    @classmethod
    def resume(cls, path: Path) -> Journal:
        """Open a journal to continue it.

        Raises:
            JournalError: it cannot be opened or is none.
        """
        try:
            file = path.open("r+b")
        except OSError as error:
            raise JournalError(problem_of(error)) from None
        journal = cls(path, None, [], file)  # type: ignore[arg-type]
        journal._lock()
        journal.settings, journal.games, end = _read(path)
        file.seek(end)
        file.truncate()
        return journal

    def _lock(self) -> None:
        """Keep a second runner off the file."""
        if not try_lock(self._file):
            self._file.close()
            raise JournalError(f"{self.path} is being written by another runner")

    def change(self, settings: MatchSettings) -> None:
        """Go on under other settings, such as more games."""
        if settings != self.settings:
            self.settings = settings
            self._write_settings()

    def _write_settings(self) -> None:
        self._write(
            {
                "type": "match",
                "format": FORMAT,
                "version": __version__,
                "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                "settings": self.settings.to_json(),
            }
        )

    def append(self, played: Played) -> None:
        """Write a game down for good."""
        self._write({"type": "game", **played.to_json()})
        self.games.append(played)

    def _write(self, entry: dict[str, Any]) -> None:
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
        for line in whole_lines(path):
            entry = read_object(line)
            if entry["type"] == "match":
                settings = MatchSettings.from_json(entry["settings"])
                names = frozenset(engine.name for engine in settings.engines)
            elif entry["type"] == "game":
                played = games.setdefault(entry["game"], Played.from_json(entry))
                _check(played, names)
            end += len(line)
    except OSError as error:
        raise JournalError(problem_of(error)) from None
    except (ValueError, KeyError, TypeError) as error:
        raise JournalError(f"{path} is no journal of a match ({error})") from None
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


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines up to the first that is not whole."""
    with path.open("rb") as file:
        for line in file:
            if not line.endswith(b"\n") or b"\0" in line:
                return
            yield line
