"""What the doctor says to a program, and what it says of one: ``python -m tests.golden.dialogues``.

The program is a model in this process that answers as it should, on a clock that moves only when
the doctor waits. A check is recorded with the lines that it sends; then again with one answer of
the program changed: the numbers of the answers and their faults, by the grade that these get, in
which ``it`` is what was said. At the end stand commands, which are read back: the second answer of
each of their programs has the fault.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.arena.process import TimedLine
from pbrain_engine.doctor import checks, exam
from pbrain_engine.doctor.checks import CHECKS, Check
from pbrain_engine.doctor.exam import Options
from tests.golden import texts
from tests.golden.records import Record, numoku, session

LATENCY = 0.01  # seconds that the model takes for an answer, beside a move
FAULTS = (
    "silent", "slow", "stays", "dead", "nonsense", "stone", "outside", "twice", "pieces", "stderr",
    "info",
)  # fmt: skip
MOST_ANSWERS = 3  # of which each is changed
USUAL = {
    "silent": "no answer within 5.3 s", "dead": "the program has ended (status 3)",
    "nonsense": "it instead of a move", "twice": "it instead of a move",
    "stone": "the move 0,0 is on an occupied cell", "outside": "the move 15,0 is off the board",
}  # fmt: skip
BEGIN = r"'START 15\n' 'INFO timeout_turn 300\nINFO timeout_match 1000000\n'"
SAID = re.compile(r"'(FOO\\x1b 1|SUGGEST 1,1|INFO DEPTH 3|\d+,\d+)'")  # by faults
WINS = ("6,7", "5,7", "5,4")  # moves of the tests of entry, where they are free
OPTIONS = Options(["pbrain-model.exe"], turn=0.3, patience=5.0)


ANSWERS = (  # to lines that begin so; ``?`` stands for a move, and ``!`` for one that comes now
    (r"START(?! ([5-9]|1\d|20)\b)", "ERROR sizes up to 20"),
    ("(RECT|RE)?START", "OK"),
    ("ABOUT", 'name="model"'),
    ("(YX)?STOP|INFO TIMEOUT_TURN 0$", "!"),
    ("YXSHOWINFO", "MESSAGE INFO MAX_THREAD_NUM 2"),
    ("YXSHOWFORBID", "FORBID 0807."),
    ("YXNBEST|BEGIN$", "?"),
    ("$|INFO|YXBLOCK|YXHASHCLEAR|END", ""),
    ("", "UNKNOWN command"),
)


class Model:
    """Plays on the first free cell of the second row, and answers what the protocol asks."""

    def __init__(self) -> None:
        self.size = 0
        self.stones: set[str] = set()
        self.reading: list[str] | None = None  # the lines of a position
        self.plays = True
        self.turn, self.left = 5.0, 1e9  # seconds
        self.is_thinking = False

    def answers(self, line: str) -> list[str]:
        """Return what is said to a line."""
        line = " ".join(line.upper().split())
        word, *rest = line.split(" ")
        if self.reading is not None:
            return self.position(word)
        said = next(said for pattern, said in ANSWERS if re.match(pattern, line))
        match word, rest:
            case (("BOARD" | "YXBOARD" | "SWAP2BOARD"), _):
                self.reading, self.plays, self.swaps = [], word == "BOARD", word == "SWAP2BOARD"
                return [said for stone in rest for said in self.position(stone)]
            case "START", [size, *_] if said == "OK":
                self.size, self.stones = int(size), set()
            case (("RECTSTART" | "RESTART"), _):
                self.stones = set()
            case "INFO", ["TIMEOUT_TURN", number] if number.isdigit():
                self.turn = int(number) / 1000
            case "INFO", ["TIME_LEFT", number]:
                self.left = max(int(number), 0) / 1000
            case "BEGIN", _ if not self.size:
                return ["ERROR no board"]
            case "TURN", [move] if self.takes(move):
                self.stones.add(move)
                return ["?"]
            case "TAKEBACK", [move] if move in self.stones:
                self.stones.discard(move)
                return ["OK"]
        return [said] if said and (said != "!" or self.is_thinking) else []

    def takes(self, move: str) -> bool:
        x, _, y = move.partition(",")
        on_board = x.isdigit() and y.isdigit() and int(x) < self.size and int(y) < self.size
        return on_board and move not in self.stones

    def position(self, word: str) -> list[str]:
        assert self.reading is not None
        if word != "DONE":
            self.reading.append(word)
            return []
        cells, self.reading = [stone.split(",") for stone in self.reading], None
        if self.swaps:
            stones = len(cells)
            return ["7,7 8,8 10,6"] if not stones else ["SWAP"] if stones == 3 else ["5,5"]
        self.stones = {",".join(cell[:2]) for cell in cells}
        is_full = len(self.stones) == self.size**2
        return ["ERROR full" if is_full else "?"] if self.plays else []

    def move(self) -> str:
        cells = (f"{x},{y}" for y in (*range(1, self.size), 0) for x in range(self.size))
        wins = WINS if len(self.stones) >= 8 and self.size == 15 else ()
        move = next(cell for cell in (*wins, *cells) if cell not in self.stones)
        self.stones.add(move)
        return move


class Clock:
    """Time that passes when somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class ModelPeer:
    """The model in place of a process, with one of its answers changed."""

    def __init__(self, clock: Clock, fault: str, number: int, sent: list[str]) -> None:
        self.clock, self.fault, self.number, self.sent = clock, fault, number, sent
        self.model, self.pid, self.stderr = Model(), 1, b""
        self.queue: deque[TimedLine] = deque()
        self.said = 0
        self.ends: float | None = None  # when the process has ended
        self.status: int | None = None
        self.rest = b""
        self.process = SimpleNamespace(poll=self.poll)

    def close(self, grace: float) -> None:
        assert not grace

    def poll(self) -> int | None:
        return self.status if self.ends is not None and self.ends <= self.clock.now else None

    def send(self, *lines: str, end: str) -> None:
        data = "".join(line + end for line in lines).encode("latin-1")
        text = repr(data.decode("latin-1"))
        self.sent.append(text if len(text) < 600 else f"{text[:40]}... {len(text)}")
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if self.ends is None:
                self.take(line.decode("latin-1"))

    def take(self, line: str) -> None:
        for answer in self.model.answers(line):
            delay, thinks = LATENCY, answer == "?" and self.model.turn >= 10
            if answer == "?":
                answer = self.model.move()
                delay = min(0.8 * self.model.turn, self.model.left / 2)
            if answer == "!":  # the move comes now
                self.model.is_thinking = False
                self.move_within(LATENCY)
                continue
            self.model.is_thinking = self.model.is_thinking or thinks
            self.say(answer, delay)
        if self.model.is_thinking and line.startswith("INFO timeout_turn") and self.model.turn < 10:
            self.move_within(self.model.turn)
        if line.strip() == "END":
            self.end(0)

    def move_within(self, seconds: float) -> None:
        """Let what is thought about be said in this time."""
        if self.queue:
            last = self.queue.pop()
            self.queue.append(last._replace(time=min(last.time, self.clock.now + seconds)))

    def end(self, status: int) -> None:
        if status == 0 and self.fault == "stays":
            return
        self.ends, self.status = self.clock.now + LATENCY, status

    def say(self, text: str, delay: float) -> None:
        self.said += 1
        if self.said == self.number:
            match self.fault:
                case "silent":
                    return
                case "slow":
                    delay += 0.6
                case "dead":
                    return self.end(3)
                case "nonsense":
                    text = "FOO\x1b 1"
                case "stone":
                    text = next(iter(sorted(self.model.stones)), "0,0")
                case "outside":
                    text = f"{self.model.size},0"
                case "twice":
                    self.queue.append(TimedLine("SUGGEST 1,1", self.clock.now + delay, 1))
                case "stderr":
                    self.stderr = b"warning\n"
        pieces = 2 if self.said == self.number and self.fault == "pieces" else 1
        self.queue.append(TimedLine(text, self.clock.now + delay, pieces))
        if self.said == self.number and self.fault == "info":
            self.queue.append(TimedLine("INFO DEPTH 3", self.clock.now + delay + LATENCY, 1))

    def line(self, timeout: float) -> TimedLine | None:
        if self.queue and self.queue[0].time <= self.clock.now + timeout:
            line = self.queue.popleft()
            self.clock.now = max(self.clock.now, line.time)
            return line
        ends = self.ends if self.ends is not None else self.clock.now + timeout
        self.clock.now = max(self.clock.now, min(self.clock.now + timeout, ends))
        return None

    def lines(self, quiet: float) -> list[TimedLine]:
        return list(iter(lambda: self.line(quiet), None))

    def wait(self, timeout: float) -> int | None:
        until = self.clock.now + timeout
        if self.ends is None or self.ends > until:
            self.clock.now = until
            return None
        self.clock.now = max(self.clock.now, self.ends)
        return self.status

    def write(self, data: None) -> None:
        self.sent.append("end of input")
        if self.ends is None:
            self.end(0)

    def suspend(self, resumes: bool) -> None:
        self.sent.append("resume" if resumes else "suspend")


