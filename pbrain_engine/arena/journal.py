"""The journal of a match as its runner holds it: games, and settings that may change on the way."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import FileError
from ..files import Document
from ..game.documents import played_document
from ..game.record import GameRecord
from ..notation.journal import GameLog
from .settings import MatchSettings, SettingsError


class Journal(GameLog):
    """An open journal: ``settings``, the ``games`` that it holds, and ``append``.

    One begins with the mode ``x+b`` and settings, and goes on with ``r+b``.
    """

    settings: MatchSettings

    def __init__(self, path: Path, mode: str, settings: MatchSettings | None = None) -> None:
        if settings:
            self.settings = settings
        super().__init__(path, mode, _head(settings) if settings else None)

    def take(self, entry: dict[str, Any]) -> None:
        """Take settings, which replace those before, or a game between engines of theirs."""
        super().take(entry)
        if entry["type"] == self.first:
            try:
                self.settings = MatchSettings.from_json(entry["settings"])
            except SettingsError as error:
                raise FileError(str(error)) from None

    def change(self, settings: MatchSettings) -> None:
        """Go on under other settings, such as more games."""
        if settings != self.settings:
            self.settings = settings
            self.write(_head(settings))

    def append(self, played: GameRecord) -> None:
        """Write a game to disk, with the date."""
        played = played._replace(date=played.date or time.strftime("%Y-%m-%d"))
        self.write({"type": "game", **played_document(played)})
        self.by_number[played.number] = played


def _head(settings: MatchSettings) -> Document:
    now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    head: Document = {"type": "match", "format": 1, "version": __version__, "time": now}
    return {**head, "settings": asdict(settings)}


def read_journal(path: Path) -> tuple[MatchSettings, list[GameRecord]]:
    """Return the settings and games of a journal, complete or not; FileError if it is none."""
    journal = Journal(path, "rb")
    journal.close()
    return journal.settings, journal.games
