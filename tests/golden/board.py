"""What the board's server answers to a page, whole: ``python -m tests.golden.board``.

A page in this process asks every operation, with good and odd fields; what searches tell on the
way is recorded, too. They end by nodes or depth, as those of the commands do.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.board import desk, files, proofs, searches
from pbrain_engine.board.app import BoardServer, Guard
from pbrain_engine.board.archive import Archive, Shelf
from pbrain_engine.board.desk import Answer, Desks, Questions
from pbrain_engine.board.messages import MOST_CHARACTERS
from pbrain_engine.engine.engine import Limit
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.notation.renlib import format_renlib
from pbrain_engine.notation.sgf import parse_sgf_trees
from tests.golden.commands import NODES, VARIED, limit_searches

FILE = Path(__file__).with_suffix(".txt")
REQUESTED = Path(__file__).with_name("requests.txt")
SHOWN = 300  # characters of a question
VARIED_HERE = (
    *((pattern.replace(": ", ":"), sign.replace(": ", ":")) for pattern, sign in VARIED),
    (r'"threads":\d+', '"threads":N'),
    (r'"version":"\d[^"]*"', '"version":"V"'),
)
THREE, FIVE, FOUR = "h8a1i8c1j8e1", "h8a1i8c1j8e1k8g1l8", "h8a1i8c1j8e1k8"
HALF = "x\ud800"  # half of a character, which JSON can hold
SGF = (
    "(;GM[4]FF[4]SZ[15]RU[renju]PB[Li]PW[Wu]RE[B+]DT[2026-11-01]C[a game];B[hh]C[my comment];W[hg]"
    "(;B[ig]C[main])(;B[gg];W[ff]C[side line]))"
)
PSQ = "Piskvorky 15x15, 11:11, 0\n8,8,0\n8,6,0\nLi\nWu\n1\n"
DRAWING = " .......\n .XXX...\n .OOO(O).\n .......\n ....#..\n .......\n .......\nblack to move\n"


def at(moves: str = "", rule: str = "freestyle", size: int = 15, **more: Any) -> dict[str, Any]:
    """Return a position as messages have it."""
    cells = [list(cell) for cell in parse_moves(moves, size)]
    return {"width": size, "height": size, "rule": rule, "moves": cells, **more}


def stones(**cells: str) -> list[dict[str, Any]]:
    """Return stones that were there before, by their sides."""
    return [
        {"x": x, "y": y, "side": side} for side, text in cells.items() for x, y in parse_moves(text)
    ]


def rows(moves: str, parent: int = -1, **more: Any) -> list[dict[str, Any]]:
    """Return a line as messages hold a tree; ``more`` is written on its last move."""
    found = [
        {"parent": parent + number, "x": x, "y": y}
        for number, (x, y) in enumerate(parse_moves(moves))
    ]
    return [*found[:-1], {**found[-1], **more}]


def data(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def raw_messages() -> Iterator[str]:
    """Yield messages that are none."""
    yield from ("", "{", "[]", "null", '"x"', "[" * 100_000, "\x00", '{"id": 1e999}')
    yield from ('{"id": {}}', '{"do": 5}', '{"do": null}', '{"do": ["look"]}', '{"do": "fly"}')
    yield '{"do": "analyse", "position": null}'
    yield json.dumps({"do": "stop", "target": [1]})
    yield json.dumps({"do": "stop", "target": 5})
    yield json.dumps({"do": "stop"})


def wrong_positions() -> Iterator[Any]:
    """Yield what is no position, or none that can have been."""
    yield from ({}, "h8", None, at(size=5) | {"width": 4}, at() | {"height": 10**9})
    yield from (
        at(rule="chess"),
        at(rule=HALF),
        at(first="red"),
        at() | {"moves": [[7, 7], [7, 7]]},
    )
    yield from (at(size=9) | {"moves": [[14, 14]]}, at() | {"moves": [[7, -1]]})
    yield from (at() | {"moves": [[1, 1], [99, 1]]}, at() | {"moves": [[7, True]]})
    yield from (at() | {"moves": [[7]]}, at() | {"moves": [[0, 0]] * 500}, at(FIVE + "m9"))
    yield at(placed=stones(black="a4b4c4d4e4", white="a10b10c10d10e10"))
    yield at(placed=[{"x": 1, "y": 1}])


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is asked, with its fields."""
    yield "engine", {}
    for where in wrong_positions():
        yield "look", {"position": where}
    for what in ("analyse", "prove", "threats", "move", "review", "known"):
        yield what, {"position": at(FIVE + "m9")}
        yield what, {"position": at(FIVE)}
    for moves, rule in ((FIVE, "freestyle"), ("g8a1i8c1h7o15h9e1", "renju"), ("h8h9i9", "renju"),
                        ("h7a1h9a3g8a5i8a7h6a9k8a11", "renju"), ("", "caro")):  # fmt: skip
        yield "look", {"position": at(moves, rule)}
    yield "look", {"position": at(size=9, placed=stones(wall="a1", white="b2"), first="white")}
    yield from reading()
    yield from writing()
    yield from keeping()
    yield from searching()
    yield from proving()


