"""The web application: the page and its files, the operations under ``/api/``, the socket.

The page contains no secrets and is served to every program on this machine; requests need the
token, as ``Authorization: Bearer TOKEN`` or as ``token`` in the query.

- ``GET /api/health`` reports, without a token, that the server runs.
- ``GET /api/operations`` describes all operations, with a JSON schema for the fields of each.
- ``POST /api/NAME`` with one JSON object runs an operation; on refusal, ``error`` says why, and
  ``code`` with ``values`` identifies frequent reasons, so that a page can use words of its own.
- The WebSocket ``/api/socket`` takes the same objects with two more fields, ``do`` (the operation)
  and ``id`` (a number, repeated in every reply): ``event`` objects while a search runs, then one
  with ``result`` or ``error``. ``{"do": "stop"}`` stops all requests, or only the one whose id is
  ``target``.
- A message may have up to twelve million characters.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import secrets
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from time import monotonic

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from .. import __version__, pages
from ..app.saved import SavedGames
from ..engine.engine import DEFAULT_WEIGHTS
from ..errors import Refused
from ..files import Document, state_folder
from . import files, proofs, searches  # noqa: F401 - which register their operations
from .desk import EVENT_GAP, Archive, Desk, Desks, Job
from .messages import MOST_CHARACTERS, OPERATIONS, coded_document, operation_of, parse, refusal_of

STATIC = Path(__file__).parent / "static"
SHARED = ("draw.js", "page.css")  # with the pages of other commands
TYPES = {
    ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
}  # fmt: skip
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
MOST_BYTES = 3 * MOST_CHARACTERS  # of a message; a longer one closes the socket
POLICY_VIOLATION = 1008
LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]", "::1")
TOKEN_BYTES = 18
ENVIRONMENT = "NUMOKU_BOARD_TOKEN"


def admit(request: HTTPConnection, token: str, names: tuple[str, ...]) -> None:
    """Refuse a request from another site, to another host name, or without the token.

    A page of another site cannot read the token, but browsers let it connect; so the ``Origin`` of
    a request must be this server, with its scheme, and the ``Host`` a name of this machine, which
    also stops DNS rebinding to 127.0.0.1. Empty ``names`` allow any host name, and a TLS proxy in
    front of the server.
    """
    headers = request.headers
    host = headers.get("host", "")
    named = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(:[0-9]*)?", host)
    if names and (named is None or named[1] not in names):
        raise Refused("the request names another host", HTTPStatus.FORBIDDEN)
    scheme = request.url.scheme.replace("ws", "http")
    schemes = (scheme,) if names else (scheme, "https")
    if "origin" in headers and headers["origin"] not in [f"{own}://{host}" for own in schemes]:
        raise Refused("the request comes from another site", HTTPStatus.FORBIDDEN)
    way, _, given = headers.get("authorization", "").partition(" ")
    word = given.strip() if way.lower() == "bearer" else request.query_params.get("token", "")
    if not hmac.compare_digest(word.encode(), token.encode()):
        reason = "the token is missing or wrong; open the address that was printed"
        raise Refused(reason, HTTPStatus.UNAUTHORIZED)


def lasting_token() -> str:
    """Return this user's permanent token, so that pages can reconnect after a restart.

    It is stored in a file that only this user can read; if that fails, a new token is returned.
    """
    if os.environ.get(ENVIRONMENT):
        return os.environ[ENVIRONMENT]
    path, token = state_folder() / "board-token", secrets.token_urlsafe(TOKEN_BYTES)
    with suppress(OSError, ValueError):
        kept = path.read_text(encoding="ascii").strip()
        if len(kept) >= TOKEN_BYTES:
            return kept
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.touch(0o600, exist_ok=False)
        path.write_text(token + "\n", encoding="ascii")
    return token


class Connection(Desk):
    """A desk behind a socket."""

    def __init__(self, socket: WebSocket, desks: Desks) -> None:
        super().__init__(desks, self._tell)
        self._socket = socket
        self._loop = asyncio.get_running_loop()
        self._held: list[Document] = []  # not sent yet: answers, and the latest event of each
        self._due = 0.0  # the earliest time of the next event
        self._is_due = asyncio.Event()

    async def serve(self) -> None:
        """Serve until the page disconnects."""
        sender = asyncio.create_task(self._send())
        try:
            with suppress(WebSocketDisconnect, RuntimeError, KeyError):  # gone, or sent bytes
                while True:
                    self.take(await self._socket.receive_text())
        finally:
            sender.cancel()
            await run_in_threadpool(self.close)

    def look_up(self, job: Job) -> None:
        """Run a job that needs no engine in a thread of its own."""
        self._loop.run_in_executor(None, self.run, job)

    def _tell(self, answer: Document) -> None:
        with suppress(RuntimeError):  # the server has ended, and its loop is closed
            self._loop.call_soon_threadsafe(self._hold, answer)

    def _hold(self, answer: Document) -> None:
        """Queue an answer to be sent at once, or an event to be sent after the gap."""
        name = answer["id"]
        self._held = [held for held in self._held if "event" not in held or held["id"] != name]
        self._held.append(answer)
        if "event" in answer:
            self._loop.call_at(self._due, self._is_due.set)
        else:
            self._is_due.set()

    async def _send(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # disconnected; the reader notices, too
            while await self._is_due.wait():
                self._is_due.clear()
                held, self._held = self._held, []
                if any("event" in message for message in held):
                    self._due = self._loop.time() + EVENT_GAP
                for message in held:
                    await self._socket.send_text(json.dumps(message, separators=(",", ":")))
                    await asyncio.sleep(0)  # in which a lost connection becomes known


class BoardServer:
    """The application and its desks."""

    def __init__(
        self,
        token: str,
        names: tuple[str, ...] = LOCAL_NAMES,
        threads: int | None = None,
        database: str | None = None,
        weights: str = DEFAULT_WEIGHTS,
        games: Path | None = None,
    ) -> None:
        """Set the server up; ``admit`` checks requests against ``token`` and host ``names``.

        ``games``: the file of the page's saved games, None: memory only. EngineError if the
        database cannot be opened.
        """
        self.token, self.names = token, names
        self.archive = Archive(database, SavedGames(games))
        self.desks = Desks(threads, self.archive, weights)
        self.app = Starlette(
            routes=[
                Route("/", self._file),
                Route("/api/health", self._health),
                Route("/api/operations", self._describe),
                WebSocketRoute("/api/socket", self._socket),
                Route("/api/{name}", self._operate, methods=["GET", "POST"]),
                Route("/{name}", self._file),
            ],
            exception_handlers=dict.fromkeys(
                (Refused, HTTPException, ClientDisconnect, Exception), answer_refusal
            ),
        )

    def close(self) -> None:
        """Stop all jobs, and write all pending results."""
        self.desks.close()
        self.archive.close()

    @property
    def seconds_alone(self) -> float:
        """Seconds since the last desk was closed, or since the start; 0 while one is open."""
        return 0.0 if self.desks.open else monotonic() - self.desks.last_closed

    async def _file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        folder = pages.FOLDER if name in SHARED else STATIC
        path = next((path for path in folder.iterdir() if path.name == name), None)
        if path is None or path.suffix not in TYPES:
            raise Refused("there is no such file", HTTPStatus.NOT_FOUND)
        return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=HEADERS)

    async def _health(self, request: Request) -> Response:
        about = {"status": "ok", "name": "numoku", "version": __version__}
        desks = list(self.desks.open)
        more = {"tabs": len(desks), "engines": sum(desk.has_engine for desk in desks)}
        return JSONResponse({**about, **more, "searching": sum(bool(desk.jobs) for desk in desks)})

    async def _describe(self, request: Request) -> Response:
        """Return all operations, with their fields as JSON schemas."""
        admit(request, self.token, self.names)
        known = sorted(OPERATIONS.items())
        return JSONResponse({name: {"summary": o.summary, "fields": o.fields} for name, o in known})

    async def _operate(self, request: Request) -> Response:
        """Run one operation and return its result; stop it if the client disconnects."""
        admit(request, self.token, self.names)
        operation = operation_of(request.path_params["name"])
        job = Job(operation, operation.read(parse(await _body(request))))
        if operation.endless and not any(job.fields[k] for k in ("time", "nodes", "depth")):
            job.fields["time"] = 5.0
        answer: Future[Document] = Future()
        waiting = asyncio.wrap_future(answer)
        desk = Desk(self.desks, answer.set_result)
        try:
            desk.submit(job)
            while not waiting.done():
                await asyncio.wait([waiting], timeout=0.25)
                if await request.is_disconnected():
                    raise ClientDisconnect
        finally:
            await run_in_threadpool(desk.close)
        found = waiting.result()
        if "error" in found:
            status = found.get("status")
            why = {name: value for name, value in found.items() if name not in ("id", "status")}
            return JSONResponse(why, status if isinstance(status, int) else HTTPStatus.BAD_REQUEST)
        return JSONResponse(found["result"])

    async def _socket(self, socket: WebSocket) -> None:
        await socket.accept()  # in any case, so that the page learns the reason of a refusal
        try:
            admit(socket, self.token, self.names)
        except Refused as refused:
            await socket.close(POLICY_VIOLATION, str(refused))
            return
        await Connection(socket, self.desks).serve()


async def _body(request: Request) -> str:
    """Return the text of a request; raises Refused if it is too large."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_CHARACTERS:
            raise Refused("the request is too large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return body.decode("utf-8", "replace") or "{}"


async def answer_refusal(request: Request, error: Exception) -> Response:
    """Return an error as a response."""
    match error:
        case HTTPException(detail=detail, status_code=status, headers=headers):
            return JSONResponse({"error": detail}, status, headers)
        case ClientDisconnect():
            return Response()  # nobody is there to read it
    refused = refusal_of(error)
    return JSONResponse(coded_document("error", refused), refused.status)
