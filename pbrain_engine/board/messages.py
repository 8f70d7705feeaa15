"""The messages of a page: what each field may hold, in the terms of OpenAPI, and positions."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..app.setup import Placed, Setup, build_checked
from ..app.shapes import foul_of
from ..app.view import opening_of, row_of
from ..files import is_writable, read_object
from ..game.game import Game
from ..notation.cells import NotationError
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule, Side

MOST_CHARACTERS = 12_000_000  # of a message: the largest file as a tree, whatever is written in it
BAD_REQUEST, UNAUTHORISED, FORBIDDEN, NOT_FOUND, TOO_LARGE = 400, 401, 403, 404, 413
INTERNAL = 500
REQUIRED = object()
MAX_CELLS = MAX_BOARD * MAX_BOARD

Schema = dict[str, Any]


class Refused(Exception):
    """What was asked cannot be done; the text says why, in one line."""

    def __init__(self, reason: str, status: int = BAD_REQUEST) -> None:
        """Take the reason, and the status that an answer by HTTP has."""
        super().__init__(reason)
        self.reason = reason
        self.status = status


def unexpected(error: Exception) -> Refused:
    """Return the report of an unforeseen error; its place goes to stderr."""
    traceback.print_exception(error, file=sys.stderr)
    return Refused(f"internal error: {type(error).__name__}", INTERNAL)


def parse(text: str) -> dict[str, Any]:
    """Return the message that a text holds; raises Refused."""
    try:
        return read_object(text)
    except ValueError as error:
        raise Refused(f"the message: {error}") from None


@dataclass(frozen=True)
class MessageField:
    """One field: its JSON schema (the parts used below), and its default."""

    schema: Schema
    default: Any = REQUIRED

    def read(self, name: str, message: Mapping[str, Any]) -> Any:
        """Return the checked value of a message.

        Raises:
            Refused: it is missing or wrong.
        """
        value = message.get(name)
        if value is None:
            if self.default is REQUIRED:
                raise Refused(f"the field {name!r} is missing")
            return self.default
        check(name, value, self.schema)
        return value


def whole(low: int, high: int, default: Any = REQUIRED, about: str = "") -> MessageField:
    """Return a field for a whole number."""
    schema = {"type": "integer", "minimum": low, "maximum": high, "description": about}
    return MessageField(schema, default)


def number(low: float, high: float, default: Any = REQUIRED, about: str = "") -> MessageField:
    """Return a field for a number."""
    schema = {"type": "number", "minimum": low, "maximum": high, "description": about}
    return MessageField(schema, default)


def flag(about: str) -> MessageField:
    """Return a field for true or false; false if it is left out."""
    return MessageField({"type": "boolean", "description": about}, False)


def text(most: int, default: Any = REQUIRED, about: str = "") -> MessageField:
    """Return a field for a text of at most ``most`` characters."""
    return MessageField({"type": "string", "maxLength": most, "description": about}, default)


def one_of(words: tuple[str, ...], default: Any = REQUIRED, about: str = "") -> MessageField:
    """Return a field for one of some words."""
    return MessageField({"type": "string", "enum": list(words), "description": about}, default)


COORDINATE: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_BOARD - 1}
CELL: Schema = {"type": "array", "items": COORDINATE, "minItems": 2, "maxItems": 2}
STONE: Schema = {
    "type": "object",
    "properties": {
        "x": COORDINATE,
        "y": COORDINATE,
        "side": {"type": "string", "enum": ["black", "white", "wall"]},
    },
    "required": ["x", "y", "side"],
}
SIZE: Schema = {"type": "integer", "minimum": MIN_BOARD, "maximum": MAX_BOARD}
POSITION: Schema = {
    "type": "object",
    "description": "a board, a rule, what stood there before the first move, and the moves",
    "properties": {
        "width": SIZE,
        "height": SIZE,
        "rule": {"type": "string", "enum": [rule.name.lower() for rule in Rule]},
        "placed": {"type": "array", "items": STONE, "maxItems": MAX_CELLS},
        "first": {"type": "string", "enum": ["black", "white"]},
        "moves": {"type": "array", "items": CELL, "maxItems": MAX_CELLS},
    },
    "required": ["width", "height", "rule", "moves"],
}
MOVES: Schema = {"type": "array", "items": CELL, "maxItems": MAX_CELLS}

_TYPES: dict[str, Any] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}


def check(name: str, value: Any, schema: Schema) -> None:
    """Hold a value against a schema.

    Raises:
        Refused: it does not fit.
    """
    kind = schema["type"]
    fits = isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not fits:
        raise Refused(f"{name} is not of the type {kind}")
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        raise Refused(f"{name} is not between {schema['minimum']} and {schema['maximum']}")
    if kind == "string" and not is_writable(value):
        raise Refused(f"{name} has half of a character")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(f"{name} is none of {', '.join(schema['enum'])}")
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        raise Refused(f"{name} is longer than {schema['maxLength']} characters")
    if kind == "array":
        low, high = schema.get("minItems", 0), schema["maxItems"]
        if not low <= len(value) <= high:
            raise Refused(f"{name} has {len(value)} entries, not {low} to {high}")
        for place, item in enumerate(value):
            check(f"{name}[{place}]", item, schema["items"])
    if kind == "object":
        for key in schema.get("required", ()):
            if key not in value:
                raise Refused(f"{name}: the field {key!r} is missing")
        for key, inner in schema.get("properties", {}).items():
            if value.get(key) is not None:
                check(f"{name}.{key}", value[key], inner)


# Positions -------------------------------------------------------------------------------


def setup_of(message: Mapping[str, Any]) -> Setup:
    """Return the position of a message whose fields have been checked."""
    placed = [
        Placed(stone["x"], stone["y"], Side[stone["side"].upper()])
        for stone in message.get("placed") or ()
    ]
    return Setup(
        message["width"],
        message["height"],
        Rule.parse(message["rule"]),
        tuple(placed),
        Side[(message.get("first") or "black").upper()],
        tuple((x, y) for x, y in message["moves"]),
    )


def message_of(setup: Setup) -> dict[str, Any]:
    """Return a position as messages hold it."""
    return {
        "width": setup.width,
        "height": setup.height,
        "rule": setup.rule.name.lower(),
        "placed": [{"x": x, "y": y, "side": side.name.lower()} for x, y, side in setup.placed],
        "first": setup.first.name.lower(),
        "moves": [list(move) for move in setup.moves],
    }


def game_of(setup: Setup) -> Game:
    """Return the game that leads to a position.

    Raises:
        Refused: it cannot have been: stones on one cell, two winners, moves after the end.
    """
    game = Game(setup.width, setup.height, setup.rule)
    try:
        build_checked(game, setup)
    except NotationError as error:
        raise Refused(str(error)) from None
    return game


def facts(game: Game) -> dict[str, Any]:
    """Return what the rules say about a position."""
    opening = opening_of(game)
    return {
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "full": game.is_full,
        "opening": None if opening is None else str(opening),
        "row": [list(cell) for cell in row_of(game)],
        "forbidden": [
            {"cell": list(cell), "reason": foul_of(game, *cell)} for cell in game.forbidden()
        ],
    }
