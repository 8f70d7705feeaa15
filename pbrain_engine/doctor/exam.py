"""One examination: a fresh program, a dialogue with it, and what counts as a violation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NamedTuple

from ..position.geometry import Coordinates
from .peer import HeardLine, Peer

FAIL, WARN, SKIP, PASS = "fail", "warn", "skip", "pass"
CHATTER = ("MESSAGE", "DEBUG")
TOLERANCE = 1.0  # seconds over a limit that managers forgive


class Violation(Exception):
    """The program does not do what this client needs."""


class Blemish(Exception):
    """It does, but another program or another day may see it fail."""


class NotSupported(Exception):
    """An optional part of the protocol that the program declines properly."""


class Options(NamedTuple):
    """How the program is examined."""

    command: list[str]
    size: int = 15
    turn: float = 0.3  # seconds for a move
    patience: float = 5.0  # seconds for a start or an answer before it counts as silence


class Check(NamedTuple):
    """One thing to examine: for whom, what, why it matters, and where that is written."""

    client: str
    title: str
    harm: str  # what happens in this client otherwise
    source: str
    examine: Callable[[Exam], None]


class Exam:
    """A dialogue with the program; every method that expects something raises Violation."""

    def __init__(self, peer: Peer, options: Options) -> None:
        """Examine a program that has just been started."""
        self.peer = peer
        self.options = options
        self.size = options.size
        self.stones: set[Coordinates] = set()
        self.heard: list[str] = []

    # -- saying ----------------------------------------------------------------------------

    def say(self, *lines: str, end: str = "\n") -> None:
        """Send lines in one packet."""
        self.peer.send(*lines, end=end)

    def start(self, *infos: str, size: int | None = None, end: str = "\n") -> None:
        """Start a game, wait for OK, and set limits."""
        self.size = size or self.options.size
        self.say(f"START {self.size}", end=end)
        self.expect_ok()
        self.stones = set()
        turn = round(self.options.turn * 1000)
        self.say(f"INFO timeout_turn {turn}", "INFO timeout_match 1000000", end=end)
        if infos:
            self.say(*(f"INFO {info}" for info in infos), end=end)

    def board(self, *stones: str, verb: str = "BOARD") -> None:
        """Send a position; stones are ``x,y,field``."""
        self.stones = {(int(x), int(y)) for x, y, *_ in (s.split(",") for s in stones)}
        self.say(verb, *stones, "DONE")

    def turn(self, cell: Coordinates | None = None) -> None:
        """Play a stone of the opponent, anywhere."""
        x, y = cell or self.free()
        self.stones.add((x, y))
        self.say(f"TURN {x},{y}")

    def free(self) -> Coordinates:
        """Return an empty cell out of the way."""
        cells = ((x, y) for y in range(0, self.size, 3) for x in range(0, self.size, 4))
        return next(cell for cell in cells if cell not in self.stones)

    # -- hearing ---------------------------------------------------------------------------

    def line(self, timeout: float | None = None) -> HeardLine:
        """Return the next line that is no message."""
        limit = self.options.patience if timeout is None else timeout
        until = perf_counter() + limit
        while True:
            line = self.peer.line(max(until - perf_counter(), 0.0))
            if line is None and not self.peer.is_alive:
                status = self.peer.process.poll()
                raise Violation(f"the program has ended (status {status})")
            if line is None:
                raise Violation(f"no answer within {limit:g} s")
            self.heard.append(line.text)
            if line.text.split(" ")[0].upper().rstrip("\r") not in CHATTER:
                return line

    def answer(self, timeout: float | None = None) -> str:
        """Return the next line that is no message, without its line end."""
        return self.line(timeout).text.rstrip("\r")

    def expect_ok(self) -> None:
        """Expect exactly OK."""
        answer = self.answer()
        if answer != "OK":
            raise Violation(f"{shown(answer)} instead of OK")

    def expect_move(self, timeout: float | None = None) -> Coordinates:
        """Expect a legal move and put it on the board."""
        if timeout is None:
            timeout = self.options.patience + self.options.turn
        answer = self.answer(timeout)
        cell = read_move(answer)
        if cell is None:
            raise Violation(f"{shown(answer)} instead of a move")
        if not (cell[0] < self.size and cell[1] < self.size):
            raise Violation(f"the move {answer} is off the board")
        if cell in self.stones:
            raise Violation(f"the move {answer} is on an occupied cell")
        self.stones.add(cell)
        return cell

    def exchange(self) -> Coordinates:
        """Play a stone of the opponent anywhere, and return the legal answer to it."""
        self.turn()
        return self.expect_move()

    def expect_refusal(self, what: str, words: Iterable[str] = ("ERROR", "UNKNOWN")) -> str:
        """Expect a line that says no, and no move."""
        answer = self.answer()
        if answer.split(" ")[0].upper() not in words:
            raise Violation(f"{shown(answer)} after {what}")
        return answer

    def expect_silence(self, what: str, seconds: float = 0.25) -> None:
        """Expect that nothing but messages comes."""
        until = perf_counter() + seconds
        while (left := until - perf_counter()) > 0:
            line = self.peer.line(left)
            if line is not None and line.text.split(" ")[0].upper() not in CHATTER:
                raise Violation(f"{shown(line.text)} after {what}")
        if not self.peer.is_alive:
            raise Violation(f"the program has ended after {what}")

    def expect_game(self) -> None:
        """Expect that an ordinary game can go on, whatever has happened before."""
        self.peer.lines(0.1)
        self.start()
        self.exchange()

    def expect_exit(self, limit: float) -> None:
        """Expect that the program ends by itself."""
        if self.peer.wait(limit) is None:
            raise Violation(f"still running after {limit:g} s")


def read_move(text: str) -> Coordinates | None:
    """Return the cell of a digits-only ``x,y``, or None."""
    x, comma, y = text.partition(",")
    if comma and all(part.isascii() and part.isdigit() and len(part) < 4 for part in (x, y)):
        return int(x), int(y)
    return None


def shown(text: str) -> str:
    """Return what a program said, safe and short enough for a table."""
    clean = "".join(c if c.isprintable() and c.isascii() else "?" for c in text)
    return repr(clean if len(clean) <= 60 else clean[:57] + "...")
