"""One tab's WebSocket: questions come in, what is found out goes back as soon as it is known."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..files import read_object
from .desk import Desk, Desks, Job
from .operations import OPERATIONS, LookUp, Operation
from .refusal import Refused, unexpected
from .searches import Stopped, Tell

MOST_CHARACTERS = 12_000_000  # of a message: the largest file as a tree, whatever is written in it
MOST_BYTES = 3 * MOST_CHARACTERS  # what is longer ends the socket
EVENT_GAP = 0.1  # seconds between two events of a search
MOST_WAITING = 64  # questions of a tab

Answer = dict[str, Any]


class Connection:
    """A socket, the desk behind it, and what is on its way to the page."""

    def __init__(self, socket: WebSocket, desks: Desks) -> None:
        """Take a socket that has been accepted."""
        self._socket = socket
        self._desk = desks.open()
        self._archive = desks.archive
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._urgent = asyncio.Event()  # something that does not wait for the gap
        self._answers: list[Answer] = []
        self._events: dict[object, Answer] = {}  # the latest of every question
        self._jobs: dict[object, Job] = {}
        self._told: set[object] = set()  # questions that have had an event
        self._look_ups: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until the page is gone."""
        sender = asyncio.create_task(self._send())
        try:
            while True:
                await self._take(await self._socket.receive_text())
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass  # gone, or it sent bytes
        finally:
            sender.cancel()
            await run_in_threadpool(self._desk.close)

    async def _take(self, text: str) -> None:
        """Begin to answer a message; what is wrong with it is an answer, too."""
        name: object = None
        try:
            message = parse(text)
            name = scalar(message, "id")
            if len(text) > MOST_CHARACTERS:
                raise Refused("the message is too large")
            await self._begin(name, message)
        except Refused as refused:
            self._post({"id": name, "error": refused.reason})
        except Exception as error:  # the tab lives on, whatever it is
            self._post({"id": name, "error": unexpected(error).reason})

    async def _begin(self, name: object, message: Mapping[str, Any]) -> None:
        if message.get("do") == "stop":
            target = scalar(message, "target")
            if target is None:
                self._desk.stop_all()
            elif target in self._jobs:  # else it has ended meanwhile
                self._desk.stop(self._jobs[target])
            self._post({"id": name, "result": {}})
            return
        operation = operation_of(message.get("do"))
        fields = operation.read(message)
        at_once = operation.at_once(self._archive)
        if at_once is not None:
            task = asyncio.create_task(self._look_up(at_once, name, fields))
            self._look_ups.add(task)  # the loop itself does not keep it alive
            task.add_done_callback(self._look_ups.discard)
            return
        if len(self._jobs) >= MOST_WAITING:
            raise Refused("too many questions at once")

        def tell(event: Answer) -> None:
            self._loop.call_soon_threadsafe(self._post_event, name, event)

        def work(job: Job) -> None:
            answer = answer_of(operation, self._desk, job, fields, tell)
            self._loop.call_soon_threadsafe(self._finish, name, {"id": name, **answer})

        job = Job(work, operation.endless)
        self._jobs[name] = job
        self._desk.submit(job)

    async def _look_up(self, look_up: LookUp, name: object, fields: Mapping[str, Any]) -> None:
        try:
            self._post({"id": name, "result": await run_in_threadpool(look_up, fields)})
        except Refused as refused:
            self._post({"id": name, "error": refused.reason})
        except Exception as error:  # the tab lives on, whatever it is
            self._post({"id": name, "error": unexpected(error).reason})

    def _finish(self, name: object, answer: Answer) -> None:
        self._jobs.pop(name, None)
        self._events.pop(name, None)
        self._told.discard(name)
        self._post(answer)

    def _post(self, answer: Answer) -> None:
        self._answers.append(answer)
        self._urgent.set()
        self._news.set()

    def _post_event(self, name: object, event: Answer) -> None:
        self._events[name] = {"id": name, "event": event}
        if name not in self._told:
            self._told.add(name)
            self._urgent.set()
        self._news.set()

    async def _send(self) -> None:
        """Send answers and first events at once, of others the latest only, with a gap between."""
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                self._urgent.clear()
                answers, self._answers = self._answers, []
                events, self._events = self._events, {}
                for message in [*events.values(), *answers]:
                    await self._socket.send_text(json.dumps(message, separators=(",", ":")))
                if events:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._urgent.wait(), EVENT_GAP)
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page is gone; the reader sees it, too


def parse(text: str) -> dict[str, Any]:
    """Return the message that a text holds; raises Refused."""
    try:
        return read_object(text)
    except ValueError as error:
        raise Refused(f"the message: {error}") from None


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


def answer_of(
    operation: Operation, desk: Desk, job: Job, fields: Mapping[str, Any], tell: Tell
) -> Answer:
    """Do an operation at the desk; return its result, or what went wrong."""
    assert operation.at_desk is not None
    try:
        if job.is_stopped:
            raise Stopped
        return {"result": operation.at_desk(desk, job, fields, tell)}
    except Stopped:
        return {"error": "stopped", "stopped": True}
    except Refused as refused:
        return {"error": refused.reason}
    except Exception as error:  # the server lives on, whatever it is
        told = unexpected(error)
        return {"error": told.reason, "status": told.status}
