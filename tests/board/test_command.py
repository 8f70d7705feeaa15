"""How `numoku board` begins, in this process: its address, its token, the game that it is given."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.game.cells import NotationError

pytest.importorskip("uvicorn", reason="the extra `board` is not there")
pytest.importorskip("starlette", reason="the extra `board` is not there")

from pbrain_engine.board import app, command
from pbrain_engine.board.app import LOCAL_NAMES


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "state"))
    for name in (app.ENVIRONMENT, "NUMOKU_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("host", "shown", "names"),
    [("127.0.0.1", "127.0.0.1", LOCAL_NAMES), ("0.0.0.0", "127.0.0.1", ()),
     ("::1", "[::1]", LOCAL_NAMES), ("[::1]", "[::1]", LOCAL_NAMES),
     ("localhost", "localhost", LOCAL_NAMES)],
)  # fmt: skip
def test_the_address_is_one_that_a_browser_opens(
    host: str, shown: str, names: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    served: list[Any] = []
    asked: list[Any] = []
    listener = command.listen("127.0.0.1", 0)  # not every machine has all these addresses

    async def serve(*words: Any) -> None:
        served.extend(words)

    monkeypatch.setattr(command, "serve", serve)
    monkeypatch.setattr(command, "listen", lambda *where: asked.append(where) or listener)
    (tmp_path / "a.sgf").write_text("(;GM[4]SZ[15];B[hh])")
    words = ["--host", host, "--port", "5", "--threads", "3", "--linger", "7"]
    words += ["--db", str(tmp_path / "a.db"), str(tmp_path / "a.sgf")]
    port = listener.getsockname()[1]
    with ThreadPoolExecutor() as apart:  # a browser has this thread
        assert apart.submit(command.main, words).result() == 0
    _, _, board, address, options = served
    assert address == f"http://{shown}:{port}/?token={board.token}" and options.linger == 7
    assert asked == [(host, 5)]
    assert (board.names, board.desks.threads) == (names, 3)
    assert board.archive.name == str(tmp_path / "a.db") and (tmp_path / "state" / "numoku").is_dir()
    assert board.desks.start["name"] == "a.sgf"
    assert [(row["x"], row["y"]) for row in board.desks.start["tree"]] == [(7, 7)]


@pytest.mark.parametrize("no_open", [False, True])
def test_the_page_is_opened_once_it_is_served_until_nobody_is_there(
    no_open: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Server:
        started = should_exit = False

        async def serve(self, sockets: list[Any]) -> None:
            assert capsys.readouterr().out == "" and sockets == [None]
            self.started = True
            for _ in range(3000):
                await asyncio.sleep(0 if self.should_exit else 0.01)

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    board, options = SimpleNamespace(seconds_alone=3), Namespace(no_open=no_open, linger=2.5)
    serving = command.serve(Server(), None, board, "http://here", options)  # type: ignore[arg-type]
    with ThreadPoolExecutor() as apart:  # a browser has this thread
        apart.submit(asyncio.run, serving).result()
    ended = "ended: no page and no program connected for 2.5 s"
    assert capsys.readouterr().out.splitlines() == ["http://here", ended]
    assert opened == ([] if no_open else ["http://here"])


def test_what_is_no_game_is_refused_by_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    monkeypatch.setattr(command, "MOST_FILE", 8)
    for content, reason in (
        (b"(;GM[1])", "a.txt: GM[1] is another game"), (b" ", "a.txt: there is nothing in"),
        (b"h8i9h9i8h", "a.txt is too large for a game"),
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(NotationError) as refused:
            command.read_file(str(path))
        assert str(refused.value).startswith(reason)
    path.write_bytes(b"h8i9h9i8")
    assert command.read_file(str(path))["name"] == "a.txt"


def test_a_port_that_was_asked_for_is_taken_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with command.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        monkeypatch.setattr(command, "DEFAULT_PORT", port)
        with pytest.raises(OSError, match=f"^cannot listen on 127.0.0.1:{port}: "):
            command.listen("127.0.0.1", port)
        with command.listen("127.0.0.1", None) as other:
            assert other.getsockname()[1] not in (0, port)
        with socket.create_connection(("127.0.0.1", port)) as client:
            first.accept()[0].close()  # who ends first keeps the port for a minute
            assert client.recv(1) == b""
    with command.listen("127.0.0.1", None) as again:  # all the same, at once
        assert again.getsockname()[1] == port


def test_the_token_lasts_where_it_can_be_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = app.lasting_token()
    path = tmp_path / "state" / "numoku" / "board-token"
    assert app.lasting_token() == token == path.read_text().strip() and len(token) == 24
    assert os.name == "nt" or path.stat().st_mode & 0o077 == 0  # its user's alone
    path.write_text("short")
    other = app.lasting_token()
    assert len(other) == 24 and other != token and app.lasting_token() == other
    path.unlink()
    path.mkdir()
    assert app.lasting_token() != app.lasting_token()
    monkeypatch.setenv(app.ENVIRONMENT, "given")
    assert app.lasting_token() == "given"


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_without_descriptors_for_the_server_that_is_all_it_says() -> None:
    words = f"ulimit -n 6; {sys.executable} -m pbrain_engine.cli board --no-open --port 0"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "numoku: Too many open files\n"
