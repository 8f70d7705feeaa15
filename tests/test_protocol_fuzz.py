"""Random conversations: against a model without a process, and against the program."""

from __future__ import annotations

import sys
from time import perf_counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pbrain_engine.doctor import fuzz
from pbrain_engine.position.rules import Side
from pbrain_engine.protocol.commandline import join_command
from pbrain_engine.protocol.commands import Reader
from pbrain_engine.protocol.lines import LineBuffer
from pbrain_engine.protocol.session import Session

from .fake_engine import FakeEngine

SIZES = st.integers(5, 9)
COORDINATES = st.integers(-1, 9)
FIELDS = st.integers(0, 4)
WORDS = ("MESSAGE", "DEBUG", "ERROR", "UNKNOWN", "FORBID", "OK", "SWAP", "INFO", 'name="Numoku",')


class Conversation(RuleBasedStateMachine):
    """A manager that says anything; the model is a set of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.engines: list[FakeEngine] = []
        self.session = Session(self.make)  # type: ignore[arg-type]
        self.buffer, self.reader = LineBuffer(), Reader()
        self.size = 20
        self.taken: list[tuple[int, int]] = []

    def make(self, memory: int) -> FakeEngine:
        self.engines.append(FakeEngine(memory))
        return self.engines[-1]

    def say(self, data: bytes) -> list[str]:
        """Send bytes and return the replies, each search stopped at once."""
        heard: list[str] = []
        for line in self.buffer.feed(data):
            for command in self.reader.read(line):
                response = self.session.handle(command, perf_counter())
                heard += response.lines
                if response.task is not None:
                    response.task.stop()
                    heard += self.session.conclude(response.task, response.task.run())
        for line in heard:
            assert line.isascii() and line.isprintable()
            word = line.split(" ")[0]
            assert word in WORDS or all(part.isdigit() for part in word.split(",")), line
        return [line for line in heard if not line.startswith("MESSAGE max_memory")]

    def move(self, heard: list[str]) -> None:
        """Take a move that we have answered into the model."""
        (answer,) = heard
        x, y = map(int, answer.split(","))
        assert (x, y) not in self.taken
        assert 0 <= x < self.size and 0 <= y < self.size
        self.taken.append((x, y))

    def is_over(self) -> bool:
        record = self.session.record
        return record is not None and record.is_won(self.session.settings.rule)

    @initialize(size=SIZES)
    def begin_with_start(self, size: int) -> None:
        self.start(size)

    @rule(size=SIZES)
    def start(self, size: int) -> None:
        assert self.say(f"START {size}\n".encode()) == ["OK"]
        self.size, self.taken = size, []

    @rule()
    def restart(self) -> None:
        assert self.say(b"RESTART\r\n") == ["OK"]
        self.taken = []

    @rule()
    def begin(self) -> None:
        heard = self.say(b"BEGIN\n")
        if self.taken:
            assert heard[0].startswith("ERROR")
        else:
            self.move(heard)

    @rule(x=COORDINATES, y=COORDINATES)
    def turn(self, x: int, y: int) -> None:
        was_over = self.is_over()
        heard = self.say(f"TURN {x},{y}\n".encode())
        legal = 0 <= x < self.size and 0 <= y < self.size and (x, y) not in self.taken
        if not legal or was_over:
            assert len(heard) == 1 and heard[0].startswith("ERROR")
            return
        self.taken.append((x, y))
        if len(self.taken) == self.size**2:
            assert heard == ["ERROR board full"]
        else:
            self.move(heard)

    @precondition(lambda self: self.taken)
    @rule()
    def take_back(self) -> None:
        x, y = self.taken[-1]
        assert self.say(f"TAKEBACK {x},{y}\n".encode()) == ["OK"]
        self.taken.pop()

    @rule(stones=st.lists(st.tuples(COORDINATES, COORDINATES, st.integers(1, 2)), max_size=12))
    def board(self, stones: list[tuple[int, int, int]]) -> None:
        lines = [f"{x},{y},{field}" for x, y, field in stones]
        heard = self.say("\n".join(["BOARD", *lines, "DONE", ""]).encode())
        self.taken = []
        for x, y, _ in stones:
            if 0 <= x < self.size and 0 <= y < self.size and (x, y) not in self.taken:
                self.taken.append((x, y))
        assert len(heard) == 1 + (len(self.taken) < len(stones))
        self.move(heard[-1:])

    @rule(
        key=st.sampled_from(["rule", "timeout_turn", "time_left", "max_memory", "thread_num", "x"]),
        value=st.integers(-10, 2**40),
    )
    def info(self, key: str, value: int) -> None:
        assert self.say(f"INFO {key} {value}\n".encode()) == []

    @rule(seed=st.integers(0, 10**6))
    def nonsense(self, seed: int) -> None:
        """Anything may follow, so the model begins anew."""
        for _ in range(10):
            self.say(fuzz.Lines(seed).next())
        self.say(b"\nDONE\nYXPROBE\n")
        self.say(b"INFO row_first 0\nINFO rule 0\n")
        self.start(7)

    @invariant()
    def engine_and_record_agree(self) -> None:
        record = self.session.record
        if record is None or not self.session._keeper.is_in_step:
            return
        game = self.engines[-1].game
        assert {tuple(cell): side for cell, side in game.stones.items()} == record.stones
        assert game.to_move == record.to_move
        assert [at for at in record.stones if record.stones[at] is not Side.WALL] == self.taken


Conversation.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestConversation = Conversation.TestCase


def test_random_lines_do_not_break_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--lines", "5000", "--seed", "11"]) == 0
    assert "5000 lines" in capsys.readouterr().out


@pytest.mark.long
def test_a_million_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--lines", "1000000", "--seed", "5"]) == 0


def test_the_guide_grows_the_corpus() -> None:
    lines, guide = fuzz.Lines(2), fuzz.Guide()
    guide._session = Session(lambda memory: FakeEngine(memory))  # type: ignore[arg-type,return-value]
    before = len(lines.corpus)
    assert sum(len(batch) for batch in fuzz.batches(lines, 300, guide)) == 300
    assert len(lines.corpus) > before + 5


def test_a_broken_program_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    broken = join_command([sys.executable, "-c", "import sys; sys.exit(3)"])
    assert fuzz.main(["--lines", "100", broken]) == 1
    assert "ended (3)" in capsys.readouterr().out
    assert fuzz.main(["--lines", "100", "/no/such/program"]) == 2


def test_lines_never_end_the_program_or_fill_the_machine() -> None:
    assert not fuzz.is_harmless(b"end")
    assert not fuzz.is_harmless(b"ABOUT\rEND x")
    assert not fuzz.is_harmless(b"INFO max_memory 99999999999")
    assert fuzz.is_harmless(b"ENDLESS")
    assert fuzz.Lines(4).next() == fuzz.Lines(4).next()
