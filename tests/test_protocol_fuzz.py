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
from .oracle.rules import Board, winners

SIZES = st.integers(5, 9)
COORDINATES = st.integers(-1, 9)
FIELDS = st.integers(0, 4)
WORDS = ("MESSAGE", "DEBUG", "ERROR", "UNKNOWN", "FORBID", "OK", "SWAP", "INFO", 'name="Numoku",')


class Conversation(RuleBasedStateMachine):
    """A manager that says anything; the model knows every stone's owner and who is to move.

    It follows the rules of the protocol alone, and never looks at the program's own record.
    """

    def __init__(self) -> None:
        super().__init__()
        self.engines: list[FakeEngine] = []
        self.session = Session(self.make)  # type: ignore[arg-type]
        self.buffer, self.reader = LineBuffer(), Reader()
        self.size = 20
        self.taken: dict[tuple[int, int], Side] = {}  # in the order of the stones
        self.turn = Side.BLACK

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
        self.put(x, y)

    def put(self, x: int, y: int) -> None:
        """Take a stone of the side to move into the model."""
        self.taken[x, y] = self.turn
        self.turn = self.turn.opponent

    def is_over(self) -> bool:
        """Say whether a row on the model's board wins."""
        rule = self.session.settings.rule
        board = Board(self.size, self.size, rule.name.lower())
        board.cells.update((cell, int(side)) for cell, side in self.taken.items())
        return bool(winners(board))

    @initialize(size=SIZES)
    def begin_with_start(self, size: int) -> None:
        self.start(size)

    @rule(size=SIZES)
    def start(self, size: int) -> None:
        assert self.say(f"START {size}\n".encode()) == ["OK"]
        self.size, self.taken, self.turn = size, {}, Side.BLACK

    @rule()
    def restart(self) -> None:
        assert self.say(b"RESTART\r\n") == ["OK"]
        self.taken, self.turn = {}, Side.BLACK

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
        self.put(x, y)
        if len(self.taken) == self.size**2:
            assert heard == ["ERROR board full"]
        else:
            self.move(heard)

    @precondition(lambda self: self.taken)
    @rule()
    def take_back(self) -> None:
        x, y = next(reversed(self.taken))
        assert self.say(f"TAKEBACK {x},{y}\n".encode()) == ["OK"]
        self.turn = self.taken.pop((x, y))  # whose stone it was has the move again

    @rule(stones=st.lists(st.tuples(COORDINATES, COORDINATES, st.integers(1, 2)), max_size=12))
    def board(self, stones: list[tuple[int, int, int]]) -> None:
        lines = [f"{x},{y},{field}" for x, y, field in stones]
        heard = self.say("\n".join(["BOARD", *lines, "DONE", ""]).encode())
        # The first listed stone is black's; field 1 is the side to move, which is ours.
        own = Side.BLACK if not stones or stones[0][2] == 1 else Side.WHITE
        self.taken, self.turn = {}, own
        for x, y, field in stones:
            if 0 <= x < self.size and 0 <= y < self.size and (x, y) not in self.taken:
                self.taken[x, y] = own if field == 1 else own.opponent
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
        if record is None or self.session._keeper.follower is None:
            return
        game = self.engines[-1].game
        assert list(record.stones.items()) == list(self.taken.items())
        assert {tuple(cell): side for cell, side in game.stones.items()} == self.taken
        assert game.to_move == record.to_move == self.turn


Conversation.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
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
