"""The description of the server in the terms of OpenAPI, made of the table of operations."""

from __future__ import annotations

from typing import Any

from .. import __version__
from .operations import OPERATIONS, Operation

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


def document(address: str) -> dict[str, Any]:
    """Return the description of the server at an address."""
    paths: dict[str, Any] = {
        "/api/health": {
            "get": {
                "summary": "Whether the server lives; needs no token",
                "security": [],
                "responses": {"200": ANSWERS["200"]},
            }
        }
    }
    for operation in OPERATIONS.values():
        paths[f"/api/{operation.name}"] = {"post": _post(operation)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Numoku board", "version": __version__, "description": ABOUT},
        "servers": [{"url": address}],
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "paths": paths,
    }


def _post(operation: Operation) -> dict[str, Any]:
    properties = {}
    for name, field in operation.fields.items():
        properties[name] = dict(field.schema)
        if name not in operation.required and field.default is not None:
            properties[name]["default"] = field.default
    schema = {"type": "object", "properties": properties, "required": operation.required}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": ANSWERS,
    }
