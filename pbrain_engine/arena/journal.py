"""The journal of a match: a file of JSON lines that survives whatever happens to its writer.

The first line holds the settings, every other one a finished game (or settings that replace the
former ones from there on). A line is on the disk before its game counts; one that was cut off by
a crash is dropped when the file is opened again. One writer at a time.
"""

from __future__ import annotations

import gc
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from .. import __version__
from ..files import read_object, try_lock
from ..notation.cells import cell_name, format_moves
from ..notation.game_tree import GameRecord
from ..options import problem_of
from ..position.geometry import MAX_BOARD, Coordinates
from ..values import format_value
from .settings import MatchSettings, SettingsError

BLACK, WHITE, DRAW = "black", "white", "draw"

FIVE = "five"
FULL = "full"  # no empty cell
LIMIT = "limit"  # as many stones as the match allows
SCORE = "score"  # both engines agreed on the outcome for long enough

# Faults: what the loser did.
CRASH = "crash"  # it died of a signal or with an error code
EXIT = "exit"  # it left, or closed its output, unasked
TIME = "time"  # its answer came late, or not at all though it had spoken before
MUTE = "mute"  # it never said anything at all
GARBAGE = "garbage"  # it said things, none of them a move
FLOOD = "flood"  # it said far too much
MEMORY = "memory"  # it held more memory than allowed
ILLEGAL = "illegal"  # its move was off the board or on a stone
FORBIDDEN = "forbidden"  # its move was a foul of black's in renju
REFUSED = "refused"  # it declined the board or the rule with ERROR or UNKNOWN
START = "start"  # it could not be started
FAULTS = (CRASH, EXIT, TIME, MUTE, GARBAGE, FLOOD, MEMORY, ILLEGAL, FORBIDDEN, REFUSED, START)


@dataclass(slots=True)
class Played:
    """One game. The columns ``ms`` to ``nodes`` have one entry for each move after the opening."""

    game: int
    round: int
    black: str
    white: str
    winner: str  # BLACK, WHITE or DRAW
    reason: str  # FIVE, FULL, LIMIT, SCORE or a fault of the loser's
    detail: str = ""
    opening: list[Coordinates] = field(default_factory=list)
    moves: list[Coordinates] = field(default_factory=list)  # after the opening
    ms: list[int] = field(default_factory=list)
    depth: list[int | None] = field(default_factory=list)
    value: list[int | None] = field(default_factory=list)  # from the mover's side
    nodes: list[int | None] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)  # peak bytes of black and white
    seconds: float = 0.0
    date: str = ""  # on which it ended, ``2026-03-14``; empty in old journals

    @property
    def fault(self) -> str:
        """The cause for which the loser lost, or an empty string."""
        return self.reason if self.reason in FAULTS else ""

    @property
    def loser(self) -> str:
        """The loser's name; empty after a draw."""
        return {BLACK: self.white, WHITE: self.black}.get(self.winner, "")

    @property
    def all_moves(self) -> list[Coordinates]:
        """The opening and the moves."""
        return [*self.opening, *self.moves]

    @property
    def movers(self) -> list[str]:
        """Who made each of the moves after the opening."""
        sides, first = (self.black, self.white), len(self.opening)
        return [sides[(first + number) % 2] for number in range(len(self.moves))]

    @property
    def result(self) -> str:
        """The result as game records write it, black first."""
        return {BLACK: "1-0", WHITE: "0-1"}.get(self.winner, "1/2-1/2")

    def points(self, name: str) -> int:
        """Half points of an engine: 2 for a win, 1 for a draw."""
        if self.winner == DRAW:
            return 1
        return 2 if (self.black if self.winner == BLACK else self.white) == name else 0

    def to_json(self) -> dict[str, Any]:
        """Return the game as one journal entry."""
        entry = {column.name: getattr(self, column.name) for column in fields(self)}
        opening, moves = format_moves(self.opening), format_moves(self.moves)
        return {**entry, "opening": opening, "moves": moves, "seconds": round(self.seconds, 3)}

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Played:
        """Return the game that :meth:`to_json` wrote."""
        values = dict(entry)
        values.pop("type", None)
        for key in ("opening", "moves"):  # faster than to parse what was checked when written
            values[key] = [_CELLS[name] for name in _NAMES.findall(values[key])]
        return cls(**values)


_CELLS = {cell_name(x, y): (x, y) for x in range(MAX_BOARD) for y in range(MAX_BOARD)}
_NAMES = re.compile(r"[a-z]\d+")


def paper_record(played: Played, settings: MatchSettings) -> GameRecord:
    """Return a game as the record that SGF and PSQ share; comments are ``+35/12 480ms``."""
    given = len(played.opening)
    comments = [""] * given
    for ms, value, depth in zip(played.ms, played.value, played.depth, strict=True):
        reached = "" if depth is None else f"/{depth}"
        judged = "" if value is None else f"{format_value(value)}{reached} "
        comments.append(f"{judged}{ms}ms")
    ended = f"{played.reason}: {played.detail}" if played.detail else played.reason
    return GameRecord(
        settings.width,
        settings.height,
        settings.rule,
        (*played.opening, *played.moves),
        times=(*[0] * given, *played.ms),
        comments=tuple(comments),
        black=played.black,
        white=played.white,
        result=played.result,
        date=played.date,
        comment=f"game {played.game + 1}, {given} given stones, ended by {ended}",
    )


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
        with self._name_file():
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        with self._name_file():
            self._file.close()

    @contextmanager
    def _name_file(self) -> Iterator[None]:
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
        try:
            journal.settings, journal.games, end = _read(path)
        except JournalError:
            journal.close()
            raise
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

    def take(entry: dict[str, Any]) -> None:
        nonlocal settings, names
        if entry["type"] == "match":
            settings = MatchSettings.from_json(entry["settings"])
            names = frozenset(engine.name for engine in settings.engines)
        elif entry["type"] == "game":
            _check(games.setdefault(entry["game"], Played.from_json(entry)), names)

    collects = gc.isenabled()
    gc.disable()  # it would look through all games again and again: half of the time
    try:
        end = read_entries(path, "journal of a match", take)
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


def read_entries(path: Path, what: str, take: Callable[[dict[str, Any]], None]) -> int:
    """Hand over the entries up to the first line that is not whole; return where that begins.

    Raises:
        JournalError: the file cannot be read, or one entry cannot be taken: it is no ``what``.
    """
    end = 0
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n") or b"\0" in line:
                    break
                take(read_object(line))
                end += len(line)
    except SettingsError as error:
        raise JournalError(f"{path}: {error}") from None
    except OSError as error:
        raise JournalError(problem_of(error)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JournalError(f"{path} is no {what} ({error})") from None
    return end
