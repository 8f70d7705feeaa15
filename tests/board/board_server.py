"""A board server for tests: started as people start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

for extra in ("uvicorn", "starlette", "websockets"):
    pytest.importorskip(extra, reason="the extra `board` is not there")

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds for any answer


def until(condition: Any) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


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
