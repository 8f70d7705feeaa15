"""Transcripts: dialogues as data, and their replay. Format: ``transcripts/README.md``."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pbrain_engine.arena.process import EngineProcess

FOLDER = Path(__file__).parent / "transcripts"


class Exchange(NamedTuple):
    """Lines to send, and the replies expected before the dialogue continues."""

    sent: list[str]
    during: list[str]  # sent while the engine is thinking
    expected: list[str]


class Transcript(NamedTuple):
    name: str
    end: str
    exchanges: list[Exchange]


def read(path: Path) -> Transcript:
    """Read a transcript file."""
    end, exchanges = "\n", [Exchange([], [], [])]
    during = False
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        mark, _, rest = line.partition(" ")
        current = exchanges[-1]
        if mark in ("", "#"):
            continue
        if mark == "end":
            end = {"lf": "\n", "crlf": "\r\n"}[rest]
        elif mark == ">":
            if current.expected:
                exchanges.append(Exchange([], [], []))
                during = False
            (exchanges[-1].during if during else exchanges[-1].sent).append(rest)
        elif mark == "<":
            current.expected.append(rest)
        elif mark == "during":
            during = True
        else:
            raise ValueError(f"{path.name}:{number}: {line!r}")
    return Transcript(path.stem, end, exchanges)


def all_transcripts() -> list[Transcript]:
    return [read(path) for path in sorted(FOLDER.glob("*.txt"))]


class Referee:
    """Tracks the board of a dialogue, fills in placeholders, and checks replies."""

    def __init__(self) -> None:
        self.width = self.height = 20
        self.stones: list[tuple[int, int]] = []
        self.detail = 0
        self._body: list[str] | None = None

    def fill(self, line: str) -> str:
        """Replace the placeholders of a line to send."""
        if "{free}" in line:
            line = line.replace("{free}", "{},{}".format(*self.free()))
        if "{last}" in line:
            line = line.replace("{last}", "{},{}".format(*self.stones[-1]))
        return line

    def free(self) -> tuple[int, int]:
        """Return an empty cell away from the centre."""
        cells = [(x, y) for y in range(1, self.height, 3) for x in range(1, self.width, 4)]
        return next(cell for cell in cells if cell not in self.stones)

    def sent(self, line: str) -> None:
        """Update the board for a line that was sent."""
        words = line.upper().split()
        if self._body is not None or words[:1] in (["BOARD"], ["YXBOARD"], ["SWAP2BOARD"]):
            if self._body is None:
                self._body, words = [], words[1:]
            self._body += words
            if "DONE" in self._body:
                body = self._body[: self._body.index("DONE")]
                self.stones = [tuple(map(int, w.split(",")[:2])) for w in body]
                self._body = None
        elif words[:1] == ["START"]:
            self.width, self.height = int(words[1]), int(words[-1])
            self.stones = []
        elif words[:1] == ["RESTART"]:
            self.stones = []
        elif words[:1] == ["TURN"]:
            x, y = words[1].split(",")
            self.stones.append((int(x), int(y)))
        elif words[:1] == ["TAKEBACK"]:
            self.stones.pop()
        elif words[:2] == ["INFO", "SHOW_DETAIL"]:
            self.detail = int(words[2])

    def is_chatter(self, line: str) -> bool:
        """Return whether a line may come unasked."""
        words = line.split(" ", 1)
        return words[0] in ("MESSAGE", "DEBUG") or (words[0] == "INFO" and self.detail >= 2)

    def check(self, expected: str, line: str) -> None:
        """Fail unless a line is as expected."""
        kind, _, rest = expected.partition(" ")
        if kind == "MOVE" and not rest:
            self._moves(line, 1)
        elif kind == "MOVES":
            self._moves(line, int(rest))
        elif kind == "SWAP2":
            if line != "SWAP":
                self._moves(line, 2 if " " in line else 1)
        elif kind == "LIKE":
            assert rest.endswith("*")
            assert line.startswith(rest[:-1]), f"expected {rest!r}, got {line!r}"
        else:
            assert line == expected

    def _moves(self, line: str, count: int) -> None:
        words = line.split(" ")
        assert len(words) == count, f"expected {count} moves, got {line!r}"
        for word in words:
            x, y = word.split(",")
            assert x.isdigit() and y.isdigit(), line
            assert int(x) < self.width and int(y) < self.height, line
            assert (int(x), int(y)) not in self.stones, f"{line!r} is occupied: {self.stones}"
            self.stones.append((int(x), int(y)))


def replay(
    transcript: Transcript, peer: EngineProcess, send: Callable[[list[str]], None], patience: float
) -> None:
    """Replay a transcript with a program, which must exit at its end; failures raise."""
    referee = Referee()
    for exchange in transcript.exchanges:
        for lines, pause in ((exchange.sent, 0.0), (exchange.during, 0.03)):
            filled = []
            for line in lines:
                filled.append(referee.fill(line))
                referee.sent(filled[-1])
            if filled:
                time.sleep(pause)
                send(filled)
        for expected in exchange.expected:
            line = hear(peer, patience)
            while referee.is_chatter(line) and not line.startswith(expected[5:][:-1] or "\0"):
                line = hear(peer, patience)
            referee.check(expected, line)
    assert peer.wait(patience) == 0
    assert [line for line in peer.lines() if not line.text.startswith("MESSAGE")] == []
    assert peer.stderr == b""


def hear(peer: EngineProcess, patience: float) -> str:
    """Return the next line, which must come in one piece."""
    line = peer.line(patience)
    assert line is not None, f"no answer; stderr: {peer.stderr!r}"
    assert line.chunks == 1
    return line.text
