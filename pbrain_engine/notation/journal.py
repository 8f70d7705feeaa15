"""The journal of a match: a file of JSON lines that survives a crash of its writer.

The first line contains the settings, each other line a finished game (or settings that replace the
earlier ones from there on). A game counts once its line is on disk; a line cut off by a crash is
dropped when the file is reopened. One writer at a time.

Fields of a game:

- ``game``, ``round``: numbers from 0; the games of a round have the same opening
- ``black``, ``white``: names; ``winner``: ``black``, ``white`` or ``draw``
- ``reason``: ``five``, ``full``, ``limit``, ``score`` or a fault of the loser; ``detail``: text
- ``opening``, ``moves``: cells such as ``h8i9j10``; ``steps``: the players' actions under an
  opening rule, such as ``h8 i9 j10 swap``
- ``ms``, ``depth``, ``value``, ``nodes``: one entry for each of ``moves``, null where the engine
  reported none; values of the side that moved, ``30000 - n`` for a win in n plies
- ``date``: of its end; ``seconds``: its duration
- ``memory``: most private bytes, of black and of white
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ..errors import FileError, SettingsError, problem_of
from ..files import check_kinds, read_lines, read_object, read_stream, try_lock
from ..game.cells import check_size
from ..game.documents import read_played
from ..game.record import GameRecord
from ..position.rules import Rule
from ..values import format_value


def annotated(game: GameRecord) -> GameRecord:
    """Return a match game with comments: ``+35/12 480ms`` on moves, and how it ended."""
    comments = [""] * game.given
    for ms, value, depth in zip(game.times, game.values, game.depths, strict=True):
        reached = "" if depth is None else f"/{depth}"
        judged = "" if value is None else f"{format_value(value)}{reached} "
        comments.append(f"{judged}{ms}ms")
    words = f"game {game.number + 1}, {game.given} given stones, ended by {game.ending}"
    if game.steps:
        words += f"; opening: {game.steps}"
    return game._replace(comments=tuple(comments), comment=words)


class LineFile:
    """A file of JSON lines, each written durably, with one writer at a time."""

    kind: str  # name of this kind of file, for errors
    first: str  # type of the first entry

    def __init__(self, path: Path, mode: str, head: Mapping[str, object] | None = None) -> None:
        """Open the file, read its complete entries, and append after them.

        Mode ``rb`` only reads, without a lock. A file without entries starts with ``head``.
        FileError if the file cannot be opened, is invalid or has another writer.
        """
        self.path = path
        try:
            if "x" in mode:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open(mode)
        except FileExistsError:
            raise FileError(f"{path} exists; continue it with --resume {path}") from None
        except OSError as error:
            raise FileError(problem_of(error)) from None
        try:
            if mode != "rb" and not try_lock(self._file):
                raise FileError(f"{path} is being written by another runner")
            end = self._read()
            if not end and not head:
                raise FileError(f"{path} is not a {self.kind}")
        except FileError:
            self._file.close()
            raise
        if mode != "rb":
            self._file.seek(end)
            self._file.truncate()
        if head and not end:
            try:
                self.write(head)
            except OSError:
                self.close()
                if "x" in mode:
                    path.unlink()  # else it would be in the way of the next attempt
                raise

    def take(self, entry: dict[str, Any]) -> None:
        """Process an entry of the file; ValueError if it is invalid."""
        raise NotImplementedError

    def _read(self) -> int:
        """Process all entries; return their end, where an incomplete last line begins."""
        end = count = 0
        try:
            for line in read_lines(self._file, "it"):
                count += 1
                if not line.endswith(b"\n") or b"\0" in line:
                    rest = read_stream(self._file, "it")
                    if rest.strip(b"\0\r\n "):  # else it is the rest of a crash
                        raise ValueError("it is incomplete, and others follow")
                    break
                entry = read_object(line)
                check_kinds(entry, {"type": str})
                if not end and entry["type"] != self.first:
                    break
                self.take(entry)
                end += len(line)
        except (FileError, SettingsError) as error:
            raise FileError(f"{self.path}: {error}") from None
        except OSError as error:
            raise FileError(problem_of(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            is_told = isinstance(error, ValueError)
            reason = str(error) if is_told else "a value is missing or of the wrong kind"
            if not end:
                raise FileError(f"{self.path} is not a {self.kind} ({reason})") from None
            raise FileError(f"{self.path}, line {count}: {reason}") from None
        return end

    def write(self, entry: Mapping[str, object]) -> None:
        """Append a line durably; an OSError names the file."""
        try:
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            error.filename = str(self.path)
            raise

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # from a failed write, reported already
            self._file.close()


_USUAL: dict[str, Any] = {"width": 15, "height": 15}  # where older journals say nothing
_ENGINE: dict[str, type] = {
    "name": str, "command": list, "options": list, "builtin": str, "title": str, "is_named": bool,
}  # fmt: skip
_USUAL_ENGINE = {"builtin": "", "title": "", "is_named": False}


def check_settings(found: Mapping[str, Any]) -> None:
    """Raise ValueError about the engines, the board or the rule of a match if one is damaged."""
    known = {**_USUAL, **found}
    check_kinds(known, {"engines": list, "width": int, "height": int, "rule": int})
    check_size("the board", known["width"], known["height"])
    for engine in known["engines"]:
        if not isinstance(engine, dict):
            raise ValueError("an engine is not an object")
        check_kinds({**_USUAL_ENGINE, **engine}, _ENGINE)
        pairs = [pair if isinstance(pair, list) else [pair] for pair in engine["options"]]
        words = chain(engine["command"], *pairs)
        if {*map(type, words)} - {str} or {*map(len, pairs)} - {2}:
            raise ValueError("an engine has a command or options that are not texts")


class GameLog(LineFile):
    """The games of a match, in the order of their ends, and its settings as JSON."""

    kind = "journal of a match"
    first = "match"

    def __init__(self, path: Path, mode: str, head: Mapping[str, Any] | None = None) -> None:
        self.by_number: dict[int, GameRecord] = {}
        self._use(head["settings"] if head else {})
        super().__init__(path, mode, head)

    def _use(self, conditions: Mapping[str, Any]) -> None:
        self.conditions = {**_USUAL, **conditions}
        self._engines = {engine["name"] for engine in conditions.get("engines", ())}

    @property
    def games(self) -> list[GameRecord]:
        """The finished games."""
        return list(self.by_number.values())

    def take(self, entry: dict[str, Any]) -> None:
        """Process new settings, or a game between engines of the current settings."""
        if entry["type"] == "match":
            check_kinds(entry, {"settings": dict})
            check_settings(entry["settings"])
            self._use(entry["settings"])
        elif entry["type"] == "game":
            check_kinds(entry, {"game": int})
            if entry["game"] not in self.by_number:
                known = self.conditions
                game = read_played(entry, known["width"], known["height"], Rule(known["rule"]))
                if not {game.black, game.white} <= self._engines:
                    raise ValueError(f"game {game.number} is between other engines")
                self.by_number[game.number] = game