def reading() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield files that are read."""
    for text in ("", " \n", "hello", "(;GM[1]SZ[19])", "(;B[zz])", "Piskvorky x", "h8h8",
                 "(" * 50_000, "\x00", "(;GM[4]SZ[15];B[hh];W[];B[ii])",
                 f"(;GM[4]SZ[15]PB[{HALF}];B[hh])", "h8" * 800_000):  # fmt: skip
        yield "read", {"text": text}
    yield "read", {}
    yield "read", {"text": "", "data": ""}
    for content in ("%%%", data(b""), data(b" \n"), data(PSQ.encode("utf-16")), data(b"h8\xffi9")):
        yield "read", {"data": content}
    yield "read", {"data": data(SGF.replace("Li", "Löw").encode("latin-1"))}
    tree = parse_sgf_trees(SGF.replace("RU[renju]", ""))[0]
    library = data(format_renlib(tree)[0])
    yield "read", {"data": library}
    yield "read", {"data": library, "rule": "freestyle"}
    yield "read", {"data": data(format_renlib(tree)[0][:30])}
    for text in (SGF, SGF + SGF, PSQ, DRAWING,
                 "(;GM[4]SZ[10:12]AB[aa][bb]AW[cc]PL[W];W[dd];B[ee])",
                 "(;GM[4]SZ[15]AE[aa];B[hh]TR[hh]LB[aa:x][hh:y];W[ii];B[hh])",
                 "(;GM[4]SZ[15];B[hh](;W[ii]LB[aa:x]TR[ii]N[title]GB[1];B[jj])(;W[gg]))",
                 ):  # fmt: skip
        yield "read", {"text": text}
        yield "read", {"text": text, "rule": "caro", "width": 20, "height": 19}
    for text in ("h8,i9,h9", "h8-i9-h9", "1. h8 i9 2. h9", "1.h8 i9 2.h9", "[7,7] [8,8] [7,8]",
                 "(7,7) (8,8) (7,8)"):  # fmt: skip
        fields = {"text": text, "width": 20, "height": 19, "rule": "renju"}
        yield "read", fields
        yield "read", {**fields, "from_below": True}
        yield "read", {**fields, "text": text + " z99"}


def writing() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield games that are written as files."""
    label = {"x": 0, "y": 0, "text": "here", "comment": "why", "title": "T", "marked": True}
    notes = {"comment": "good", "title": "T", "marked": True, "start": True, "text": "A"}
    tree = [
        *rows("h8i9j10", **notes, labels=[label, {"x": 5, "y": 5, "text": "next"}]),
        *rows("f6", parent=2),
        *rows("g7h6", parent=0, comment="aside"),
    ]
    tree[5]["parent"] = 4
    names = {"black": "Li", "white": "Wu", "result": "1-0", "date": "2026-11-01"}
    game = {"position": at(rule="renju"), "tree": tree, "names": names, "comment": "all",
            "root": {"title": "R", "text": "t", "labels": [label]}}  # fmt: skip
    plain = {"position": at(size=9), "tree": rows("e5f6")}
    stood = at(size=9, placed=stones(black="a1", white="b2"), first="white")
    walls = at(size=9, placed=stones(wall="a1"))
    yield "write", {**plain, "format": "xml"}
    yield "write", plain
    for form in files.FORMATS:
        yield "write", {**game, "format": form}
        yield "write", {**plain, "format": form}
        yield "write", {**plain, "position": stood, "format": form}
        yield "write", {**plain, "position": walls, "format": form}
        yield "write", {**plain, "tree": [], "format": form}
    for wrong in (
        {"tree": [{"parent": 0, "x": 1, "y": 1}]}, {"tree": [*rows("h8"), *rows("h8", parent=0)]},
        {"tree": [{"parent": -2, "x": 1, "y": 1}]}, {"tree": rows("o15") * 2},
        {"tree": rows(FIVE + "m9")}, {"comment": HALF}, {"names": {"black": HALF}},
        {"names": {"black": 5}}, {"names": {"black": "x" * 30_000}},
        {"root": {"labels": [{"x": 1, "y": 1, "text": HALF}]}}, {"root": {"marked": 1}},
    ):  # fmt: skip
        yield "write", {"position": at(), "tree": [], "format": "sgf", **wrong}


