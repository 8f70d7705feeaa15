"""The fields of messages: a JSON schema each. One without a default has to be there."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..files import Json
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule

MOST_SECONDS = 600.0
MAX_CELLS = MAX_BOARD * MAX_BOARD
RULES = tuple(rule.name.lower() for rule in Rule)
Schema = dict[str, Any]


def number(low: float, high: float, about: str, kind: str = "number", **default: Json) -> Schema:
    """Return a field for a number."""
    return {"type": kind, "minimum": low, "maximum": high, "description": about, **default}


whole = partial(number, kind="integer")


def seconds(default: float | None, about: str = "how long it may take") -> Schema:
    """Return the field for a time."""
    return number(0.01, MOST_SECONDS, about, default=default)


def flag(about: str) -> Schema:
    """Return a field for true or false; false if it is left out."""
    return {"type": "boolean", "description": about, "default": False}


def text(most: int, about: str, **default: Json) -> Schema:
    """Return a field for a text of at most ``most`` characters."""
    return {"type": "string", "maxLength": most, "description": about, **default}


def one_of(words: tuple[str, ...], about: str, **default: Json) -> Schema:
    """Return a field for one of some words."""
    return {"type": "string", "enum": list(words), "description": about, **default}


def object_of(fields: Schema, *required: str) -> Schema:
    """Return a schema for objects with these fields, some of them required."""
    return {"type": "object", "properties": fields, "required": list(required)}


COORDINATE: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_BOARD - 1}
PLACE = {"x": COORDINATE, "y": COORDINATE}
CELL: Schema = {"type": "array", "items": COORDINATE, "minItems": 2, "maxItems": 2}
COLOUR: Schema = {"type": "string", "enum": ["black", "white", "wall"]}
STONE = object_of({**PLACE, "side": COLOUR}, "x", "y", "side")
SIZE: Schema = {"type": "integer", "minimum": MIN_BOARD, "maximum": MAX_BOARD}
POSITION: Schema = {
    "type": "object",
    "description": "a board, a rule, what stood there before the first move, and the moves",
    "properties": {
        "width": SIZE,
        "height": SIZE,
        "rule": {"type": "string", "enum": list(RULES)},
        "placed": {"type": "array", "items": STONE, "maxItems": MAX_CELLS},
        "first": {"type": "string", "enum": ["black", "white"]},
        "moves": {"type": "array", "items": CELL, "maxItems": MAX_CELLS},
    },
    "required": ["width", "height", "rule", "moves"],
}