def examine(
    make: Callable[[], Any], fault: str = "", number: int = 0, last: int = 1
) -> tuple[Any, list[str], int]:
    """Return what is said of the model, what was sent to it, and how much it said.

    The fault is that of the first processes, up to the ``last``.
    """
    clock, sent, peers = Clock(), list[str](), list[ModelPeer]()

    def peer(*_: Any, **__: Any) -> ModelPeer:
        peers.append(ModelPeer(clock, fault, number if len(peers) < last else 0, sent))
        return peers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exam, "EngineProcess", peer)
        patch.setattr(exam.os, "killpg", lambda pid, number: sent.append(number.name))
        for module in (exam, checks):
            patch.setattr(module, "perf_counter", clock.read)
        patch.setattr(exam, "sleep", clock.sleep)
        patch.setattr(exam, "peak_working_set", lambda pid: 104_857_600 + (fault == "stone"))
        return make(), sent, peers[0].said if peers else 0


def graded(check: Check) -> str:
    found = checks.run_check(check, OPTIONS)
    return f"{found.grade} {found.finding}".strip()


@Record("dialogues")
def dialogues(record: str) -> str:
    """Return the record of all checks, and of the commands of another one."""
    lines, clients = list[str](), set[str]()
    for check in CHECKS:
        examined = partial(graded, check)
        grade, sent, number_of_answers = examine(examined)
        lines.append(f"{check.client}: {check.title} ({check.harm}; {check.source}): {grade}")
        lines.append(f"  {' '.join(sent)}".replace(BEGIN, "begin").rstrip())
        ends = {1, number_of_answers}
        if check.client in clients and sent[:1] and sent[0].startswith("'START 15"):
            ends.discard(1)  # what is said of a wrong start is the same for all
        clients.add(check.client)
        noticed = list[str]()
        is_short = number_of_answers <= MOST_ANSWERS
        found: dict[str, dict[int, list[str]]] = {}  # the faults of answers by what is said
        for number in range(1, number_of_answers + 1) if is_short else ends:
            for fault in FAULTS if number in ends else ("nonsense", "stone"):
                changed, _, _ = examine(examined, fault, number)
                if changed != grade:
                    changed = SAID.sub("it", changed)
                    usual = changed == f"fail {USUAL.get(fault)}"
                    answers = found.setdefault("usual" if usual else changed, {})
                    answers.setdefault(number, []).append(fault)
        for changed, answers in found.items():
            faults = (f"{number} {' '.join(each)}" for number, each in answers.items())
            noticed.append(f"  {', '.join(faults)}: {changed}")
        lines += texts.joined(noticed, "  ")

    def said(words: str, fault: str) -> str:
        return examine(lambda: numoku(words), fault.strip(), 2, 1000)[0]

    return "\n".join([*lines, session(record, {}, said)])
