"""One check: a fresh program and a dialogue with it, written as steps.

``start; > TURN {size},0; rejects; exchange`` begins a game, sends a line, expects a refusal, and
exchanges moves. Fields in braces are filled in. ``> LINE|LINE`` sends lines in one packet, ``>>``
with carriage returns; all other steps are cases of :meth:`Exam.take`. The program may decline a
step after ``?``, which skips the rest; failing a step after ``~`` is only a warning.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import PurePath
from time import perf_counter, sleep
from typing import NamedTuple

from ..arena.players import SWAP2_STONES
from ..arena.process import EngineFault, EngineProcess, TimedLine
from ..files import shown
from ..game.cells import cell_name, parse_moves
from ..native.load.memory import peak_working_set
from ..position.geometry import Coordinates

LINE_END = re.compile(rb"\n")  # some managers require it
STOP_LIMIT = 0.5  # seconds for an answer to a stop
TOLERANCE = 1.0  # seconds over a limit that managers tolerate


PASS, FAIL, WARN, SKIP = GRADES = ("pass", "fail", "warn", "skip")


class Options(NamedTuple):
    """The program to test, and limits of the dialogues."""

    command: list[str]
    size: int = 15
    turn: float = 0.3  # seconds per move
    patience: float = 5.0  # seconds to wait for an answer


class Exam:
    """A dialogue with a program.

    Methods that expect an answer raise EngineFault, with the cause FAIL, or SKIP if the program
    properly declines an optional part of the protocol.
    """

    def __init__(self, options: Options) -> None:
        """Start the program; OSError if it cannot be started."""
        self.options = options
        self.peer = EngineProcess(options.command, line_end=LINE_END)
        self.blemish = ""  # the first warning
        self.size = options.size
        self.stones: dict[Coordinates, int] = {}  # with the field values of BOARD
        self.chatter = ["MESSAGE", "DEBUG"]  # first words of lines that are not answers
        self.heard: list[TimedLine] = []
        self.said = self.other = self.own = ""  # the last line sent, the last moves of both sides
        self.taken = 0.0  # seconds for the last expected move
        self._may_decline = False
        self._files = set(os.listdir("."))

    def close(self) -> None:
        """Kill the program and all processes it has started."""
        self.peer.close(grace=0.0)

    # -- sending ---------------------------------------------------------------------------

    def say(self, *lines: str, end: str = "\n") -> None:
        """Send lines in one packet."""
        self.said = lines[-1]
        self.peer.send(*lines, end=end)

    def free(self) -> Coordinates:
        """Return an empty cell out of the way."""
        cells = ((x, y) for y in range(0, self.size, 3) for x in range(0, self.size, 4))
        return next(cell for cell in cells if cell not in self.stones)

    # -- receiving ---------------------------------------------------------------------------

    def next_answer(self, timeout: float) -> str | None:
        """Return the next answer, skipping chatter; None if none comes in time."""
        until = perf_counter() + timeout
        while line := self.peer.line(max(until - perf_counter(), 0.0)):
            self.heard.append(line)
            text = line.text.rstrip("\r")
            if self._may_decline and is_refusal(text):
                raise EngineFault(SKIP, f"{self.said}: '{shown(text)}'")
            if text.split(" ")[0].upper() not in self.chatter:
                return text
        if (status := self.peer.process.poll()) is not None:
            raise failed(f"the program has ended (status {status})")
        return None

    def answer(self, timeout: float | None = None) -> str:
        """Return the next answer."""
        limit = self.options.patience if timeout is None else timeout
        if (answer := self.next_answer(limit)) is None:
            raise failed(f"no answer within {limit:g} s")
        return answer

    # -- steps -----------------------------------------------------------------------------

    def hold(self, dialogue: str) -> None:
        """Take the steps of a dialogue."""
        for step in dialogue.split("; "):
            self._may_decline = step.startswith("? ")
            try:
                self.take(step.removeprefix("? ").removeprefix("~ "))
            except EngineFault as fault:
                if fault.cause != FAIL or not step.startswith("~ "):
                    raise
                self.blemish = self.blemish or fault.detail

    def take(self, step: str) -> None:
        """Take one step."""
        turn = self.options.turn
        values = {"turn": round(turn * 1000), "seconds": turn, "some": turn / 20,
                  "pause": turn + 0.3, "late": turn + TOLERANCE}  # fmt: skip
        word, _, rest = step.format_map({**vars(self), **values}).partition(" ")
        match word:  # steps that say something
            case ">" | ">>":
                self.say(*rest.split("|"), end="\n" if word == ">" else "\r\n")
            case "size":
                self.size = int(rest)
            case "start":  # a game with time limits
                self.hold("> START {size}; OK")
                self.stones = {}
                self.take("> INFO timeout_turn {turn}|INFO timeout_match 1000000")
                if rest:
                    self.say(*(f"INFO {info}" for info in rest.split(", ")))
            case "board":  # of stones such as x,y,field
                stones = [stone.split(",") for stone in rest.split()]
                self.stones = {(int(x), int(y)): int(field) for x, y, field in stones}
                self.say("BOARD", *rest.split(), "DONE")
            case "game":  # moves by the names of their cells
                moves = parse_moves(rest)
                fields = [f"{x},{y},{1 + (n + len(moves)) % 2}" for n, (x, y) in enumerate(moves)]
                self.take(f"board {' '.join(fields)}")
            case "fill":  # all but this many cells
                cells = [(x, y) for x in range(self.size) for y in range(self.size)]
                cells = cells[: len(cells) - int(rest)]
                fields = [f"{x},{y},{1 + (x // 2 + y) % 2}" for x, y in cells]
                self.take(f"board {' '.join(fields)}")
            case "stones":  # that other steps have put on the board
                self.stones = dict.fromkeys(parse_moves(rest), 2)
            case "turn":  # a move of the opponent, out of the way
                x, y = self.free()
                self.stones[x, y] = 2
                self.other = f"{x},{y}"
                self.say(f"TURN {self.other}")
            case "think":  # about a move with a limit of one minute
                self.hold("start timeout_turn 60000, time_left 1000000")
                self.hold("board 7,7,2 8,8,1 4,10,2; wait 0.3")
            case "again":  # continue in a new process, as after a pause
                fields = [f"{x},{y},{field}" for (x, y), field in self.stones.items()]
                x, y = self.free()
                self.peer.close(grace=0.0)
                self.peer = EngineProcess(self.options.command, line_end=LINE_END)
                self.hold(f"start; board {' '.join(fields)} {x},{y},2")
            case _:
                self._hear_step(word, rest)

    def _hear_step(self, word: str, rest: str) -> None:
        """Take a step that expects an answer."""
        match word:
            case "OK":
                if (answer := self.answer()) != "OK":
                    raise failed(f"'{shown(answer)}' instead of OK")
            case "move":
                self._move(float(rest) if rest else self.options.patience + self.options.turn)
            case "exchange":
                self.hold("turn; move")
            case "goes_on":  # with a new game, after any answers
                self.peer.lines(0.1)
                self.hold("start; turn; move")
            case "plays" | "avoids":
                self.take("move")
                name = cell_name(*list(self.stones)[-1])
                if (name in rest.split()) != (word == "plays"):
                    wish = "one of" if word == "plays" else "anything but"
                    raise failed(f"{name} instead of {wish} {rest}")
            case "within":
                if self.taken > float(rest):
                    raise failed(f"the move took {self.taken:.2f} s of {float(rest):g} s")
            case "uses":  # at least these seconds
                if self.taken < float(rest):
                    raise failed("hardly any of the time is used")
            case "says":
                if not re.search(rest, answer := self.answer()):
                    raise failed(f"'{shown(answer)}' instead of {rest}")
            case "rejects":  # a line, with exactly one error
                refusal = self.next_answer(self.options.turn + 0.5)
                if refusal is None or is_refusal(refusal) and self.next_answer(0.1) is not None:
                    amount = "silence" if refusal is None else "more than one answer"
                    self.blemish = self.blemish or f"{amount} after '{shown(self.said)}'"
                elif not is_refusal(refusal):
                    raise failed(f"'{shown(refusal)}' after '{shown(self.said)}'")
            case "silence":
                if (early := self.next_answer(float(rest))) is not None:
                    raise failed(f"'{shown(early)}' after '{shown(self.said)}'")
            case "swap2":
                self._swap2(rest.split())
            case "stop":
                while line := self.peer.line(0.0):
                    if read_move(line.text.strip()) is not None:
                        return  # it has moved on its own
                self.say(rest)
                self.take("move 2.0")
                if self.taken > STOP_LIMIT:
                    raise failed(f"the move came {self.taken:.2f} s after {rest}")
            case _:
                self._look_step(word, rest)

    def _look_step(self, word: str, rest: str) -> None:
        """Take a step that checks earlier lines or the process, or acts on the process."""
        match word:
            case "ignore":  # lines with these first words
                self.chatter += rest.split()
            case "hear":
                while self.next_answer(float(rest)) is not None:
                    pass
            case "words":  # the only first words that lines may have
                for line in self.heard:
                    first = line.text.split(" ")[0].rstrip("\r")
                    is_move = read_move(first) is not None
                    if first not in rest.split() and not (is_move and "x,y" in rest):
                        raise failed(f"unexpected line '{shown(line.text)}'")
            case "offers":
                if not any(line.text.startswith(rest) for line in self.heard):
                    raise EngineFault(SKIP, f"no {rest}")
            case "whole":
                if any(line.chunks > 1 for line in self.heard):
                    raise failed("a line came in several pieces")
            case "stderr":
                self.peer.wait(1.0)
                sleep(0.05)
                if self.peer.stderr:
                    raise failed(f"'{shown(self.peer.stderr.decode('latin-1'))}' on stderr")
            case "exit":
                if self.peer.wait(float(rest)) is None:
                    raise failed(f"still running after {float(rest):g} s")
            case "memory":
                if (used := peak_working_set(self.peer.pid)) > int(rest):
                    raise failed(f"allocated {used // 1024} kB of {int(rest) // 1024}")
            case "files":
                if new := set(os.listdir(".")) - self._files:
                    raise failed(f"new files: {', '.join(sorted(new)[:3])}")
            case "name":
                name = PurePath(self.options.command[0]).name.lower()
                if not name.endswith(".exe") or name.startswith("python"):
                    raise EngineFault(SKIP, "only programs for Windows are looked up by their name")
                if not name.startswith(rest):
                    raise failed(f"{name} does not begin with {rest}")
            case "wait":
                sleep(float(rest))
            case "suspend" | "resume":
                self.peer.suspend(resumes=word == "resume")
            case "interrupt":
                os.killpg(self.peer.pid, signal.SIGINT)
            case "close_input":
                self.peer.write(None)
            case _:
                raise ValueError(f"{word!r} is not a step")

    def _move(self, timeout: float) -> None:
        """Expect a legal move and put it on the board."""
        began = perf_counter()
        answer = self.answer(timeout)
        self.taken = perf_counter() - began
        cell = read_move(answer)
        if cell is None:
            raise failed(f"'{shown(answer)}' instead of a move")
        if not (cell[0] < self.size and cell[1] < self.size):
            raise failed(f"the move {answer} is off the board")
        if cell in self.stones:
            raise failed(f"the move {answer} is on an occupied cell")
        self.stones[cell] = 1
        self.own = answer

    def _swap2(self, stones: list[str]) -> None:
        """Send 0, 3 or 5 stones of a swap2 opening; expect the right number of stones, or SWAP."""
        self.say("SWAP2BOARD", *stones, "DONE")
        answer = self.answer(self.options.patience + self.options.turn)
        words = answer.split(" ")
        cells = [read_move(word) for word in (*words, *stones)]
        is_legal = None not in cells and len(set(cells)) == len(cells)
        counts = SWAP2_STONES[len(stones)]
        if not (stones and answer == "SWAP") and (len(words) not in counts or not is_legal):
            raise failed(f"'{shown(answer)}' with {len(stones)} stones")


def failed(finding: str) -> EngineFault:
    """Return the error for a violation of the protocol."""
    return EngineFault(FAIL, finding)


def is_refusal(text: str) -> bool:
    """Return whether a line is an ERROR or UNKNOWN."""
    return text.split(" ")[0].upper() in ("ERROR", "UNKNOWN")


def read_move(text: str) -> Coordinates | None:
    """Return the cell of a digits-only ``x,y``, or None."""
    found = re.fullmatch(r"([0-9]{1,3}),([0-9]{1,3})", text)
    return (int(found[1]), int(found[2])) if found else None
