"""A program that speaks the protocol through pipes, for tests that act as a manager or a judge."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path


class Piped:
    """A running program; its stderr is the same pipe as its stdout, as managers have it."""

    def __init__(self, program: Path, environment: Mapping[str, str] | None = None) -> None:
        """Start it in its own folder."""
        self.process = subprocess.Popen(
            [str(program)],
            cwd=program.parent,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.decode("ascii").strip())

    def write(self, *lines: str) -> None:
        """Send lines, all at once."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(line + "\r\n" for line in lines).encode("ascii"))

    def wait(self, seconds: float) -> int | None:
        """Return its status if it leaves by itself in so many seconds; kill it in any case."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.close()

    def close(self) -> None:
        """Kill what is left, and wait until it is gone and all it wrote is read."""
        with self.process:
            self.process.kill()
            self.reader.join()  # before its stream is closed: it may be inside a read


def stones_of(moves: list[tuple[int, int]]) -> list[str]:
    """Return the lines between BOARD and DONE for the side to move."""
    own = len(moves) % 2
    return [f"{x},{y},{1 if i % 2 == own else 2}" for i, (x, y) in enumerate(moves)]
