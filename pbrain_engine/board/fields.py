"""The fields of a message: what each may hold, how it is checked, and how OpenAPI says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..notation.textfile import is_writable
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule
from .refusal import Refused

REQUIRED = object()
MAX_CELLS = MAX_BOARD * MAX_BOARD

Schema = dict[str, Any]


@dataclass(frozen=True)
class Field:
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


def whole(low: int, high: int, default: Any = REQUIRED, about: str = "") -> Field:
    """Return a field for a whole number."""
    schema = {"type": "integer", "minimum": low, "maximum": high, "description": about}
    return Field(schema, default)


def number(low: float, high: float, default: Any = REQUIRED, about: str = "") -> Field:
    """Return a field for a number."""
    schema = {"type": "number", "minimum": low, "maximum": high, "description": about}
    return Field(schema, default)


def flag(default: bool = False, about: str = "") -> Field:
    """Return a field for true or false."""
    return Field({"type": "boolean", "description": about}, default)


def text(most: int, default: Any = REQUIRED, about: str = "") -> Field:
    """Return a field for a text of so many characters."""
    return Field({"type": "string", "maxLength": most, "description": about}, default)


def one_of(words: tuple[str, ...], default: Any = REQUIRED, about: str = "") -> Field:
    """Return a field for one of some words."""
    return Field({"type": "string", "enum": list(words), "description": about}, default)


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


def position() -> Field:
    """Return a field for a position."""
    return Field(POSITION)


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
    kind = schema.get("type")
    if kind is None:
        return
    fits = isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not fits:
        raise Refused(f"{name} is not of the type {kind}")
    if kind in ("integer", "number") and not schema.get("minimum", value) <= value <= schema.get(
        "maximum", value
    ):
        raise Refused(f"{name} is not between {schema['minimum']} and {schema['maximum']}")
    if kind == "string" and not is_writable(value):
        raise Refused(f"{name} has half of a character")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(f"{name} is none of {', '.join(schema['enum'])}")
    if kind == "string" and len(value) > schema.get("maxLength", len(value)):
        raise Refused(f"{name} is longer than {schema['maxLength']} characters")
    if kind == "array":
        _check_items(name, value, schema)
    if kind == "object":
        for key in schema.get("required", ()):
            if key not in value:
                raise Refused(f"{name}: the field {key!r} is missing")
        for key, inner in schema.get("properties", {}).items():
            if value.get(key) is not None:
                check(f"{name}.{key}", value[key], inner)


def _check_items(name: str, value: list[Any], schema: Schema) -> None:
    low, high = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not low <= len(value) <= high:
        raise Refused(f"{name} has {len(value)} entries, not {low} to {high}")
    for place, item in enumerate(value):
        check(f"{name}[{place}]", item, schema["items"])
