"""The web application: the page and its files, the operations under ``/api/``, the socket.

The page itself holds no secret and is given to anybody on this machine; what it asks needs
the token.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from .. import __version__
from ..engine.engine import DEFAULT_WEIGHTS
from ..pages import html
from .archive import Archive
from .desk import Desks, Job
from .guard import Guard
from .messages import (
    BAD_REQUEST,
    MOST_CHARACTERS,
    NOT_FOUND,
    TOO_LARGE,
    Refused,
    parse,
    unexpected,
)
from .operations import Operation, openapi
from .questions import Answer, Questions, answer_of, operation_of
from .shelf import Shelf

STATIC = Path(__file__).parent / "static"
SHARED = html.FOLDER
SHARED_FILES = ("draw.js", "page.css")
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
MOST_BYTES = 3 * MOST_CHARACTERS  # what is longer ends the socket
EVENT_GAP = 0.1  # seconds between two events of a search
POLICY_VIOLATION = 1008


class Connection(Questions):
    """One tab's socket: questions come in, what is found out goes back as soon as it is known."""

    def __init__(self, socket: WebSocket, desks: Desks) -> None:
        """Take a socket that has been accepted."""
        super().__init__(desks)
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._urgent = asyncio.Event()  # something that does not wait for the gap
        self._answers: list[Answer] = []
        self._events: dict[object, Answer] = {}  # the latest of every question
        self._answered: set[object] = set()  # questions that have had an event
        self._look_ups: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until the page is gone."""
        sender = asyncio.create_task(self._send())
        try:
            while True:
                self.take(await self._socket.receive_text())
        except (WebSocketDisconnect, RuntimeError, KeyError):
            pass  # gone, or it sent bytes
        finally:
            sender.cancel()
            await run_in_threadpool(self.desk.close)

    def look_up(self, name: object, operation: Operation, job: Job) -> None:
        """Answer a question that needs no engine, beside others."""

        async def answer() -> None:
            found = await run_in_threadpool(answer_of, operation, self.desk, job)
            self.post({"id": name, **found})

        task = asyncio.create_task(answer())
        self._look_ups.add(task)  # the loop itself does not keep it alive
        task.add_done_callback(self._look_ups.discard)

    def finish(self, name: object, answer: Answer) -> None:
        """Send the answer to a question, from the desk's thread."""
        self._loop.call_soon_threadsafe(self._finish, name, answer)

    def post_event(self, name: object, event: Answer) -> None:
        """Send what is known so far to a question, from the desk's thread."""
        self._loop.call_soon_threadsafe(self._note_event, name, event)

    def _finish(self, name: object, answer: Answer) -> None:
        self._events.pop(name, None)
        self._answered.discard(name)
        super().finish(name, answer)

    def post(self, answer: Answer) -> None:
        """Send an answer to the page."""
        self._answers.append(answer)
        self._urgent.set()
        self._news.set()

    def _note_event(self, name: object, event: Answer) -> None:
        self._events[name] = {"id": name, "event": event}
        if name not in self._answered:
            self._answered.add(name)
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
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._urgent.wait(), EVENT_GAP)
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page is gone; the reader sees it, too


