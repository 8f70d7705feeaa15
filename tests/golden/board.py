"""What the board's server answers to a page, whole: ``python -m tests.golden.board``.

Sessions (see ``records``) with a page in this process, whose operations are called by their names,
and with the application, without a server. Answers and what searches tell on the way are recorded.
They end by nodes or depth, as those of the commands do.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.board import desk, proofs, searches
from pbrain_engine.board.app import BoardServer
from pbrain_engine.board.desk import Archive, Desk, Desks
from pbrain_engine.board.messages import OPERATIONS
from pbrain_engine.engine import searcher
from pbrain_engine.engine.engine import Limit
from pbrain_engine.files import Document
from pbrain_engine.game.cells import parse_moves
from tests.golden import texts
from tests.golden.commands import FOOTPRINT, NODES, VARIED, limit_searches
from tests.golden.records import Record, session, stage
from tests.played import position

VARIED_HERE = (
    *((pattern.replace(": ", ":"), sign.replace(": ", ":")) for pattern, sign in VARIED),
    (r'"threads":\d+', '"threads":N'),
    (r'"version":"\d[^"]*"', '"version":"V"'),
    (r'"name":"\d{4}-\d\d-\d\d', '"name":"DATE'),
)


def at(moves: str, placed: Any = (), **more: Any) -> dict[str, Any]:
    """Return a position of a message, with the stones of each side by name."""
    if isinstance(placed, dict):
        placed = [
            {"x": x, "y": y, "side": side}
            for side, cells in placed.items() for x, y in parse_moves(cells)
        ]  # fmt: skip
    return position(moves, **more, **({"placed": placed} if placed else {}))


def line(moves: str) -> list[dict[str, int]]:
    """Return a tree of a message that has one line."""
    return [{"parent": k - 1, "x": x, "y": y} for k, (x, y) in enumerate(parse_moves(moves))]


def data(content: str) -> str:
    """Return a file as a message has it."""
    return base64.b64encode(content.encode("latin-1")).decode("ascii")


class Page(Desk):
    """A desk that notes what it would send."""

    def __init__(self, desks: Desks) -> None:
        super().__init__(desks, lambda answer: self.heard.append(answer))
        self.heard: list[Document] = []

    def says(self, text: str) -> list[Document]:
        """Return what comes in answer to a question."""
        self.heard = []
        self.take(text)
        while self.jobs:
            time.sleep(0.001)
        return self.heard

    def ask(self, operation: str, **fields: Any) -> Any:
        """Return the result of a question."""
        return self.says(json.dumps({"do": operation, **fields}))[-1]["result"]


def written(answer: Mapping[str, Any]) -> str:
    """Return an answer without what varies."""
    text = json.dumps(answer, separators=(",", ":"))
    for pattern, sign in VARIED_HERE:
        text = re.sub(pattern, sign, text)
    return texts.brief(text)


def limit(patch: pytest.MonkeyPatch) -> None:
    """Let searches end by nodes, and choose the same each time."""
    limit_searches(patch)
    patch.setattr(searcher, "footprint", lambda: FOOTPRINT)
    patch.setattr(proofs, "Limit", lambda time: Limit(nodes=NODES))
    patch.setattr(searches, "random", SimpleNamespace(Random=lambda: random.Random(1)))
    patch.setattr(desk, "DEFAULT_MEMORY", 60)


# Requests to the application, without a server --------------------------------------------

GOOD = {"host": "localhost:8421", "authorization": "Bearer token"}


def scope(kind: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the scope of a request, as ASGI has it."""
    path, _, query = path.partition("?")
    rows = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": kind, "path": path, "query_string": query.encode(), "headers": rows}


def request(
    board: BoardServer, path: str, headers: Mapping[str, str], body: bytes | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the answer to a POST, or to a GET without a body."""
    sent: list[dict[str, Any]] = []
    asked = [{"type": "http.request", "body": body or b""}]
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if asked:
            return asked.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    method = {"method": "GET" if body is None else "POST"}
    with suppress(ZeroDivisionError), ThreadPoolExecutor() as apart:  # a browser has this thread
        asking = board.app({**scope("http", path, headers), **method}, receive, send)
        apart.submit(asyncio.run, asking).result()
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], named, b"".join(message.get("body", b"") for message in sent[1:])


@Record("requests")
def requests(record: str) -> str:
    """Return the record of all requests, of which another one has what is asked."""
    with pytest.MonkeyPatch.context() as patch:
        limit(patch)
        board = BoardServer("token", threads=1)
        board.desks.start = {"name": "a.sgf", "data": "KDtCW2hoXSk="}

        def ask(path: str, headers: Mapping[str, str], content: Any = None) -> Iterator[str]:
            text = content if isinstance(content, str | None) else json.dumps(content)
            body = None if text is None else text.encode("latin-1")
            status, named, answer = request(board, path, headers, body)
            if named.pop("content-type", "") == "application/json":
                yield f"{status} {written(json.loads(answer))}"
                return
            named.pop("content-length")
            yield f"{status} {answer.splitlines()[:1]}"
            yield from texts.joined((f"{key}: {value}" for key, value in named.items()), "")

        said = session(record, globals() | {"ask": ask, "board": board}, short=str)
        board.close()
    return said


@Record("board")
def conversations(record: str) -> str:
    """Return the record of all questions, of which another one has what is asked."""
    names = dict(globals())
    with stage() as patch, ExitStack() as open_page:
        limit(patch)

        def begin(file: str | None = None) -> None:
            """Begin with a new page, with this database."""
            open_page.close()
            archive = Archive(file)
            page = Page(Desks(1, archive))
            open_page.callback(archive.close)
            open_page.callback(page.close)

            def say(text: str) -> Iterator[str]:
                yield from (written(answer) for answer in page.says(text))
                while archive._thread:
                    time.sleep(0.001)

            def ask(operation: str, **fields: Any) -> Iterator[str]:
                return say(json.dumps({"do": operation, **fields}))

            names.update({name: partial(ask, name) for name in OPERATIONS}, say=say)

        names["begin"] = begin
        return session(record, names, short=str)
