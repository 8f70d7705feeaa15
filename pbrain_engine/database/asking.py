"""Positions as people ask for them, answered from a database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ..notation.canonical import Image, Position, image_of, line_of, read_key
from ..notation.opening_names import Opening
from ..position.geometry import Coordinates, transform
from ..position.rules import Rule
from .document import Asked
from .finding import Entry
from .lines import notes_of
from .store import FINDING_COLUMNS, Database


def look_up(database: Database, asked: Asked) -> Entry | None:
    """Return all that is known about a position, in the orientation that was asked."""
    image = image_of(asked.position)
    entry = database.look_up(image)
    if entry is None:
        return None
    return replace(entry, notes=notes_of(database, entry.number, image))


def look_up_any_rule(database: Database, asked: Asked) -> tuple[Asked, Entry | None]:
    """Return what is known under the rule that is asked for, else under the first that knows it."""
    rules = [asked.position.rule, *(rule for rule in Rule if rule is not asked.position.rule)]
    for rule in rules:
        other = asked._replace(position=asked.position._replace(rule=rule))
        entry = look_up(database, other)
        if entry is not None:
            return other, entry
    return asked, None


def following(database: Database, asked: Asked) -> list[tuple[Coordinates, Entry]]:
    """Return every move that leads to a known position, with what is known there."""
    position = asked.position
    taken = {*position.black, *position.white, *position.walls}
    line = line_of(position)
    found = []
    for y in range(position.height):
        for x in range(position.width):
            if (x, y) not in taken:
                line.play(x, y)
                entry = database.look_up(line.image())
                line.undo(x, y)
                if entry is not None:
                    found.append(((x, y), entry))
    return found


class Filter(NamedTuple):
    """Which positions are asked for."""

    rule: Rule | None = None
    size: tuple[int, int] | None = None
    stones: tuple[int, int] = (0, 1 << 30)
    depth: int | None = None  # at least
    values: tuple[int, int] | None = None
    certain: bool = False  # forced wins and losses only
    games: int = 0  # at least
    text: str = ""  # in a title or comment
    opening: Opening | None = None

    def takes(self, position: Position) -> bool:
        """Return whether what stands on the board is as wanted."""
        if self.rule is not None and position.rule is not self.rule:
            return False
        if self.size is not None and (position.width, position.height) != self.size:
            return False
        if not self.stones[0] <= position.stones <= self.stones[1]:
            return False
        return self.opening is None or continues(position, self.opening)


def continues(position: Position, opening: Opening) -> bool:
    """Return whether a position holds the stones of an opening, however they are turned."""
    if (position.width, position.height) != (15, 15):
        return False
    black, white = set(position.black), set(position.white)
    for number in range(8):
        first, second, third = transform(opening.stones, number, 15, 15)
        if first in black and third in black and second in white:
            return True
    return False


def query(database: Database, wanted: Filter) -> Iterator[tuple[Position, Entry]]:
    """Yield positions that a filter takes, in the orientation in which they are stored."""
    conditions = ["black_wins + draws + white_wins >= :games"]
    parameters: dict[str, object] = {"games": wanted.games}
    if wanted.depth is not None:
        conditions.append("depth >= :depth")
        parameters["depth"] = wanted.depth
    if wanted.values is not None:
        conditions.append("value BETWEEN :low AND :high")
        parameters |= {"low": wanted.values[0], "high": wanted.values[1]}
    if wanted.certain:
        conditions.append("proof <> ''")
    noted = _noted(database, wanted.text) if wanted.text else None
    for number, raw, black, draws, white, *columns in database.connection.stream(
        f"SELECT id, key, black_wins, draws, white_wins, {FINDING_COLUMNS} FROM position "
        f"WHERE {' AND '.join(conditions)} ORDER BY id",
        parameters,
    ):
        if noted is not None and number not in noted:
            continue
        key = bytes(raw)
        position = read_key(key)
        if wanted.takes(position):
            finding = database.read_finding(Image(key, 0), columns)
            yield position, Entry(number, finding, black, draws, white)


def _noted(database: Database, text: str) -> set[int]:
    """Return the positions with a text in their notes, in capital letters or small ones.

    Stores differ in what they take for small letters; SQLite knows those of English alone.
    """
    return {
        position
        for position, title, comment in database.connection.stream(
            "SELECT position, title, comment FROM node WHERE title <> '' OR comment <> ''"
        )
        if any(text.casefold() in note.casefold() for note in (title, comment))
    }
