"""What the board's server answers to a page, whole: ``python -m tests.golden.board``.

A page in this process asks what stands after ``>`` in ``board.txt``; answers and what searches tell
on the way are recorded. They end by nodes or depth, as those of the commands do. A question is an
operation with its fields, or the message itself. In its fields ``{"at": "h8i9"}`` is a position,
``{"line": "h8i9"}`` a tree, ``{"bytes": "text"}`` a file; ``⟨h8×500⟩`` stands for 500 times h8 and
``␀`` for a zero. An object that ends in ``"⋯"`` with a number of fields is the last one that began
so. In ``requests.txt`` are paths, headers and bodies of requests to the application.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
from tests.golden.records import Record, expanded, stage
from tests.played import position

MANY = 4  # fields of an object of which no more than the first is written again
VARIED_HERE = (
    *((pattern.replace(": ", ":"), sign.replace(": ", ":")) for pattern, sign in VARIED),
    (r'"threads":\d+', '"threads":N'),
    (r'"version":"\d[^"]*"', '"version":"V"'),
    (r'"name":"\d{4}-\d\d-\d\d', '"name":"DATE'),
)


def filled(fields: dict[str, Any]) -> Any:
    """Return an object of a message, which may be written short."""
    match fields:
        case {"at": str(moves), **more}:
            placed = more.get("placed")
            if isinstance(placed, dict):
                more["placed"] = [
                    {"x": x, "y": y, "side": side}
                    for side, cells in placed.items() for x, y in parse_moves(cells)
                ]  # fmt: skip
            return position(moves, **more)
        case {"line": str(moves)}:
            return [
                {"parent": k - 1, "x": x, "y": y} for k, (x, y) in enumerate(parse_moves(moves))
            ]
        case {"bytes": content}:
            return base64.b64encode(content.encode("latin-1")).decode("ascii")
    return fields


def message(text: str) -> str:
    """Return what is sent for a question, or for the fields of one."""
    text = expanded(text).replace("␀", "\0")
    operation, _, fields = text.partition(" ")
    if operation in OPERATIONS:
        asked = json.loads(fields or "{}", object_hook=filled)
        return json.dumps({"do": operation, **asked})
    return json.dumps(json.loads(text, object_hook=filled)) if '"at"' in text else text


class Page(Desk):
    """A desk that notes what it would send."""

    def __init__(self, desks: Desks) -> None:
        super().__init__(desks, lambda answer: self.heard.append(answer))
        self.heard: list[Document] = []

    def says(self, text: str) -> list[Document]:
        """Return what comes in answer to a question."""
        self.heard = []
        self.take(message(text))
        while self.jobs:
            time.sleep(0.001)
        return self.heard

    def ask(self, operation: str, **fields: Any) -> Any:
        """Return the result of a question."""
        return self.says(f"{operation} {json.dumps(fields)}")[-1]["result"]


def short(value: Any, known: dict[str, Any]) -> Any:
    """Return a value with no more than the beginning of each object that was said before."""
    if isinstance(value, list):
        return [short(each, known) for each in value]
    if not isinstance(value, dict):
        return value
    first = dict(list(value.items())[:1])
    place = json.dumps(first)
    if len(value) > MANY and known.get(place) == value:
        return {**first, "⋯": len(value)}
    known[place] = value
    return {key: short(each, known) for key, each in value.items()}


def written(answer: Mapping[str, Any], known: dict[str, Any] | None = None) -> str:
    """Return an answer without what varies; ``known`` is what the page was told before."""
    answer = answer if known is None else short(answer, known)
    text = json.dumps(answer, separators=(",", ":")).replace("\\u22ef", "⋯")
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
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        limit(patch)
        board = BoardServer("token", threads=1)
        board.desks.start = {"name": "a.sgf", "data": "KDtCW2hoXSk="}
        for line in record.splitlines():
            if not line.startswith("> "):
                continue
            lines.append(line)
            asked, *body = line[2:].split(" < ")
            path, _, headers = asked.partition(" ")
            content = message(body[0]).encode("latin-1") if body else None
            status, named, answer = request(board, path, json.loads(headers), content)
            if named.pop("content-type", "") == "application/json":
                lines.append(f"  {status} {written(json.loads(answer))}")
            else:
                named.pop("content-length")
                lines.append(f"  {status} {answer.splitlines()[:1]} {named}")
        lines.append(f"{len(board.desks.open)} desks")
        board.close()
    return "\n".join([*lines, ""])


@Record("board")
def conversations(record: str) -> str:
    """Return the record of all questions, of which another one has what is asked."""
    found = []
    with stage() as patch:
        limit(patch)
        for block in record.rstrip("\n").split("\n\n"):
            title, *lines = block.split("\n")
            archive = Archive("a.db" if "with a" in title else None)
            page = Page(Desks(1, archive))
            known: dict[str, Any] = {}
            found.append(title)
            for line in lines:
                if line.startswith("> "):
                    answers = page.says(line[2:])
                    found += [line, *(f"  {written(answer, known)}" for answer in answers)]
                    while archive._thread:
                        time.sleep(0.001)
            page.close()
            archive.close()
            found.append("")
    return "\n".join(found)
