"""The messages of a page: operations, and the checked fields of each.

The WebSocket, the addresses under ``/api/`` and their description all come from ``OPERATIONS``,
which ``files``, ``proofs`` and ``searches`` fill.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

from ..errors import Coded, NumokuError, Refused, counted
from ..files import Document, Json, is_writable, read_object
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule

MOST_SECONDS = 600.0
MAX_CELLS = MAX_BOARD * MAX_BOARD
RULES = tuple(rule.name.lower() for rule in Rule)
Schema = dict[str, Any]


def field(kind: str, about: str, **more: Json) -> Schema:
    """Return a field of a JSON type, with its limits and default."""
    made: Schema = {"type": kind, **more, "description": about}
    if "default" in more:
        made["default"] = made.pop("default")  # last
    return made


def number(low: float, high: float, about: str, kind: str = "number", **default: Json) -> Schema:
    """Return a field for a number."""
    return field(kind, about, minimum=low, maximum=high, **default)


whole = partial(number, kind="integer")
text = partial(field, "string")
flag = partial(field, "boolean", default=False)


def seconds(default: float | None, about: str = "how long it may take") -> Schema:
    """Return a field for a time in seconds."""
    return number(0.01, MOST_SECONDS, about, default=default)


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
    "description": "a board, a rule, the stones before the first move, and the moves",
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

MOST_CHARACTERS = 12_000_000  # of a message: room for the tree of the largest file


def refusal_of(error: Exception) -> Refused:
    """Return an error as a refusal; the traceback of an unexpected one goes to stderr."""
    match error:
        case Refused():
            return error
        case NumokuError():
            return Refused(str(error)).coded(error.code, **error.values)
        case MemoryError():
            reason = "there is not enough memory for this; ask for fewer megabytes"
            return Refused(reason).coded("memory")
    traceback.print_exception(error, file=sys.stderr)
    return Refused(f"internal error: {type(error).__name__}", HTTPStatus.INTERNAL_SERVER_ERROR)


def coded_document(name: str, said: Coded) -> Document:
    """Return the text of an error or a remark under ``name``, and its code if it has one."""
    more: Document = {"code": said.code, "values": dict(said.values)}
    return {name: str(said), **{key: value for key, value in more.items() if value}}


def parse(text: str) -> Document:
    """Return the message in a text; raises Refused."""
    try:
        return read_object(text)
    except ValueError as error:
        raise Refused(f"the message: {error}") from None


# Python types by the types of JSON schemas.
_TYPES: dict[str, type | tuple[type, ...]] = {
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}


def check(name: str, value: Any, schema: Schema) -> None:
    """Check a value against a schema; Refused if it does not fit."""
    kind = schema["type"]
    fits = isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
    if not fits:
        raise Refused(f"{name} is not of the type {kind}")
    if "minimum" in schema and not schema["minimum"] <= value <= schema["maximum"]:
        raise Refused(f"{name} is not between {schema['minimum']} and {schema['maximum']}")
    if kind == "string" and not is_writable(value):
        raise Refused(f"{name} has an unpaired surrogate")
    if "enum" in schema and value not in schema["enum"]:
        raise Refused(f"{name} must be one of {', '.join(schema['enum'])}")
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        raise Refused(f"{name} is longer than {schema['maxLength']} characters")
    if kind == "array":
        low, high = schema.get("minItems", 0), schema["maxItems"]
        if not low <= len(value) <= high:
            raise Refused(f"{name} has {counted(len(value), 'item')}, not {low} to {high}")
        for place, item in enumerate(value):
            check(f"{name}[{place}]", item, schema["items"])
    if kind == "object":
        for key in schema.get("required", ()):
            if key not in value:
                raise Refused(f"{name}: the field {key!r} is missing")
        for key, inner in schema.get("properties", {}).items():
            if value.get(key) is not None:
                check(f"{name}.{key}", value[key], inner)


# Operations -------------------------------------------------------------------------------

Do = Callable[..., Document]  # of a desk and a job


@dataclass(frozen=True)
class Operation:
    """An operation that a page can request: its fields and its function."""

    summary: str
    fields: Mapping[str, Schema]
    do: Do
    at_once: bool = False  # needs no engine
    endless: bool = False  # on a socket it runs until the next request

    def read(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Return the checked fields of a message; Refused if one is missing or wrong."""
        found = {}
        for name, schema in self.fields.items():
            found[name] = value = message.get(name)
            if value is not None:
                check(name, value, schema)
            elif "default" in schema:
                found[name] = schema["default"]
            else:
                raise Refused(f"the field {name!r} is missing")
        return found


OPERATIONS: dict[str, Operation] = {}


def operation_of(name: object) -> Operation:
    """Return the operation of this name; raises Refused."""
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise Refused(f"there is no operation {str(name)[:40]!r}")
    return operation


def operation(
    *, at_once: bool = False, endless: bool = False, named: str = "", **fields: Schema
) -> Callable[[Do], Do]:
    """Register a function as an operation, under its name or ``named``; the docstring is shown."""

    def register(do: Do) -> Do:
        summary = " ".join((do.__doc__ or "").split()).rstrip(".")
        OPERATIONS[named or do.__name__] = Operation(summary, fields, do, at_once, endless)
        return do

    return register