def keeping() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what goes into the database and onto the shelf, and comes back."""
    where, walls = {"position": at("h8i9")}, {"position": at(placed=stones(wall="a1"))}
    tree = [*rows(FIVE), *rows("a15", parent=0, comment="or here")]
    yield "known", where
    for before, after in (("", "a nise idea"), ("a nise idea", "a nice idea"), ("", "another"),
                          ("another", ""), ("never written", "new"), ("", HALF)):  # fmt: skip
        yield "comment", {**where, "before": before, "after": after}
        yield "known", where
    yield "comment", {"position": at("h8g9"), "after": "from the other side"}
    yield "known", where
    yield "comment", {**walls, "after": "x"}
    yield "store", {**walls, "tree": []}
    for game in ({"comment": "about it all"}, {}, {"names": {"black": "Li", "result": "0-1"}}):
        yield "store", {"position": at(), "tree": tree, **game}
    yield "store", {"position": at(), "tree": []}
    yield "known", {"position": at(FIVE[:12])}
    yield "known", {"position": at("h8a15")}
    yield "games", {}
    for number, moves in enumerate(("h8i9", "h8i9j10", "h8i9")):
        fields = {"game": f"g{number}", "began": number, "tree": rows(moves), "at": number}
        yield "keep", {**fields, "position": at(), "match": {"level": 3} if number else None}
    yield "keep", {"game": "g1", "began": -1, "position": at(), "tree": []}
    yield "games", {}
    yield "game", {"game": "g2"}
    yield "game", {"game": "g0"}


def searching() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the engine is asked."""
    for fields in ({"multipv": 0}, {"multipv": 1.5}, {"threads": 10_000}, {"memory": -1},
                   {"search": "guess"}, {"time": "long"}, {"time": 0},
                   {"depth": True}):  # fmt: skip
        yield "analyse", {"position": at("h8"), **fields}
    yield "analyse", {"position": at("h8i9"), "depth": 2, "multipv": 2, "policy": True}
    yield "analyse", {"position": at("h8i9"), "nodes": 500, "memory": 20}
    yield "analyse", {"position": at("h8i9"), "nodes": 40, "search": "mcts"}
    yield "analyse", {"position": at(THREE), "depth": 2}
    yield "analyse", {"position": at("h8h9i8", "renju", first="white"), "depth": 1}
    yield "known", {"position": at(THREE)}
    for fields in ({"level": 1}, {"level": 3}, {"level": 7}, {"level": 11},
                   {"method": "minimax", "position": at(FOUR)}, {"method": "guess"}):  # fmt: skip
        yield "move", {"position": at("h8i9", size=10), "seconds": 600, **fields}
    yield "move", {"position": at(FIVE), "method": "minimax"}
    for moves in ("", "h8", "h8i9h9", "h8i9h9a1o15"):
        yield "swap2", {"position": at(moves), "seconds": 600}
    yield "known", {"position": at("h8i9", size=10)}
    yield "swap2", {"position": at(placed=stones(black="h8"))}
    yield "swap2", {"position": at("h8i9h9a1o15", "renju"), "seconds": 600}
    yield "balance", {"position": at("d4", size=7), "seconds": 600}
    yield "balance", {"position": at("d4", size=7), "seconds": 600, "stones": 2}
    yield "balance", {"position": at("d4", size=7), "stones": 3}
    yield "review", {"position": at()}
    yield "review", {"position": at(THREE + "k8g1l8"), "seconds": 600}
    yield "known", {"position": at(THREE)}


