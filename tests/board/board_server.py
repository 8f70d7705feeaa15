"""A board server for tests: started as people start it, asked over HTTP and its WebSocket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

sync_client = pytest.importorskip("websockets.sync.client", reason="the extra `board` is not there")
pytest.importorskip("uvicorn", reason="the extra `board` is not there")
pytest.importorskip("starlette", reason="the extra `board` is not there")

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds for any answer


class BoardServer:
    """A running `numoku board`."""

    def __init__(self, folder: Path, *words: str, port: int = 0) -> None:
        """Start it and wait for its line; its token is kept in the folder."""
        self.folder = folder
        environment = {**os.environ, "XDG_STATE_HOME": str(folder), "PYTHONPATH": str(ROOT)}
        for name in ("NUMOKU_BOARD_TOKEN", "NUMOKU_DB", "PYTHONUNBUFFERED"):
            environment.pop(name, None)
        command = [sys.executable, "-m", "pbrain_engine.cli", "board", "--no-open"]
        self.process = subprocess.Popen(
            [*command, "--port", str(port), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        if sys.platform != "win32":  # searches for pages take only what other tests leave
            os.setpriority(os.PRIO_PROCESS, self.process.pid, 10)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        parts = urlsplit(self.address)
        self.port = parts.port or 0
        self.base = f"http://{parts.netloc}"
        self.token = parse_qs(parts.query).get("token", [""])[0]

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, Any]]:
        """Return status and document of a GET."""
        return self._request(urllib.request.Request(self.base + path, headers=headers))

    def post(self, name: str, message: Any, token: str | None = None, **headers: str) -> Any:
        """Return status and document of an operation."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = self.token if token is None else token
        headers = {"Authorization": f"Bearer {given}", **headers}
        request = urllib.request.Request(f"{self.base}/api/{name}", data, headers)
        return self._request(request)

    def _request(self, request: urllib.request.Request) -> tuple[int, dict[str, Any]]:
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def health(self) -> dict[str, Any]:
        """Return the server's description of itself."""
        return self.get("/api/health")[1]

    def connect(self, token: str | None = None, origin: str | None = None) -> Any:
        """Return a WebSocket."""
        given = self.token if token is None else token
        address = f"ws://127.0.0.1:{self.port}/api/socket?token={given}"
        return sync_client.connect(address, origin=origin, max_size=None, close_timeout=0.5)

    def kill(self) -> None:
        """Kill it without warning."""
        self.process.kill()
        self._wait()

    def stop(self) -> str:
        """End it as Ctrl-C does; return its error output."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self._wait()

    def _wait(self) -> str:
        _, complaints = self.process.communicate(timeout=PATIENCE)
        return str(complaints)


class Tab:
    """A page's side of a WebSocket."""

    def __init__(self, server: BoardServer) -> None:
        """Connect."""
        self._open = ExitStack()
        self.socket = self._open.enter_context(server.connect())
        self.number = 0

    def send(self, what: str, **fields: Any) -> int:
        """Ask, and return the number of the question."""
        self.number += 1
        self.socket.send(json.dumps({"do": what, "id": self.number, **fields}))
        return self.number

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
        return message

    def ask(
        self, what: str, onevent: Callable[[dict[str, Any]], None] | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Ask and return the result; a refusal is {"error": reason}."""
        number = self.send(what, **fields)
        while True:
            message = self.receive()
            if message["id"] != number:
                continue
            if "event" in message:
                if onevent is not None:
                    onevent(message["event"])
                continue
            result: dict[str, Any] = message.get("result", message)
            return result

    def close(self) -> None:
        """Close the connection."""
        self._open.close()


def position(moves: Any = (), rule: str = "freestyle", size: int = 15, **more: Any) -> Any:
    """Return a position in the form of messages; moves as pairs or as a text."""
    from pbrain_engine.game.cells import parse_moves

    cells = parse_moves(moves) if isinstance(moves, str) else moves
    pairs = [list(cell) for cell in cells]
    return {"width": size, "height": size, "rule": rule, "moves": pairs, **more}


def position_of_puzzle(puzzle: dict[str, Any]) -> Any:
    """Return the position of a puzzle."""
    placed = [
        {"x": x, "y": y, "side": side} for side in ("black", "white") for x, y in puzzle[side]
    ]
    return position((), puzzle["rule"], puzzle["size"], placed=placed, first=puzzle["to_move"])
