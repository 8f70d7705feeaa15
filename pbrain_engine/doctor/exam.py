"""One examination: a fresh program, a dialogue with it, what counts, and the list of checks."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from time import perf_counter, sleep
from typing import NamedTuple

from ..arena.process import Program, TimedLine
from ..options import split_command
from ..position.geometry import Coordinates

FAIL, WARN, SKIP, PASS = "fail", "warn", "skip", "pass"
CHATTER = ("MESSAGE", "DEBUG")
REFUSALS = ("ERROR", "UNKNOWN")
MOST_LINES = 10_000  # that are waited for in one go
QUIET_TIME = 0.05  # without a line, after which a peer is taken to have finished speaking
PATIENCE = 5.0  # seconds for a peer to read what is sent
POLL = 0.002
WINDOWS = os.name == "nt"
STOP_LIMIT = 0.5  # seconds for an answer to a stop
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


class Peer(Program):
    """The program under examination, which gets rid of itself as a context manager.

    Nothing waits without a deadline: what it does not read in time it gets when it does.
    """

    line_end = re.compile(rb"\n")

    def __init__(
        self, command: str | list[str], folder: str | None = None, patience: float = PATIENCE
    ) -> None:
        """Start the command.

        Raises:
            OSError: it cannot be started.
        """
        super().__init__(split_command(command) if isinstance(command, str) else command, folder)
        self._patience = patience

    def __enter__(self) -> Peer:
        """Return the peer."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Kill it with everything it started."""
        self.kill()

    def send(self, *lines: str, end: str = "\n") -> None:
        """Write lines in one packet; a peer that is gone is noticed later, when it is silent."""
        self.send_bytes("".join(line + end for line in lines).encode())

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are."""
        self.write(data).wait(self._patience)

    def close_stdin(self) -> None:
        """End its input, after what has been sent."""
        self.write(None).wait(self._patience)

    def lines(self, quiet: float = QUIET_TIME) -> list[TimedLine]:
        """Return all lines until the peer is quiet for a while, or has said far too much."""
        found: list[TimedLine] = []
        while len(found) < MOST_LINES and (line := self.line(quiet)) is not None:
            found.append(line)
        return found

    def wait(self, timeout: float) -> int | None:
        """Return its exit status, or None if it is still alive after that time."""
        until = perf_counter() + timeout
        while (status := self.process.poll()) is None and perf_counter() < until:
            sleep(POLL)  # Popen.wait would look only every 50 ms
        return status

    def interrupt(self) -> None:
        """Send what Ctrl-C in a shared console sends."""
        if WINDOWS:
            self.process.send_signal(signal.CTRL_BREAK_EVENT)  # type: ignore[attr-defined,unused-ignore]
        else:
            os.killpg(self.pid, signal.SIGINT)

    def kill(self) -> None:
        """Kill it and its children, and close the pipes."""
        self.close(grace=0.0)


class Exam:
    """A dialogue with the program; every method that expects something raises Violation."""

    def __init__(self, peer: Peer, options: Options) -> None:
        """Examine a program that has just been started."""
        self.peer = peer
        self.options = options
        self.size = options.size
        self.stones: set[Coordinates] = set()
        self.heard: list[str] = []
        self.other = self.own = ""  # the last moves of the opponent and of the program
        self.taken = 0.0  # seconds for the last move that was expected

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
        self.other = f"{x},{y}"
        self.say(f"TURN {self.other}")

    def free(self) -> Coordinates:
        """Return an empty cell out of the way."""
        cells = ((x, y) for y in range(0, self.size, 3) for x in range(0, self.size, 4))
        return next(cell for cell in cells if cell not in self.stones)

    # -- hearing ---------------------------------------------------------------------------

    def line(self, timeout: float | None = None) -> TimedLine:
        """Return the next line that is no message."""
        limit = self.options.patience if timeout is None else timeout
        until = perf_counter() + limit
        while True:
            line = self.peer.line(max(until - perf_counter(), 0.0))
            if line is None and (status := self.peer.process.poll()) is not None:
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
        began = perf_counter()
        answer = self.answer(timeout)
        self.taken = perf_counter() - began
        cell = read_move(answer)
        if cell is None:
            raise Violation(f"{shown(answer)} instead of a move")
        if not (cell[0] < self.size and cell[1] < self.size):
            raise Violation(f"the move {answer} is off the board")
        if cell in self.stones:
            raise Violation(f"the move {answer} is on an occupied cell")
        self.stones.add(cell)
        self.own = answer
        return cell

    def exchange(self) -> Coordinates:
        """Play a stone of the opponent anywhere, and return the legal answer to it."""
        self.turn()
        return self.expect_move()

    def expect_no_move(self, what: str) -> None:
        """Expect a refusal or silence, but no move, and that the program lives on."""
        limit = self.options.turn + 0.5
        while (line := self.peer.line(limit)) and line.text.split(" ")[0] in CHATTER:
            pass
        if self.peer.process.poll() is not None:
            raise Violation(f"the program has ended after {what}")
        if line is None:
            raise Blemish(f"silence after {what}")
        if line.text.split(" ")[0].upper() not in REFUSALS:
            raise Violation(f"{shown(line.text)} after {what}")

    def expect_game(self) -> None:
        """Expect that an ordinary game can go on, whatever has happened before."""
        self.peer.lines(0.1)
        self.start()
        self.exchange()

    def expect_exit(self, limit: float) -> None:
        """Expect that the program ends by itself."""
        if self.peer.wait(limit) is None:
            raise Violation(f"still running after {limit:g} s")

    def decline(self, what: str) -> str:
        """Return the answer to an optional command; a polite refusal ends the check."""
        answer = self.answer()
        if answer.split(" ")[0].upper() in REFUSALS:
            raise NotSupported(f"{what}: {shown(answer)}")
        return answer

    def follow(self, step: str) -> None:
        """Take a step of a script: ``> LINE|LINE`` says lines, the others are named below.

        Of two ``>`` the lines end with a return, too. What stands in braces is filled in.
        """
        word, _, rest = step.partition(" ")
        match word:
            case ">" | ">>":
                turn = round(self.options.turn * 1000)
                values = {**vars(self), "turn": turn}
                lines = rest.format_map(values).split("|")
                self.say(*lines, end="\n" if word == ">" else "\r\n")
            case "start":
                self.start(*filter(None, rest.split(", ")))
            case "stones":
                self.stones = {(int(x), int(y)) for x, y in (s.split(",") for s in rest.split())}
            case "board":
                self.board(*rest.split())
            case "OK":
                self.expect_ok()
            case "move":
                self.expect_move(float(rest) if rest else None)
            case "late":
                if self.taken > float(rest):
                    raise Blemish(f"the move took {self.taken:.2f} s, no time was left")
            case "says":
                if rest not in (answer := self.answer()).replace(" ", "").lower():
                    raise Violation(f"{shown(answer)} instead of {rest}...")
            case "accepts":
                if self.decline(rest) != "OK":
                    raise Violation(f"{rest} is not answered with OK")
                self.stones = set()
            case "refuses":
                answer = self.answer()
                if answer.split(" ")[0].upper() != "ERROR":
                    raise Violation(f"{shown(answer)} after {rest}")
            case "names":
                if rest not in self.heard[-1]:
                    raise Blemish(f"the text does not name {rest}, which the manager would offer")
            case "rejects":
                self.expect_no_move(rest)
            case "silence":
                seconds, _, what = rest.partition(" ")
                until = perf_counter() + float(seconds)
                while (left := until - perf_counter()) > 0:
                    line = self.peer.line(left)
                    if line is not None and line.text.split(" ")[0].upper() not in CHATTER:
                        raise Violation(f"{shown(line.text)} after {what}")
                if self.peer.process.poll() is not None:
                    raise Violation(f"the program has ended after {what}")
            case "stop":
                while early := self.peer.line(0.0):
                    if read_move(early.text.strip()) is not None:
                        return  # it had decided by itself
                self.say(rest)
                self.expect_move(timeout=2.0)
                if self.taken > STOP_LIMIT:
                    raise Violation(f"the move came {self.taken:.2f} s after {rest}")
            case "hear":
                self.heard += [line.text for line in self.peer.lines(float(rest))]
            case "words":  # with which lines may begin
                for said in self.heard:
                    first = said.split(" ")[0].rstrip("\r")
                    is_move = read_move(first) is not None
                    if first not in rest.split() and not (is_move and "x,y" in rest):
                        raise Violation(f"a line {shown(said)}")
            case "stderr":
                self.peer.wait(1.0)
                sleep(0.05)
                if said := self.peer.stderr.decode("latin-1"):
                    raise (Violation if rest == "fails" else Blemish)(f"{shown(said)} on stderr")
            case "exit":
                self.expect_exit(float(rest))
            case "wait":
                sleep(float(rest))
            case "suspend" | "resume" | "interrupt" | "close_stdin":
                getattr(self.peer, word)()
            case "turn" | "exchange" | "expect_game":
                getattr(self, word)()
            case _:
                raise ValueError(f"{step!r} is no step of a script")


# Steps that let the program think about a move for which it has a minute.
THINK_LONG = ("start timeout_turn 60000, time_left 1000000", "board 7,7,2 8,8,1 4,10,2", "wait 0.3")


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


GOMOCUP = "Gomocup judge"
PISKVORK = "Piskvork 9"
CLI = "c-gomoku-cli"
QPISKVORK = "qpiskvork"
YIXIN = "Yixin-Board"
GOMOCALC = "gomocalc"
ANY = "any manager"
CLIENTS = (GOMOCUP, PISKVORK, CLI, QPISKVORK, YIXIN, GOMOCALC, ANY)  # as the table lists them

Examine = Callable[[Exam], None]


class Check(NamedTuple):
    """One thing to examine: for whom, what, why it matters, and where that is written."""

    client: str
    title: str
    harm: str  # what happens in this client otherwise
    source: str
    examine: Examine


CHECKS: list[Check] = []


def check(client: str, title: str, harm: str, source: str) -> Callable[[Examine], Examine]:
    """Enter a function in the list of checks."""

    def enter(examine: Examine) -> Examine:
        CHECKS.append(Check(client, title, harm, source, examine))
        return examine

    return enter


def script(client: str, title: str, harm: str, source: str, *steps: str) -> None:
    """Enter a check that holds a dialogue, step by step as :meth:`Exam.follow` takes them."""

    @check(client, title, harm, source)
    def examine(exam: Exam) -> None:
        for step in steps:
            exam.follow(step)