def proving() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is asked of threats and proofs."""
    vct = at(placed=stones(black="e5f5e6f7", white="a1c3o15"))
    placed = stones(black="h8", white="i9")
    for what in ("prove", "branches", "reply", "threats"):
        for where in (at(THREE), vct, at("h8"), at(FOUR), at("h8k8i8a1j8c1g8"),
                      at("h8a1i8a3j8a5g8"),
                      at(FIVE), at(THREE + "k8"), at("g8a1i8c1h7o15h9e1", "renju")):  # fmt: skip
            yield what, {"position": where, "seconds": 600}
    yield "prove", {"position": vct | {"moves": [[4, 3]]}, "seconds": 600}
    for fields in (
        {"position": at(THREE)}, {"position": at(THREE), "check": True}, {"position": vct},
        {"position": at(placed=placed), "line": [[0, 0], [1, 1], [2, 2]]},
        {"position": at(placed=placed)}, {"position": at(FIVE)},
        {"position": at(placed=placed), "line": [[0, 0]], "check": True},
        {"position": at() | {"width": 16}}, {"position": at(placed=stones(wall="a1"))},
    ):  # fmt: skip
        yield "puzzle", fields


class Page(Questions):
    """A page that notes what comes."""

    def __init__(self, desks: Desks) -> None:
        super().__init__(desks)
        self.heard: list[Answer] = []

    def post(self, answer: Answer) -> None:
        self.heard.append(answer)

    def post_event(self, name: object, event: Answer) -> None:
        self.heard.append({"id": name, "event": event})

    def says(self, text: str) -> list[Answer]:
        """Return what comes in answer to a message."""
        self.heard = []
        self.take(text)
        while not self.desk.is_idle:
            time.sleep(0.001)
        return self.heard


def written(answer: Mapping[str, Any]) -> str:
    """Return an answer without what varies."""
    text = json.dumps(answer, separators=(",", ":"))
    for pattern, sign in VARIED_HERE:
        text = re.sub(pattern, sign, text)
    return text


def limit(patch: pytest.MonkeyPatch) -> None:
    """Let searches end by nodes, and choose the same each time."""
    limit_searches(patch)
    patch.setattr(proofs, "Limit", lambda time: Limit(nodes=NODES))
    patch.setattr(searches, "random", SimpleNamespace(Random=lambda: random.Random(1)))
    patch.setattr(desk, "DEFAULT_MEMORY", 60)


# Requests to the application, without a server --------------------------------------------

GOOD = {"host": "localhost:8421", "authorization": "Bearer token"}
REQUESTS: tuple[tuple[str, dict[str, str], bytes | None], ...] = (
    ("/", {}, None),
    ("/draw.js", {}, None),
    ("/app.js", {"host": "elsewhere"}, None),
    ("/none.js", {}, None),
    ("/__init__.py", {}, None),
    ("/a/b/c", {}, None),
    ("/api/health", {}, None),
    ("/api/openapi.json", {"host": "localhost", "authorization": "bearer  token "}, None),
    ("/api/openapi.json?token=token", {"host": "[::1]:8421", "origin": "http://[::1]:8421"}, None),
    ("/api/start", GOOD, None),
    ("/api/look", GOOD, json.dumps({"position": at("h8")}).encode()),
    ("/api/look", GOOD, json.dumps({"position": at() | {"moves": [[1, 1]] * 2}}).encode()),
    ("/api/look", GOOD, b""),
    ("/api/look", GOOD, b"\xff"),
    ("/api/look", GOOD, b"x" * (MOST_CHARACTERS + 1)),
    ("/api/look", GOOD, b" " * MOST_CHARACTERS),
    ("/api/engine", GOOD, None),
    ("/api/fly", GOOD, b"{}"),
    ("/api/game", GOOD, b'{"game": "x"}'),
    ("/api/analyse", GOOD, json.dumps({"position": at("h8i9"), "depth": 1}).encode()),
    ("/api/engine?token=token", {"host": "localhost"}, None),
    ("/api/engine", {"host": "localhost"}, None),
    ("/api/engine", GOOD | {"authorization": "Basic token"}, None),
    ("/api/engine", GOOD | {"authorization": "Bearer t\u00f6ken"}, None),
    ("/api/engine", GOOD | {"host": "example.org"}, None),
    ("/api/engine", GOOD | {"host": "[::2]:8421"}, None),
    ("/api/engine", GOOD | {"origin": "http://localhost:8421"}, None),
    ("/api/engine", GOOD | {"origin": "http://localhost:8422"}, None),
    ("/api/engine", GOOD | {"origin": "http://["}, None),
)


def scope(kind: str, path: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return what an application is told of a request."""
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


