"""The journal of a match: a file of JSON lines that survives whatever happens to its writer.

The first line holds the settings, every other one a finished game (or settings that replace the
former ones from there on). A line is on the disk before its game counts; one that was cut off by
a crash is dropped when the file is opened again. One writer at a time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from ..files import read_object, try_lock
from ..game.cells import cell_name, format_moves
from ..game.record import GameRecord
from ..position.geometry import MAX_BOARD, Coordinates
from ..position.rules import Rule
from ..values import format_value

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
    def ending(self) -> str:
        """The reason for which it ended, with its detail."""
        return f"{self.reason}: {self.detail}" if self.detail else self.reason

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
        return 1 if self.winner == DRAW else 2 * (self.loser != name)

    def to_json(self) -> dict[str, Any]:
        """Return the game as one journal entry."""
        opening, moves = format_moves(self.opening), format_moves(self.moves)
        seconds = round(self.seconds, 3)
        return {**asdict(self), "opening": opening, "moves": moves, "seconds": seconds}

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


def paper_record(played: Played, width: int, height: int, rule: Rule) -> GameRecord:
    """Return a game as the record that SGF and PSQ share; comments are ``+35/12 480ms``."""
    given = len(played.opening)
    comments = [""] * given
    for ms, value, depth in zip(played.ms, played.value, played.depth, strict=True):
        reached = "" if depth is None else f"/{depth}"
        judged = "" if value is None else f"{format_value(value)}{reached} "
        comments.append(f"{judged}{ms}ms")
    return GameRecord(
        width,
        height,
        rule,
        (*played.opening, *played.moves),
        times=(*[0] * given, *played.ms),
        comments=tuple(comments),
        black=played.black,
        white=played.white,
        result=played.result,
        date=played.date,
        comment=f"game {played.game + 1}, {given} given stones, ended by {played.ending}",
    )


class JournalError(ValueError):
    """A file that is no such journal, or that another one is writing."""


class LineFile:
    """A file of JSON lines that is written by one process at a time, each line for good."""

    kind: str  # what such a file is
    first: str  # the type of the entry that it begins with

    def __init__(self, path: Path, mode: str, head: Mapping[str, Any] | None = None) -> None:
        """Open the file, take the entries that are whole, and write on behind them.

        With the mode ``rb`` it is only read, which others may do at the same time. A file without
        an entry begins with the head.

        Raises:
            JournalError: that cannot be.
        """
        self.path = path
        try:
            if "x" in mode:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open(mode)
        except FileExistsError:
            raise JournalError(f"{path} exists; continue it with --resume {path}") from None
        except OSError as error:
            raise JournalError(_problem_of(error)) from None
        try:
            if mode != "rb" and not try_lock(self._file):
                raise JournalError(f"{path} is being written by another runner")
            end = self._read()
            if not end and not head:
                raise JournalError(f"{path} is no {self.kind}")
        except JournalError:
            self._file.close()
            raise
        if mode != "rb":
            self._file.seek(end)
            self._file.truncate()
        if head and not end:
            self.write(head)

    def take(self, entry: dict[str, Any]) -> None:
        """Take an entry that the file holds; an error of values means that it is none."""
        raise NotImplementedError

    def _read(self) -> int:
        """Take the entries up to a last line that is not whole; return where that begins."""
        end = count = 0
        try:
            for line in self._file:
                count += 1
                if not line.endswith(b"\n") or b"\0" in line:
                    if self._file.read().strip(b"\0\r\n "):  # else a crash has left it at the end
                        raise ValueError("it is not whole, and others follow")
                    break
                entry = read_object(line)
                if not end and entry["type"] != self.first:
                    break
                self.take(entry)
                end += len(line)
        except JournalError as error:
            raise JournalError(f"{self.path}: {error}") from None
        except OSError as error:
            raise JournalError(_problem_of(error)) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if not end:
                raise JournalError(f"{self.path} is no {self.kind} ({error})") from None
            raise JournalError(f"{self.path}, line {count}: {error}") from None
        return end

    def write(self, entry: Mapping[str, Any]) -> None:
        """Write a line, which is on the disk then; an error says the name of the file."""
        try:
            self._file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            error.filename = str(self.path)
            raise

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # of a line that could not be written: that has been said
            self._file.close()


def _problem_of(error: OSError) -> str:
    words = error.strerror or str(error)
    return f"{error.filename}: {words}" if error.filename else words


class GameLog(LineFile):
    """The games of a match, in the order in which they ended, and its settings as JSON has them."""

    kind = "journal of a match"
    first = "match"

    def __init__(self, path: Path, mode: str, head: Mapping[str, Any] | None = None) -> None:
        self.by_number: dict[int, Played] = {}
        self._use(head["settings"] if head else {})
        super().__init__(path, mode, head)

    def _use(self, conditions: Mapping[str, Any]) -> None:
        self.conditions = conditions
        self._engines = {engine["name"] for engine in conditions.get("engines", ())}

    @property
    def games(self) -> list[Played]:
        """The finished games."""
        return list(self.by_number.values())

    def take(self, entry: dict[str, Any]) -> None:
        """Take settings, which replace those before, or a game between engines of theirs."""
        if entry["type"] == "match":
            self._use(entry["settings"])
        elif entry["type"] == "game" and entry["game"] not in self.by_number:
            played = self.by_number[entry["game"]] = Played.from_json(entry)
            columns = (played.ms, played.depth, played.value, played.nodes)
            if not {played.black, played.white} <= self._engines:
                raise ValueError(f"game {played.game} is one of other engines")
            if played.winner not in (BLACK, WHITE, DRAW):
                raise ValueError(f"game {played.game} has no result")
            if any(len(column) != len(played.moves) for column in columns):
                raise ValueError(f"game {played.game} does not tell of each move")
