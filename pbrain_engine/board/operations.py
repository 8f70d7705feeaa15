"""Everything that the server can be asked: a function each, with the fields that it takes.

The WebSocket, the addresses under ``/api/`` and their description in OpenAPI are all made of
``OPERATIONS``, which ``questions`` fills. What needs an engine waits at the desk of its tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .. import __version__
from .desk import Desk, Job
from .messages import POSITION, REQUIRED, MessageField, number

MOST_SECONDS = 600.0

Do = Callable[[Desk, Job], dict[str, Any]]


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
        """Return the checked fields of a message; raises Refused."""
        return {name: field.read(name, message) for name, field in self.fields.items()}

    def schema(self) -> dict[str, Any]:
        """Return the schema of its messages."""
        properties = {}
        for name, field in self.fields.items():
            properties[name] = dict(field.schema)
            if field.default is not REQUIRED and field.default is not None:
                properties[name]["default"] = field.default
        required = [name for name, field in self.fields.items() if field.default is REQUIRED]
        return {"type": "object", "properties": properties, "required": required}


OPERATIONS: dict[str, Operation] = {}
PLACE = MessageField(POSITION)


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


def seconds(default: float, about: str = "how long it may take") -> MessageField:
    """Return the field for a time."""
    return number(0.01, MOST_SECONDS, default, about)


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
    for operation in OPERATIONS.values():
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