class BoardServer:
    """The application with its desks, and how long it has had no visitor."""

    def __init__(
        self,
        guard: Guard,
        threads: int | None = None,
        database: str | None = None,
        weights: str = DEFAULT_WEIGHTS,
        games: Path | None = None,
    ) -> None:
        """Begin without any tab; ``games``: where those of the page are kept, None: in memory.

        Raises:
            EngineError: the database cannot be opened.
        """
        self.guard = guard
        self.archive = Archive(database, Shelf(games))
        self.desks = Desks(threads, self.archive, weights)
        self.tabs = 0
        self.visits = 0  # tabs, and questions of programs
        self.last_left = monotonic()  # when the last visit ended, or the start
        self.start: dict[str, str] = {}  # a game to begin with, by name and content
        self.app = Starlette(
            routes=[
                Route("/", self.file),
                Route("/api/health", self.health),
                Route("/api/openapi.json", self.describe),
                WebSocketRoute("/api/socket", self.socket),
                Route("/api/{name}", self.operate, methods=["GET", "POST"]),
                Route("/{name}", self.file),
            ],
            exception_handlers=dict.fromkeys(
                (Refused, HTTPException, ClientDisconnect, Exception), refusal
            ),
            lifespan=self._life,
        )

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(self.close)

    def close(self) -> None:
        """End all work, and write what is still to be kept."""
        self.desks.close()
        self.archive.close()

    @property
    def deserted(self) -> float:
        """The seconds since the last visit, or since the start; 0 while there is one."""
        return 0.0 if self.visits else monotonic() - self.last_left

    @contextmanager
    def _visit(self) -> Iterator[None]:
        self.visits += 1
        try:
            yield
        finally:
            self.visits -= 1
            self.last_left = monotonic()

    async def file(self, request: Request) -> Response:
        """Serve the page, or one of its files."""
        name = request.path_params.get("name", "index.html")
        folder = SHARED if name in SHARED_FILES else STATIC
        path = next((path for path in folder.iterdir() if path.name == name), None)
        if path is None or path.suffix not in TYPES:
            raise Refused("there is no such file", NOT_FOUND)
        return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=HEADERS)

    async def health(self, request: Request) -> Response:
        """Say that the server lives, and what it is doing."""
        return JSONResponse(
            {
                "status": "ok",
                "name": "numoku",
                "version": __version__,
                "tabs": self.tabs,
                "engines": self.desks.at_work,
                "searching": self.desks.searching,
            }
        )

    async def describe(self, request: Request) -> Response:
        """Return the description in OpenAPI."""
        self.guard.check(request)
        return JSONResponse(openapi(str(request.base_url)))

    async def operate(self, request: Request) -> Response:
        """Do one operation and return its result; it ends when the asker goes away."""
        self.guard.check(request)
        with self._visit():
            return await self._answer(request)

    async def _answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "start":
            return JSONResponse(self.start)
        operation = operation_of(name)
        body = await _body(request) if request.method == "POST" else "{}"
        fields = operation.read(parse(body))
        if operation.endless and not any(fields[k] for k in ("time", "nodes", "depth")):
            fields["time"] = 5.0
        desk = self.desks.open()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def settle(found: Answer) -> None:
            if not answer.done():
                answer.set_result(found)

        def work(job: Job) -> None:
            loop.call_soon_threadsafe(settle, answer_of(operation, desk, job))

        try:
            desk.submit(Job(work, fields))
            while not answer.done():
                await asyncio.wait([answer], timeout=0.25)
                if not answer.done() and await request.is_disconnected():
                    break
        finally:
            await run_in_threadpool(desk.close)
        found: Answer = answer.result() if answer.done() else {"error": "the client has gone"}
        if "error" in found:
            raise Refused(found["error"], found.get("status", BAD_REQUEST))
        return JSONResponse(found["result"])

    async def socket(self, socket: WebSocket) -> None:
        """Serve a tab."""
        try:
            self.guard.check(socket)
        except Refused as refused:
            await socket.accept()  # so that the page learns the reason
            await socket.close(POLICY_VIOLATION, refused.reason)
            return
        await socket.accept()
        self.tabs += 1
        try:
            with self._visit():
                await Connection(socket, self.desks).run()
        finally:
            self.tabs -= 1


async def _body(request: Request) -> str:
    """Return the text of a request that is not too large."""
    parts: list[bytes] = []
    length = 0
    async for part in request.stream():
        length += len(part)
        if length > MOST_CHARACTERS:
            raise Refused("the request is too large", TOO_LARGE)
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace") or "{}"


async def refusal(request: Request, error: Exception) -> Response:
    """Return what went wrong as an answer."""
    match error:
        case Refused(reason=reason, status=status):
            return JSONResponse({"error": reason}, status)
        case HTTPException(detail=detail, status_code=status, headers=headers):
            return JSONResponse({"error": detail}, status, headers)
        case ClientDisconnect():
            return Response()  # the client has gone
    refusal = unexpected(error)
    return JSONResponse({"error": refusal.reason}, refusal.status)
