"""The messages of a page: what can be asked with which fields, in the terms of OpenAPI; positions.

The WebSocket, the addresses under ``/api/`` and their description in OpenAPI are all made of
``OPERATIONS``, which ``files``, ``proofs`` and ``searches`` fill.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import __version__
from ..app.setup import build_checked
from ..app.shapes import foul_of
from ..app.view import opening_of, row_of
from ..engine.forms import pairs
from ..files import is_writable, read_object
from ..game.game import Game
from ..notation.game_tree import GameRecord
from ..position.geometry import MAX_BOARD, MIN_BOARD
from ..position.rules import Rule, Side

MOST_CHARACTERS = 12_000_000  # of a message: the largest file as a tree, whatever is written in it
BAD_REQUEST, UNAUTHORISED, FORBIDDEN, NOT_FOUND, TOO_LARGE = 400, 401, 403, 404, 413
INTERNAL = 500
REQUIRED = object()
MOST_SECONDS = 600.0
MAX_CELLS = MAX_BOARD * MAX_BOARD

Schema = dict[str, Any]


class Refused(Exception):
    """What was asked cannot be done; the text says why, in one line."""

    def __init__(self, reason: str, status: int = BAD_REQUEST) -> None:
        """Take the reason, and the status that an answer by HTTP has."""
        super().__init__(reason)
        self.reason = reason
        self.status = status


def report_unexpected(error: Exception) -> Refused:
    """Return the report of an unforeseen error; its place goes to stderr."""
    traceback.print_exception(error, file=sys.stderr)
    return Refused(f"internal error: {type(error).__name__}", INTERNAL)


def parse(text: str) -> dict[str, Any]:
    """Return the message that a text holds; raises Refused."""
    try:
        return read_object(text)
    except ValueError as error:
        raise Refused(f"the message: {error}") from None


class MessageField(NamedTuple):
    """One field: its JSON schema (the parts used below), and its default."""

    schema: Schema
    default: Any = REQUIRED


def whole(low: int, high: int, default: Any = REQUIRED, about: str = "") -> MessageField:
    """Return a field for a whole number."""
    schema = {"type": "integer", "minimum": low, "maximum": high, "description": about}
    return MessageField(schema, default)


def number(low: float, high: float, default: Any = REQUIRED, about: str = "") -> MessageField:
    """Return a field for a number."""
    schema = {"type": "number", "minimum": low, "maximum": high, "description": about}
    return MessageField(schema, default)


def seconds(default: float, about: str = "how long it may take") -> MessageField:
    """Return the field for a time."""
    return number(0.01, MOST_SECONDS, default, about)


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
PLACE = MessageField(POSITION)

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


# Operations -------------------------------------------------------------------------------

Do = Callable[[Any, Any], dict[str, Any]]  # with a desk and a job, what ``desk`` gives it


@dataclass(frozen=True)
class Operation:
    """A thing that can be asked: by what name, with which fields, and who does it."""

    name: str
    summary: str
    fields: Mapping[str, MessageField]
    do: Do
    at_once: bool = False  # needs no engine
    endless: bool = False  # on a socket it goes on until something else is asked

    def read(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked fields of a message.

        Raises:
            Refused: one is missing or wrong.
        """
        found = {}
        for name, (schema, default) in self.fields.items():
            found[name] = value = message.get(name, default)
            if value is None:
                found[name] = value = default
            if value is REQUIRED:
                raise Refused(f"the field {name!r} is missing")
            if value is not default:
                check(name, value, schema)
        return found

    def schema(self) -> dict[str, Any]:
        """Return the schema of its messages."""
        properties = {}
        for name, one in self.fields.items():
            properties[name] = dict(one.schema)
            if one.default is not REQUIRED and one.default is not None:
                properties[name]["default"] = one.default
        required = [name for name, one in self.fields.items() if one.default is REQUIRED]
        return {"type": "object", "properties": properties, "required": required}


OPERATIONS: dict[str, Operation] = {}