def requests() -> str:
    """Return the record of the requests."""
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        limit(patch)
        board = BoardServer(Guard("token"), 1)
        board.start = {"name": "a.sgf", "data": data(SGF.encode())}
        for path, headers, body in REQUESTS:
            status, named, content = request(board, path, headers, body)
            shown = "" if body is None else f" {body[:SHOWN]!r}"
            lines.append(f"> {path} {headers}{shown if len(shown) < SHOWN else len(shown)}")
            if named.pop("content-type", "") == "application/json":
                lines.append(f"  {status} {written(json.loads(content))}")
            else:
                named.pop("content-length")
                lines.append(f"  {status} {content.splitlines()[:1]} {named}")
        lines.append(f"{len(list(board.desks))} desks, {board.visits} visits, {board.tabs} tabs")
        board.close()
    return "\n".join([*lines, ""])


def conversation() -> str:
    """Return the record of all questions."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        limit(patch)
        archive = Archive(str(Path(folder) / "a.db"), Shelf())
        page = Page(Desks(1, archive))
        asked = [*raw_messages(), *(json.dumps({"do": what, **more}) for what, more in questions())]
        for text in asked:
            shown = re.sub(r"(.)\1{500,}", r"\1...", text)
            lines.append(f"> {shown if len(shown) <= SHOWN else shown[:SHOWN] + '...'}")
            lines += [f"  {written(answer)}" for answer in page.says(text)]
            while not archive._is_written:
                time.sleep(0.001)
        page.desk.close()
        lines.append("closed, without a database")
        page = Page(Desks(1))
        for what, more in (("known", {}), ("comment", {"after": "x"}), ("store", {"tree": []})):
            said = page.says(json.dumps({"do": what, "position": at("h8"), **more}))
            lines += [f"  {written(answer)}" for answer in said]
        page.desk.close()
        archive.close()
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    FILE.write_text(conversation(), encoding="utf-8")
    REQUESTED.write_text(requests(), encoding="utf-8")
