"""The board's server: its contract, who is let in, what it refuses, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.websockets import WebSocketDisconnect

from pbrain_engine.board import desk as desk_module
from pbrain_engine.board.app import MOST_BYTES, STATIC, Connection
from pbrain_engine.board.app import BoardServer as BoardApp
from pbrain_engine.board.desk import Archive, Desks, Job
from pbrain_engine.board.files import MOST_FILE
from pbrain_engine.board.messages import MOST_CHARACTERS, OPERATIONS, Operation
from pbrain_engine.commands import analyse
from pbrain_engine.errors import FileError
from pbrain_engine.game.record import GameRecord
from tests.board.board_server import PATIENCE, BoardServer, until
from tests.conftest import Run
from tests.golden.board import GOOD, Page, request, scope
from tests.played import position

ConnectionClosed = pytest.importorskip("websockets.exceptions").ConnectionClosed
connect = pytest.importorskip("websockets.sync.client").connect

LIMIT = 20_000  # nodes where the page is held against the terminal


@pytest.fixture
def board() -> Iterator[BoardApp]:
    board = BoardApp("token")
    yield board
    board.close()


# The contract -----------------------------------------------------------------------


def test_every_file_of_the_page_is_served_and_all_are_small(board: BoardApp) -> None:
    sizes = {}
    for name in (*(path.name for path in STATIC.iterdir()), "draw.js", "page.css"):
        status, headers, content = request(board, f"/{name}", {})
        assert status == 200 and "default-src 'self'" in headers["content-security-policy"]
        sizes[name] = len(content)
    tables = [sizes.pop(name) for name in list(sizes) if name.startswith("words-")]
    assert sizes.pop("gif.js") < 5_000  # loaded when a film is saved
    assert sum(sizes.values()) + max(tables) < 225_000  # one language is loaded


@pytest.mark.parametrize(
    "words",
    ["no_such_file", "--port 99999", "no_game.py", "--db no_database", "--db folder",
     "--weights nowhere"],
)  # fmt: skip
def test_a_start_that_cannot_be_is_one_line(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no_game.py").write_bytes(Path(__file__).read_bytes())
    (tmp_path / "no_database").write_bytes(b"hello" * 500)
    (tmp_path / "folder").mkdir()
    status, out, err = run("board", "--no-open", *words.split())
    assert (status, out) == (1, "") and err.startswith("numoku: ") and err.count("\n") == 1


def test_tabs_and_programs_that_ask_are_visitors(board: BoardApp) -> None:
    board.desks.last_closed -= 100
    assert board.seconds_alone > 100
    tab = Page(board.desks)
    assert board.seconds_alone == 0
    tab.close()
    board.desks.last_closed -= 100
    body = json.dumps({"position": position()}).encode()
    assert request(board, "/api/look", GOOD, body)[0] == 200
    assert board.seconds_alone < 100


# Who is let in ----------------------------------------------------------------------


FOREIGN = [
    "http://evil-localhost:8421", "http://localhost:8421.evil.org", "http://localhost:84210",
    "http://localhost:842", "http://localhost", "http://evil.org/localhost:8421",
    "http://localhost:8421@evil.org", "https://localhost:8421", "ftp://localhost:8421",
    "//localhost:8421", "localhost:8421", "http:localhost:8421", "http://LOCALHOST:8421",
    "http://127.0.0.1:8421", "http://localhost:8421/", "null", "",
]  # fmt: skip


OTHER_HOSTS = [
    "evil-localhost:8421", "localhost.evil.org:8421", "localhost.:8421", "evil.org", "[::2]:8421",
    "[::1].evil.org:8421", "127.0.0.11:8421", "127.0.0.1.evil.org", "", "LOCALHOST:8421",
]  # fmt: skip


def test_pages_of_other_origins_and_other_names_of_the_host_are_refused(board: BoardApp) -> None:
    for field, others, reason in (
        ("origin", FOREIGN, b"another site"), ("host", OTHER_HOSTS, b"another host")
    ):  # fmt: skip
        for other in others:
            status, _, answer = request(board, "/api/start", {**GOOD, field: other})
            assert status == 403 and reason in answer, other


def test_the_page_itself_is_let_in_also_behind_a_proxy_that_encrypts(board: BoardApp) -> None:
    assert request(board, "/api/start", {**GOOD, "host": "localhost:8421"})[0] == 200
    for host in ("localhost:8421", "127.0.0.1:1", "[::1]:8421", "[::1]"):
        headers = {**GOOD, "host": host, "origin": f"http://{host}"}
        assert request(board, "/api/start", headers)[0] == 200, host
    board.names = ()  # any name of the host
    for origin, status in (("https://go.example", 200), ("http://go.example", 200),
                           ("https://evil.example", 403), ("ftp://go.example", 403)):  # fmt: skip
        headers = {**GOOD, "host": "go.example", "origin": origin}
        assert request(board, "/api/start", headers)[0] == status


# What is refused --------------------------------------------------------------------


def test_a_question_too_many_on_one_socket_gets_a_reason(
    board: BoardApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Page(board.desks)
    monkeypatch.setattr(desk_module, "start_deep", lambda work: [None])  # they wait
    for name in range(desk_module.MOST_WAITING + 1):
        assert asked.heard == []
        asked.take(json.dumps({"do": "analyse", "id": name, "position": position("h8")}))
    assert asked.heard == [{"id": name, "error": "too many questions at once", "code": "busy"}]


def test_page_and_server_have_the_same_limits() -> None:
    for name, limit in (("server.js", MOST_CHARACTERS), ("files.js", MOST_FILE)):
        assert f" = {limit:_};" in (STATIC / name).read_text(encoding="utf-8")


def test_random_bytes_and_huge_messages_end_one_socket_only(server: BoardServer) -> None:
    address = server.address.replace("http", "ws").replace("/?", "/api/socket?")
    large, look = {"do": "read", "text": "h" * MOST_CHARACTERS}, {"do": "look"}
    with connect(address) as other:
        for message in (random.Random(1).randbytes(500), "x" * (MOST_BYTES + 1)):
            with connect(address) as victim, pytest.raises(ConnectionClosed):
                victim.send(message)
                victim.recv(timeout=PATIENCE)
        for question, answer in ((large, "too large"), (look, "'position' is missing")):
            other.send(json.dumps(question))
            assert answer in other.recv(timeout=PATIENCE)


def visit(board: BoardApp, script: list[tuple[int, Any]], **headers: str) -> list[str]:
    """Play a page on a socket, which sends once it has heard of what is before; return that."""
    heard: list[str] = []

    async def receive() -> Any:
        due, message = script.pop(0)
        end = time.monotonic() + PATIENCE
        while len(set(heard)) < due:
            assert time.monotonic() < end
            await asyncio.sleep(0.005)
        if "type" in message:
            return message
        return {"type": "websocket.receive", "text": json.dumps(message)}

    async def send(message: Any) -> None:
        data = json.loads(message.get("text") or "{}")
        kind = "event" if "event" in data else "result" if "result" in data else message["type"]
        heard.append(f"{kind} {data.get('id', message.get('reason', ''))}")
        assert len(board.desks.open) == 1 or not data

    with ThreadPoolExecutor() as apart:
        asking = board.app(scope("websocket", "/api/socket", {**GOOD, **headers}), receive, send)
        apart.submit(asyncio.run, asking).result()
    return list(dict.fromkeys(heard))


CONNECT = 0, {"type": "websocket.connect"}


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"origin": "http://example.org"}, "the request comes from another site"),
        (
            {"authorization": "Bearer other"},
            "the token is missing or wrong; open the address that was printed",
        ),
    ],
)
def test_a_socket_is_closed_with_a_reason(
    board: BoardApp, headers: dict[str, str], reason: str
) -> None:
    heard = visit(board, [CONNECT], **headers)
    assert heard == ["websocket.accept ", f"websocket.close {reason}"]


def test_a_tab_that_leaves_takes_its_search_with_it(board: BoardApp) -> None:
    heard = visit(board, [
        CONNECT,
        (1, {"do": "analyse", "id": 1, "position": position("h8")}),
        (2, {"do": "look", "id": 2, "position": position("h8")}),
        (3, {"do": "stop", "id": 3, "target": 1}),
        (5, {"do": "analyse", "id": 4, "position": position("h8")}),
        (6, {"type": "websocket.disconnect"}),
    ])  # fmt: skip
    assert heard == [
        "websocket.accept ", "event 1", "result 2", "result 3", "result 1", "event 4"
    ]  # fmt: skip
    assert not board.desks.open


def test_what_is_found_after_the_end_of_the_server_is_told_to_nobody() -> None:
    async def connect() -> Connection:
        return Connection(None, Desks(1, Archive()))  # type: ignore[arg-type]

    with ThreadPoolExecutor() as apart:  # a browser has this thread
        connection = apart.submit(asyncio.run, connect()).result()
    connection.post({"id": 1, "event": {}})


class LostSocket:
    """A socket that is lost at the first answer, which is known in the next turn of the loop."""

    def __init__(self) -> None:
        self.written, self._is_lost = 0, asyncio.Event()

    async def receive_text(self) -> str:
        await self._is_lost.wait()
        raise WebSocketDisconnect

    async def send_text(self, _: str) -> None:
        if self._is_lost.is_set():
            raise WebSocketDisconnect
        self.written += 1
        asyncio.get_running_loop().call_soon(self._is_lost.set)


def test_on_a_socket_that_is_lost_no_answer_follows() -> None:
    """Asyncio would complain of the later ones, on the terminal."""

    async def lose() -> int:
        socket = LostSocket()
        connection = Connection(socket, Desks(1, Archive()))  # type: ignore[arg-type]
        for number in range(9):
            connection.post({"id": number, "result": {}})
        await connection.serve()
        return socket.written

    with ThreadPoolExecutor() as apart:
        assert apart.submit(asyncio.run, lose()).result() == 1


def test_an_error_that_was_not_expected_is_reported(
    board: BoardApp, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(OPERATIONS, "puzzles", Operation("", {}, lambda *words: 1 // 0))
    status, _, body = request(board, "/api/puzzles", GOOD, b"{}")
    assert (status, json.loads(body)) == (500, {"error": "internal error: ZeroDivisionError"})
    assert capsys.readouterr().err.count("Traceback") == 1


# What it says -----------------------------------------------------------------------


def test_the_page_says_what_the_terminal_says(capsys: pytest.CaptureFixture[str]) -> None:
    moves, rule = "h8i9g9g7i8g8h7", "renju"
    words = [moves, "--rule", rule, "--nodes", str(LIMIT), "--time", "60", "--json"]
    assert analyse.main(words) == 0
    terminal = json.loads(capsys.readouterr().out)
    desk = Page(Desks(1, Archive()))
    for nodes in (LIMIT // 2, LIMIT):  # the first is to be forgotten
        page = desk.ask("analyse", position=position(moves, rule), nodes=nodes)
    for field in ("move", "value", "chance", "pv", "depth", "nodes", "win"):
        assert page[field] == terminal[field], field
    desk.close()


# What it leaves behind ----------------------------------------------------------------


def job_of(do: Any, endless: bool = False) -> Job:
    """Return a job of an operation without fields."""
    return Job(Operation("", {}, do, endless=endless))


def test_memory_is_given_back_after_a_while_without_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "REST_AFTER", 0.2)
    desks = Desks(2, Archive())
    desk = Page(desks)
    began: list[bool] = []

    def begin(desk: Page, job: Job) -> None:
        for threads in (1, 2):
            assert desk.engine(GameRecord(), threads, memory=16).threads == threads
        desk.rest()
        began.append(desk.has_engine)

    for number in (1, 2):
        desk.submit(job_of(begin))
        until(lambda: len(began) == number and not desk.has_engine)  # noqa: B023 - used at once
    assert began == [True, True]
    desks.close()


def test_a_stopped_job_and_a_closed_desk_leave_nothing_behind() -> None:
    desks = Desks(1, Archive())
    desk = Page(desks)
    begun, done, later = threading.Event(), threading.Event(), threading.Event()

    def endless(desk: Page, job: Job) -> None:
        begun.set()
        until(lambda: job.is_stopped)
        done.set()

    desk.run(Job(OPERATIONS["look"], is_stopped=True))
    assert desk.heard == [{"id": None, "error": "stopped", "stopped": True}]
    job = job_of(endless, endless=True)
    desk.submit(job)
    assert begun.wait(PATIENCE)
    desk.stop("another")
    assert not job.is_stopped
    desk.submit(job_of(lambda desk, job: later.set()))  # ends the endless one
    assert done.wait(PATIENCE) and later.wait(PATIENCE)
    desk.close()
    assert not desks.open and not desk.has_engine
    desk.submit(job_of(lambda desk, job: pytest.fail("the desk is closed")))


def test_a_job_that_outlasts_its_desk_frees_the_memory_itself() -> None:
    desk, is_over = Page(Desks(1, Archive())), threading.Event()

    def linger(desk: Page, job: Job) -> None:
        desk.engine(GameRecord(), memory=16)
        is_over.wait(PATIENCE)

    desk.submit(job_of(linger))
    until(lambda: desk.has_engine)
    desk.close(wait=0.0)
    assert desk.has_engine
    is_over.set()
    until(lambda: not desk.has_engine)


def test_tabs_search_at_the_same_time_and_leave_no_engine_behind(board: BoardApp) -> None:
    tabs = [Page(board.desks) for _ in range(8)]
    for tab in tabs:
        tab.take(json.dumps({"do": "analyse", "position": position("h8"), "memory": 64}))
    for tab in tabs[:4]:
        tab.close()
    until(lambda: all(tab.heard for tab in tabs[4:]))
    health = json.loads(request(board, "/api/health", {})[2])
    assert [health[name] for name in ("tabs", "engines", "searching")] == [4, 4, 4]
    for tab in tabs[4:]:
        tab.close()
    assert not board.desks.open and not any(tab.jobs or tab.has_engine for tab in tabs)
    board.close()
    with pytest.raises(FileError, match="closed"):
        board.archive.shelf.going_on()