def operation_of(name: object) -> Operation:
    """Return the operation of this name; raises Refused."""
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise Refused(f"there is no operation {str(name)[:40]!r}")
    return operation


def operation(
    shared: Mapping[str, MessageField] | None = None,
    *,
    at_once: bool = False,
    endless: bool = False,
    title: str = "",
    **fields: MessageField,
) -> Callable[[Do], Do]:
    """Make an operation of a function, by its name or a title; its docstring is the summary.

    It takes the fields, and those that it shares with others.
    """
    fields |= shared or {}

    def register(do: Do) -> Do:
        name, summary = title or do.__name__, " ".join((do.__doc__ or "").split()).rstrip(".")
        OPERATIONS[name] = Operation(name, summary, fields, do, at_once, endless)
        return do

    return register


ANSWERS = {
    "200": {"description": "the answer", "content": {"application/json": {}}},
    "400": {"description": "refused; `error` says why"},
    "401": {"description": "the token is missing or wrong"},
    "403": {"description": "the request comes from a foreign page"},
    "413": {"description": "the request is too large"},
    "500": {"description": "an error of the server; `error` names its kind"},
}
ABOUT = (
    "Every operation is a POST of one JSON object. The WebSocket `/api/socket` takes the same "
    "objects with two more fields: `do`, the name of the operation, and `id`, any number, which "
    "all answers carry: `event` objects on the way, and one with `result` or `error` at the "
    'end. `{"do": "stop"}` ends what is running, with the id of a question as `target` that one '
    "alone. The token goes into the header "
    "`Authorization: Bearer TOKEN`, or into the query as `token`."
)


def openapi(address: str) -> dict[str, Any]:
    """Return the description of the server at an address in the terms of OpenAPI."""
    health = {
        "summary": "Whether the server lives; needs no token",
        "security": [],
        "responses": {"200": ANSWERS["200"]},
    }
    paths: dict[str, Any] = {"/api/health": {"get": health}}
    for _, operation in sorted(OPERATIONS.items()):
        content = {"application/json": {"schema": operation.schema()}}
        post = {
            "operationId": operation.name,
            "summary": operation.summary,
            "requestBody": {"required": True, "content": content},
            "responses": ANSWERS,
        }
        paths[f"/api/{operation.name}"] = {"post": post}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Numoku board", "version": __version__, "description": ABOUT},
        "servers": [{"url": address}],
        "security": [{"token": []}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }


# Positions -------------------------------------------------------------------------------


def setup_of(message: Mapping[str, Any]) -> GameRecord:
    """Return the position of a message whose fields have been checked."""
    placed = message.get("placed") or ()
    return GameRecord(
        message["width"],
        message["height"],
        Rule.parse(message["rule"]),
        tuple(map(tuple, message["moves"])),
        Side[(message.get("first") or "black").upper()],
        tuple(((held["x"], held["y"]), Side[held["side"].upper()]) for held in placed),
    )


def message_of(setup: GameRecord) -> dict[str, Any]:
    """Return a position as messages hold it."""
    width, height, rule = setup.board
    return {
        "width": width,
        "height": height,
        "rule": rule.name.lower(),
        "placed": [{"x": x, "y": y, "side": side.name.lower()} for (x, y), side in setup.placed],
        "first": setup.first.name.lower(),
        "moves": [list(move) for move in setup.moves],
    }


def game_of(setup: GameRecord, game: Game | None = None) -> Game:
    """Return a game with a position, the given one where it has its board and rule.

    Raises:
        NotationError: it cannot have been: stones on one cell, two winners, moves after the end.
    """
    if game is None or (game.width, game.height, game.rule) != setup.board:
        game = Game(*setup.board)
    build_checked(game, setup)
    return game


def facts(game: Game) -> dict[str, Any]:
    """Return what the rules say about a position."""
    opening = opening_of(game)
    return {
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "full": game.is_full,
        "opening": None if opening is None else str(opening),
        "row": pairs(row_of(game)),
        "forbidden": [
            {"cell": list(cell), "reason": foul_of(game, *cell)} for cell in game.forbidden()
        ],
    }
