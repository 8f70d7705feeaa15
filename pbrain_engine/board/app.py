"""The web application: the page and its files, the operations under ``/api/``, the socket.

The page itself holds no secret and is given to anybody on this machine; what it asks needs
the token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from .. import __version__
from ..engine.engine import DEFAULT_WEIGHTS
from ..pages import html
from . import openapi
from .archive import Archive
from .connection import MOST_CHARACTERS, Answer, Connection, answer_of, operation_of, parse
from .desk import Desks, Job
from .guard import Guard
from .refusal import BAD_REQUEST, NOT_FOUND, TOO_LARGE, Refused, unexpected

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
POLICY_VIOLATION = 1008


class Board:
    """The application with its desks, and how long nobody has been there."""

    def __init__(
        self,
        guard: Guard,
        threads: int | None = None,
        database: str | None = None,
        weights: str = DEFAULT_WEIGHTS,
    ) -> None:
        """Begin without any tab; raises EngineError if the database cannot be opened."""
        self.guard = guard
        self.archive = Archive(database)
        self.desks = Desks(threads, self.archive, weights)
        self.tabs = 0
        self.visits = 0  # tabs, and questions of programs
        self.last_left = monotonic()  # when the last visit ended, or the start
        self.start: dict[str, str] = {}  # a game to begin with, by name and content
        self.app = Starlette(
            routes=[
                Route("/", self.page),
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

    async def page(self, request: Request) -> Response:
        """Serve the page."""
        return self._file("index.html")

    async def file(self, request: Request) -> Response:
        """Serve one of the files of the page."""
        return self._file(request.path_params["name"])

    def _file(self, name: str) -> Response:
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
                "searching": self.desks.turns.running,
            }
        )

    async def describe(self, request: Request) -> Response:
        """Return the description in OpenAPI."""
        self._check(request)
        return JSONResponse(openapi.document(str(request.base_url)))

    def _check(self, request: Request) -> None:
        self.guard.check_place(request.headers)
        self.guard.check_token(request.headers, request.query_params)

    async def operate(self, request: Request) -> Response:
        """Do one operation and return its result; it ends when the asker goes away."""
        self._check(request)
        with self._visit():
            return await self._answer(request)

    async def _answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name == "start":
            return JSONResponse(self.start)
        operation = operation_of(name)
        body = await _body(request) if request.method == "POST" else "{}"
        fields = operation.read(parse(body))
        answer_at_once = operation.at_once(self.archive)
        if answer_at_once is not None:
            return JSONResponse(await run_in_threadpool(answer_at_once, fields))
        desk = self.desks.open()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()

        def work(job: Job) -> None:
            found = answer_of(operation, desk, job, fields, lambda event: None)
            loop.call_soon_threadsafe(settle, answer, found)

        if operation.endless and not any(fields[k] for k in ("time", "nodes", "depth")):
            fields["time"] = 5.0
        try:
            desk.submit(Job(work))
            while not answer.done():
                await asyncio.wait([answer], timeout=0.25)
                if not answer.done() and await request.is_disconnected():
                    break
        finally:
            await run_in_threadpool(desk.close)
        found: Answer = answer.result() if answer.done() else {"error": "nobody waits any more"}
        if "error" in found:
            raise Refused(found["error"], found.get("status", BAD_REQUEST))
        return JSONResponse(found["result"])

    async def socket(self, socket: WebSocket) -> None:
        """Serve a tab."""
        try:
            self.guard.check_place(socket.headers)
            self.guard.check_token(socket.headers, socket.query_params)
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


def settle(answer: asyncio.Future[Answer], found: Answer) -> None:
    """Give an answer to one who may wait no more."""
    if not answer.done():
        answer.set_result(found)


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
            return Response()  # to nobody
    told = unexpected(error)
    return JSONResponse({"error": told.reason}, told.status)
