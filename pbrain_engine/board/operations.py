"""Everything that the server can be asked, in one table.

The WebSocket, the addresses under ``/api/`` and their description in OpenAPI are all made of
this table. An operation either needs the desk of its tab, or only looks something up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..engine.engine import SEARCHES
from . import files, proofs, puzzles, records, reviews, searches
from .archive import Archive
from .desk import DEFAULT_MEMORY, Desk, Job
from .fields import MOVES, REQUIRED, Field, flag, number, one_of, position, text, whole
from .files import MOST_DATA, MOST_TEXT
from .searches import Tell

MOST_SECONDS = 600.0
MOST_MEMORY = 65_536  # megabytes
MOST_LINES = 20

AtDesk = Callable[[Desk, Job, Mapping[str, Any], Tell], dict[str, Any]]
LookUp = Callable[[Mapping[str, Any]], dict[str, Any]]
AtArchive = Callable[[Archive, Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Operation:
    """A thing that can be asked: by what name, with which fields, and who does it."""

    name: str
    summary: str
    fields: Mapping[str, Field]
    at_desk: AtDesk | None = None
    look_up: LookUp | None = None
    at_archive: AtArchive | None = None
    endless: bool = False  # on a socket it goes on until something else is asked

    def read(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked fields of a message; raises Refused."""
        return {name: field.read(name, message) for name, field in self.fields.items()}

    def at_once(self, archive: Archive) -> LookUp | None:
        """Return what answers it without an engine, None if it needs one."""
        return partial(self.at_archive, archive) if self.at_archive is not None else self.look_up

    @property
    def required(self) -> list[str]:
        """The fields that have no default."""
        return [name for name, field in self.fields.items() if field.default is REQUIRED]


def seconds(default: float, about: str = "how long it may take") -> Field:
    """Return the field for a time."""
    return number(0.01, MOST_SECONDS, default, about)


THREADS = whole(1, 64, 1, "threads to search with")
MEMORY = whole(16, MOST_MEMORY, DEFAULT_MEMORY, "megabytes that the process may use")

_TABLE = (
    Operation(
        "look",
        "What the rules say about a position: who moves, who has won, what is forbidden and why",
        {"position": position()},
        look_up=searches.look,
    ),
    Operation(
        "analyse",
        "Search a position; on the WebSocket every depth is told, until a limit or until "
        "something else is asked",
        {
            "position": position(),
            "multipv": whole(1, MOST_LINES, 1, "how many best moves"),
            "threads": THREADS,
            "memory": MEMORY,
            "search": one_of(SEARCHES, SEARCHES[0], "the kind of search"),
            "policy": flag(False, "tell which moves look best before any search, too"),
            "time": number(0.01, MOST_SECONDS, None, "seconds"),
            "nodes": whole(1, 1 << 50, None, "positions to search, with an empty memory"),
            "depth": whole(1, 200, None, "plies"),
        },
        searches.analyse,
        endless=True,
    ),
    Operation(
        "move",
        "The engine's move in a game against a person",
        {
            "position": position(),
            "level": whole(1, 10, 10, "strength"),
            "seconds": seconds(5.0, "for the move"),
            "threads": THREADS,
            "memory": MEMORY,
        },
        searches.move,
    ),
    Operation(
        "swap2",
        "The engine's decision in swap2, with 0, 3 or 5 stones on the board",
        {"position": position(), "seconds": seconds(5.0)},
        searches.choose_side,
    ),
    Operation(
        "threats",
        "What every cell makes for either side, which cells win by fours, and what stops the "
        "enemy's win by fours",
        {"position": position(), "seconds": seconds(5.0)},
        proofs.threats,
    ),
    Operation(
        "prove",
        "A proven win of the side to move: its next move and its line",
        {"position": position(), "seconds": seconds(10.0)},
        proofs.prove,
    ),
    Operation(
        "branches",
        "The defences against the attacker's last move, and what each of them leads to",
        {"position": position(), "seconds": seconds(20.0)},
        proofs.branches,
    ),
    Operation(
        "reply",
        "The longest defence against the attacker's last move, and whether that still wins",
        {"position": position(), "seconds": seconds(20.0)},
        proofs.reply,
    ),
    Operation(
        "review",
        "A game move by move: values, mistakes, missed and allowed wins",
        {"position": position(), "seconds": seconds(1.0, "for each position")},
        reviews.review_moves,
    ),
    Operation(
        "read",
        "The game that a file holds: SGF with variations, PSQ, a RenLib library, a drawing, moves",
        {
            "text": text(MOST_TEXT, None, "a file's content"),
            "data": text(MOST_DATA, None, "or its bytes in base64, in any encoding"),
            "rule": one_of(files.RULES, None, "if the text does not say"),
        },
        look_up=files.read,
    ),
    Operation(
        "write",
        "A game as SGF or a RenLib library with its variations, its main line as PSQ, or a drawing",
        {"format": one_of(files.FORMATS), **files.GAME},
        look_up=files.write,
    ),
    Operation(
        "known",
        "What the database knows of a position, and of the positions after it",
        {"position": position()},
        at_archive=records.known,
    ),
    Operation(
        "comment",
        "Store a comment about a position, in the place of what it was before",
        {
            "position": position(),
            "before": text(files.MOST_COMMENT, "", "what it was"),
            "after": text(files.MOST_COMMENT, "", "what it is now"),
        },
        at_archive=records.comment,
    ),
    Operation(
        "store",
        "Store a game with its variations and comments in the database",
        dict(files.GAME),
        at_archive=records.store,
    ),
    Operation(
        "puzzles",
        "The puzzles of the trainer",
        {},
        look_up=puzzles.every,
    ),
    Operation(
        "puzzle",
        "A position as a puzzle, in the format that `numoku solve` reads",
        {
            "position": position(),
            "line": Field(MOVES, ()),
            "check": flag(False, "refuse it unless a win by threats is found"),
        },
        puzzles.make,
    ),
    Operation(
        "engine",
        "What the engine can do: levels, rules, kinds of search, threads; and its database",
        {},
        at_archive=records.about,
    ),
)

OPERATIONS = {operation.name: operation for operation in _TABLE}
