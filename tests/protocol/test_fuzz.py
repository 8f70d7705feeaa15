"""Random conversations: against a model without a process, and against the program."""

from __future__ import annotations

import sys

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lab import fuzz_protocol
from pbrain_engine.options import join_command
from pbrain_engine.position.rules import Side
from pbrain_engine.protocol.searches import Task
from tests.oracle.rules import Board, winners
from tests.protocol.test_session import Talk

pytestmark = pytest.mark.slow

SIZES = st.integers(5, 9)
COORDINATES = st.integers(-1, 9)
WORDS = ("MESSAGE", "DEBUG", "ERROR", "UNKNOWN", "FORBID", "OK", "SWAP", "INFO", 'name="Numoku",')


def stop_quietly(task: Task) -> None:
    task.emit = lambda line: None
    task.stop()


class Conversation(RuleBasedStateMachine):
    """A manager that says anything; the model knows every stone's owner and who is to move.

    It follows the rules of the protocol alone, and never looks at the program's own record.
    """

    def __init__(self) -> None:
        super().__init__()
        self.talk = Talk()
        self.session = self.talk.session
        self.size = 20
        self.taken: dict[tuple[int, int], Side] = {}  # in the order of the stones
        self.turn = Side.BLACK
        self.after: tuple[int, Side] | None = None  # stones of YXBOARD, and whose TURN then is
        self.row_first = False

    def say(self, data: bytes) -> list[str]:
        """Send bytes and return the replies, each search stopped at once."""
        heard = self.talk.send(data, stop_quietly)
        for line in heard:
            assert line.isascii() and line.isprintable()
            word = line.split(" ")[0]
            assert word in WORDS or all(part.isdigit() for part in word.split(",")), line
        return [line for line in heard if not line.startswith("MESSAGE max_memory")]

    def cell(self, x: int, y: int) -> str:
        """Return a cell as this client writes it now."""
        return f"{y},{x}" if self.row_first else f"{x},{y}"

    def is_free(self, x: int, y: int) -> bool:
        return 0 <= x < self.size and 0 <= y < self.size and (x, y) not in self.taken

    def move(self, heard: list[str]) -> None:
        """Take a move that we have answered into the model."""
        (answer,) = heard
        x, y = map(int, answer.split(","))
        x, y = (y, x) if self.row_first else (x, y)
        assert self.is_free(x, y)
        self.put(x, y)

    def put(self, x: int, y: int) -> None:
        """Take a stone of the side to move into the model."""
        self.taken[x, y] = self.turn
        self.turn = self.turn.opponent

    def is_over(self) -> bool:
        """Return whether a row on the model's board wins."""
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
        self.size, self.taken, self.turn, self.after = size, {}, Side.BLACK, None

    @rule()
    def restart(self) -> None:
        assert self.say(b"RESTART\r\n") == ["OK"]
        self.taken, self.turn, self.after = {}, Side.BLACK, None

    @rule()
    def begin(self) -> None:
        heard = self.say(b"BEGIN\n")
        if set(self.taken.values()) - {Side.WALL}:
            assert heard[0].startswith("ERROR")
        else:
            self.move(heard)

    @rule(x=COORDINATES, y=COORDINATES)
    def turn(self, x: int, y: int) -> None:
        was_over = self.is_over()
        heard = self.say(f"TURN {self.cell(x, y)}\n".encode())
        if not self.is_free(x, y) or was_over:
            assert len(heard) == 1 and heard[0].startswith("ERROR")
            return
        if self.after and self.after[0] == len(self.taken):
            self.turn = self.after[1]
        self.put(x, y)
        if len(self.taken) == self.size**2:
            assert heard == ["ERROR board full"]
        else:
            self.move(heard)

    @precondition(lambda self: self.taken)
    @rule()
    def take_back(self) -> None:
        x, y = next(reversed(self.taken))
        heard = self.say(f"TAKEBACK {self.cell(x, y)}\n".encode())
        if self.taken[x, y] is Side.WALL:
            assert heard[0].startswith("ERROR")
            return
        assert heard == ["OK"]
        self.turn = self.taken.pop((x, y))  # whose stone it was has the move again

    @precondition(lambda self: len(self.taken) > 1)
    @rule()
    def take_another_back(self) -> None:
        heard = self.say(f"TAKEBACK {self.cell(*next(iter(self.taken)))}\n".encode())
        assert heard[0].startswith("ERROR")

    @rule(x=COORDINATES, y=COORDINATES)
    def play(self, x: int, y: int) -> None:
        heard = self.say(f"PLAY {self.cell(x, y)}\n".encode())
        if self.is_free(x, y):
            assert heard == [self.cell(x, y)]
            self.put(x, y)
        else:
            assert heard[0].startswith("ERROR")

    @rule(
        stones=st.lists(st.tuples(COORDINATES, COORDINATES, st.integers(1, 3)), max_size=12),
        thinks=st.booleans(),
    )
    def board(self, stones: list[tuple[int, int, int]], thinks: bool) -> None:
        lines = [f"{self.cell(x, y)},{field}" for x, y, field in stones]
        word = "BOARD" if thinks else "YXBOARD"
        heard = self.say("\n".join([word, *lines, "DONE", ""]).encode())
        # The first listed stone is black's; field 1 is the side to move, which is ours.
        self.taken, sent = {}, dict[tuple[int, int], int]()
        for x, y, field in stones:
            if self.is_free(x, y):
                sent.setdefault((x, y), field)
        fields = [field for field in sent.values() if field < 3]
        own = self.turn = Side.WHITE if fields[:1] == [2] else Side.BLACK
        more = fields.count(1) - fields.count(2)
        is_odd = thinks and more == 1 and len(fields) == len(stones)
        if is_odd:  # no game is so with field 1 to move
            own, self.turn = Side.BLACK, Side.WHITE
        for cell, field in sent.items():
            self.taken[cell] = {1: own, 2: own.opponent, 3: Side.WALL}[field]
        self.after = None
        in_turn = ([1, 2] * len(fields))[-len(fields) :] if fields else []
        if not thinks and fields != in_turn:
            self.after = len(sent), own.opponent
        assert len(heard) == thinks + is_odd + (len(self.taken) < len(stones))
        if thinks:
            self.move(heard[-1:])

    @rule()
    def show_forbidden(self) -> None:
        heard = self.say(b"YXSHOWFORBID\n")
        cells = [(y, x) if self.row_first else (x, y) for x, y in self.session.game.forbidden()]
        assert heard == ["FORBID " + "".join(f"{x:02}{y:02}" for x, y in cells) + "."]

    @precondition(lambda self: len(self.taken) < self.size**2 - 2)
    @rule(x=SIZES, y=SIZES, count=st.integers(0, 3))
    def search_beside_blocked_cells(self, x: int, y: int, count: int) -> None:
        said = f"YXBLOCK {self.cell(x, y)} DONE\nYXNBEST {count}\nYXBLOCKRESET\n"
        heard = self.say(said.encode())
        assert heard[-1] != self.cell(x, y)
        self.move(heard[-1:])

    @rule(is_first=st.booleans())
    def order_cells(self, is_first: bool) -> None:
        assert self.say(f"INFO row_first {int(is_first)}\n".encode()) == []
        self.row_first = is_first

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
            self.say(fuzz_protocol.LineSource(seed).next())
        self.say(b"\nDONE\nYXPROBE\n")
        self.say(b"INFO row_first 0\nINFO rule 0\nYXBLOCKRESET\n")
        self.row_first = False
        self.start(7)

    @invariant()
    def it_has_the_game_that_was_talked_about(self) -> None:
        game = self.session.game
        if game is not None:
            stones = [(stone.move, stone.side) for stone in game.history]
            assert stones == list(self.taken.items())
            assert game.to_move == self.turn and game.check() == 0


Conversation.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestConversation = Conversation.TestCase


@pytest.mark.timed
def test_random_lines_do_not_break_the_program(capsys):
    assert fuzz_protocol.main(["--lines", "5000", "--seed", "11"]) == 0
    assert "5000 lines" in capsys.readouterr().out


def test_a_broken_program_is_found(capsys, monkeypatch):
    monkeypatch.setattr(fuzz_protocol, "HANG", 30.0)  # it starts late on a busy machine
    broken = join_command([sys.executable, "-c", "import sys; sys.exit(3)"])
    assert fuzz_protocol.main(["--lines", "100", broken]) == 1
    assert "ended (3)" in capsys.readouterr().out
    assert fuzz_protocol.main(["--lines", "100", "/no/such/program"]) == 2
