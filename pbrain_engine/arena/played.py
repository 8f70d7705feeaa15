"""A finished game: who, what, how it ended, and what both engines said on the way.

An engine can lose it other than on the board: there is one word for each cause.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..notation.cells import cell_name, format_moves
from ..position.geometry import MAX_BOARD, Coordinates

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

FAULTS = frozenset(
    {CRASH, EXIT, TIME, MUTE, GARBAGE, FLOOD, MEMORY, ILLEGAL, FORBIDDEN, REFUSED, START}
)


class EngineFault(Exception):
    """An engine did something that costs it the game."""

    def __init__(self, cause: str, detail: str = "") -> None:
        """Keep the cause, one of ``FAULTS``, and what was seen."""
        super().__init__(f"{cause}: {detail}" if detail else cause)
        self.cause = cause
        self.detail = detail


class Abandoned(Exception):
    """The game was broken off from outside; it does not count."""


BLACK, WHITE, DRAW = "black", "white", "draw"

FIVE = "five"
FULL = "full"  # no empty cell
LIMIT = "limit"  # as many stones as the match allows
SCORE = "score"  # both engines agreed on the outcome for long enough


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
        values["opening"] = read_cells(values["opening"])
        values["moves"] = read_cells(values["moves"])
        return cls(**values)


_CELLS = {cell_name(x, y): (x, y) for x in range(MAX_BOARD) for y in range(MAX_BOARD)}
_NAMES = re.compile(r"[a-z]\d+")


def read_cells(text: str) -> list[Coordinates]:
    """Return the cells of a journal's move string; it was checked when it was written."""
    return [_CELLS[name] for name in _NAMES.findall(text)]
