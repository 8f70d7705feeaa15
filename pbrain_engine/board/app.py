"""The web application: the page and its files, the operations under ``/api/``, the socket.

The page itself holds no secret and is given to anybody on this machine; what it asks needs
the token.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from .. import __version__
from ..engine.engine import DEFAULT_WEIGHTS
from ..files import state_folder
from ..pages import html
from . import files, proofs, searches  # noqa: F401 - which register their operations
from .archive import Archive, Shelf
from .desk import Answer, Desks, Job, Questions, answer_of
from .messages import (
    BAD_REQUEST,
    FORBIDDEN,
    MOST_CHARACTERS,
    NOT_FOUND,
    TOO_LARGE,
    UNAUTHORISED,
    Operation,
    Refused,
    openapi,
    operation_of,
    parse,
    report_unexpected,
)

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
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]", "::1")
TOKEN_BYTES = 18
ENVIRONMENT = "NUMOKU_BOARD_TOKEN"


class Guard:
    """Who may ask: a page that this server has served itself, or a program that knows the token.

    A page of another site cannot read the token, but a browser would let it connect; so the
    ``Origin`` of a request has to be this server, and the ``Host`` a name of this machine, which
    also keeps out names that have been bent to 127.0.0.1.
    """

    def __init__(self, token: str, names: tuple[str, ...] = LOCAL_NAMES) -> None:
        """Take the token, and the names of the host; no names: any."""
        self.token = token
        self._names = names

    def check(self, request: HTTPConnection) -> None:
        """Refuse a request from another site, to another name, or without the token."""
        headers = request.headers
        host = headers.get("host", "")
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        if self._names and name not in self._names:
            raise Refused("this server has another name", FORBIDDEN)
        try:
            is_own = "origin" not in headers or urlsplit(headers["origin"]).netloc == host
        except ValueError:  # it is no address
            is_own = False
        if not is_own:
            raise Refused("the request comes from a foreign page", FORBIDDEN)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        word = (
            given.strip() if scheme.lower() == "bearer" else request.query_params.get("token", "")
        )
        if not hmac.compare_digest(word.encode(), self.token.encode()):
            raise Refused("the token is missing or wrong; open the address that was printed",
                          UNAUTHORISED)  # fmt: skip


def lasting_token() -> str:
    """Return the token of this user, so that pages find the server again after a restart.

    It is kept in a file that no other user may read; where there can be none, it is a new one.
    """
    if os.environ.get(ENVIRONMENT):
        return os.environ[ENVIRONMENT]
    path = state_folder() / "board-token"
    try:
        kept = path.read_text(encoding="ascii").strip()
        if len(kept) >= TOKEN_BYTES:
            return kept
    except (OSError, ValueError):
        pass
    token = secrets.token_urlsafe(TOKEN_BYTES)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(token + "\n")
    except OSError:
        pass
    return token


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
    def seconds_alone(self) -> float:
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
                "engines": sum(desk.has_engine for desk in self.desks),
                "searching": sum(not desk.is_idle for desk in self.desks),
            }
        )

    async def describe(self, request: Request) -> Response:
        """Return the description in OpenAPI."""
        self.guard.check(request)
        return JSONResponse(openapi(str(request.base_url)))

    async def operate(self, request: Request) -> Response:
        """Do one operation and return its result; it ends when the asker goes away."""
        self.guard.check(request)
        name = request.path_params["name"]
        if name == "start":
            return JSONResponse(self.start)
        operation = operation_of(name)
        body = await _body(request) if request.method == "POST" else "{}"
        fields = operation.read(parse(body))
        if operation.endless and not any(fields[k] for k in ("time", "nodes", "depth")):
            fields["time"] = 5.0
        desk = self.desks.open()
        answer: Future[Answer] = Future()
        waiting = asyncio.wrap_future(answer)

        def work(job: Job) -> None:
            answer.set_result(answer_of(operation, desk, job))

        try:
            with self._visit():
                desk.submit(Job(work, fields))
                while not waiting.done():
                    await asyncio.wait([waiting], timeout=0.25)
                    if not waiting.done() and await request.is_disconnected():
                        raise ClientDisconnect
        finally:
            await run_in_threadpool(desk.close)
        found = waiting.result()
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
    refusal = report_unexpected(error)
    return JSONResponse({"error": refusal.reason}, refusal.status)
