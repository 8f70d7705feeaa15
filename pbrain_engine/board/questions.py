"""The questions of one page, however its messages come: each is read, done and answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import __version__
from . import files, proofs, searches  # noqa: F401 - which register their operations
from .desk import OPERATIONS, Desk, Desks, Job, Operation, Stopped
from .messages import MOST_CHARACTERS, Refused, parse, unexpected

MOST_WAITING = 64  # questions of a page

Answer = dict[str, Any]


class Questions:
    """What a page has asked its desk; whoever carries the messages says how answers go back.

    ``post_event`` and ``finish`` are called in the desk's thread.
    """

    def __init__(self, desks: Desks) -> None:
        """Begin without any question."""
        self.desk = desks.open()
        self._jobs: dict[object, Job] = {}

    def post(self, answer: Answer) -> None:
        """Send an answer to the page."""
        raise NotImplementedError

    def post_event(self, name: object, event: Answer) -> None:
        """Send what is known so far to a question."""
        raise NotImplementedError

    def finish(self, name: object, answer: Answer) -> None:
        """Send the answer to a question that the desk has worked on."""
        self._jobs.pop(name, None)
        self.post(answer)

    def look_up(self, name: object, operation: Operation, job: Job) -> None:
        """Answer a question that needs no engine."""
        self.post({"id": name, **answer_of(operation, self.desk, job)})

    def take(self, text: str) -> None:
        """Begin to answer a message; what is wrong with it is an answer, too."""
        name: object = None
        try:
            message = parse(text)
            name = scalar(message, "id")
            if len(text) > MOST_CHARACTERS:
                raise Refused("the message is too large")
            self.begin(name, message)
        except Refused as refused:
            self.post({"id": name, "error": refused.reason})
        except Exception as error:  # the page is served on, whatever it is
            self.post({"id": name, "error": unexpected(error).reason})

    def begin(self, name: object, message: Mapping[str, Any]) -> None:
        """Begin to answer a question; raises Refused."""
        if message.get("do") == "stop":
            target = scalar(message, "target")
            if target is None:
                self.desk.stop()
            elif target in self._jobs:  # else it has ended meanwhile
                self.desk.stop(self._jobs[target])
            self.post({"id": name, "result": {}})
            return
        operation = operation_of(message.get("do"))

        def work(job: Job) -> None:
            self.finish(name, {"id": name, **answer_of(operation, self.desk, job)})

        def tell(event: Answer) -> None:
            self.post_event(name, event)

        job = Job(work, operation.read(message), tell, operation.endless)
        if operation.at_once:
            self.look_up(name, operation, job)
            return
        if len(self._jobs) >= MOST_WAITING:
            raise Refused("too many questions at once")
        self._jobs[name] = job
        self.desk.submit(job)


def scalar(message: Mapping[str, Any], name: str) -> object:
    """Return a field that names a question; raises Refused."""
    value: object = message.get(name)
    if isinstance(value, dict | list):
        raise Refused(f"the {name} is neither a number nor a text")
    return value


def operation_of(name: object) -> Operation:
    """Return the operation of this name; raises Refused."""
    operation = OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise Refused(f"there is no operation {str(name)[:40]!r}")
    return operation


def answer_of(operation: Operation, desk: Desk, job: Job) -> Answer:
    """Do an operation; return its result, or what went wrong."""
    try:
        job.check()
        return {"result": operation.do(desk, job)}
    except Stopped:
        return {"error": "stopped", "stopped": True}
    except Refused as refused:
        return {"error": refused.reason, "status": refused.status}
    except MemoryError:
        return {"error": "there is not enough memory for this; ask for fewer megabytes"}
    except Exception as error:  # the server lives on, whatever it is
        refusal = unexpected(error)
        return {"error": refusal.reason, "status": refusal.status}


# What there is to ask --------------------------------------------------------------------

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
