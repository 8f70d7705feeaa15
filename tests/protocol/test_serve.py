"""The fault table: what goes wrong around an engine, against the real program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from time import perf_counter

import pytest

from pbrain_engine.arena.process import EngineProcess, TimedLine
from pbrain_engine.protocol import serve
from tests.build.wine import needs_windows_itself
from tests.programs import PROGRAM, run_program

pytestmark = pytest.mark.slow

ANSWER = 10.0  # seconds; generous, for a loaded machine


class Brain(EngineProcess):
    """The program under test, with checks."""

    def ask(self, *lines: str, timeout: float = ANSWER) -> str:
        self.send(*lines)
        return self.answer(timeout)

    def reply(self, timeout: float = ANSWER) -> TimedLine:
        """The next line that is no message."""
        while True:
            line = self.line(timeout)
            assert line is not None, f"no answer; {self.stderr!r}"
            assert line.chunks == 1
            if not line.text.startswith(("MESSAGE ", "DEBUG ")):
                return line

    def answer(self, timeout: float = ANSWER) -> str:
        return self.reply(timeout).text

    def start(self, size: int = 15, turn: int = 60) -> None:
        assert self.ask(f"START {size}", f"INFO timeout_turn {turn}") == "OK"

    def is_well(self) -> None:
        """A normal game still works, and nothing stands between."""
        assert self.ask("START 15", "INFO timeout_turn 50", "INFO rule 0") == "OK"
        assert is_move(self.ask("BOARD", "7,7,1", "7,8,2", "DONE"))
        assert self.lines() == []
        assert self.stderr == b""


def is_move(text: str) -> bool:
    x, comma, y = text.partition(",")
    return bool(comma) and x.isdigit() and y.isdigit()


@pytest.fixture
def brain() -> Iterator[Brain]:
    with closing(Brain(PROGRAM)) as peer:
        yield peer


@pytest.mark.skipif(os.name == "nt", reason="pipes close otherwise")
def test_a_manager_that_has_died_is_not_talked_to():
    read, write = os.pipe()
    with subprocess.Popen(
        PROGRAM, stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)
        os.close(read)
        process.stdin.write(b"START 15\nABOUT\n")
        process.stdin.flush()
        _, stderr = process.communicate(timeout=ANSWER)
        assert process.returncode == 0
        assert stderr == b""


def test_output_is_not_read_and_the_input_ends():
    read, write = os.pipe()
    blocked = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=write)
    os.close(write)
    blocked.stdin.write(b"ABOUT\n" * 4000)  # answers fill the pipe
    blocked.stdin.close()
    assert blocked.wait(ANSWER) == 0
    os.close(read)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("options", "greeting"), [([], b"usage: numoku "), (["--row-first"], serve.GREETING)]
)
def test_a_person_at_a_terminal_is_told_what_to_type(options, greeting):
    import pty

    ours, theirs = pty.openpty()
    with subprocess.Popen([*PROGRAM, *options], stdin=theirs, stdout=subprocess.PIPE) as process:
        os.write(ours, b"END\n")
        output, _ = process.communicate(timeout=ANSWER)
    os.close(theirs)
    os.close(ours)
    assert output.startswith(greeting)


@needs_windows_itself
def test_interrupts_are_left_to_the_manager(brain):
    brain.start()
    if sys.platform == "win32":
        brain.process.send_signal(signal.CTRL_BREAK_EVENT)
    else:
        os.killpg(brain.pid, signal.SIGINT)
    time.sleep(0.1)
    brain.is_well()


@pytest.mark.parametrize("memory", [1, 1_000_000, 30_000_000, 5_000_000_000_000])
def test_any_memory_limit_is_survived(brain, memory):
    brain.start()
    assert is_move(brain.ask("TURN 7,7"))
    assert is_move(brain.ask(f"INFO max_memory {memory}", "TURN 0,0"))
    brain.is_well()


@pytest.mark.skipif(sys.platform != "linux", reason="others limit it in other ways")
def test_an_address_space_that_is_too_small_is_said():
    shell = ["sh", "-c", 'ulimit -v 40000; exec "$0" "$@"', *PROGRAM]
    program = run_program(*shell, input="START 15\nABOUT\nTURN 7,7\nEND\n", timeout=ANSWER)
    said = program.stdout.splitlines()
    assert program.returncode == 0 and not any("internal" in line for line in said)
    answers = [line for line in said if not line.startswith(("DEBUG", "name="))]
    assert answers == ["ERROR memory is short"] * 2


@pytest.mark.timed
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_time_spent_suspended_is_not_counted(brain):
    brain.start(turn=100)
    brain.ask("BOARD", "7,7,2", "DONE")
    brain.suspend()
    time.sleep(0.05)  # it takes effect a little later
    brain.send("INFO time_left 100000", "TURN 0,0")
    time.sleep(0.5)
    brain.suspend(resumes=True)
    began = perf_counter()
    assert is_move(brain.answer())
    assert 0.03 < perf_counter() - began < 0.4
    brain.is_well()


@pytest.mark.skipif(os.name == "nt", reason="permissions")
def test_a_read_only_folder_with_an_odd_name(tmp_path):
    folder = tmp_path / "náš stroj 五子棋"
    folder.mkdir()
    folder.chmod(0o500)
    first, second = (Brain(PROGRAM, folder=str(folder)) for _ in range(2))
    with closing(first) as one, closing(second) as two:
        one.is_well()
        two.is_well()
        assert list(folder.iterdir()) == []
        one.send("END")
        assert one.wait(ANSWER) == 0


@pytest.mark.parametrize("words", [["--level", "v9"], ["--weights", "x.none"], ["--book", "x.db"]])
def test_an_engine_that_cannot_be_as_it_is_asked_for_does_not_start(words):
    done = run_program(*PROGRAM, *words, input="START 15\n", timeout=ANSWER)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pbrain-numoku: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("variables", [{"LANG": "C"}, {"PYTHONIOENCODING": "utf-16"},
                                       {"LC_ALL": "tr_TR.ISO-8859-9"}])  # fmt: skip
def test_the_locale_does_not_matter(variables):
    asked = "info timeout_turn 0\nstart 15\nbegin\nend\n"
    done = run_program(*PROGRAM, input=asked, env={**os.environ, **variables}, timeout=ANSWER)
    assert done.stdout.split()[:1] == ["OK"] and len(done.stdout.split()) == 2 and not done.stderr


def test_a_log_is_written_where_it_is_asked_for(tmp_path):
    log = tmp_path / "numoku.log"
    with closing(Brain([*PROGRAM, "--log", str(log)])) as peer:
        peer.is_well()
        peer.send("board", "7,7,1", "DONE", "END")
        assert peer.wait(ANSWER) == 0
    said = [line.split(" ", 2)[2] for line in log.read_text(encoding="utf-8").splitlines()]
    assert "> OK" in said and [line for line in said if line[0] == "<"][-4:] == [
        "< board",
        "< 7,7,1",
        "< DONE",
        "< END",
    ]  # as they came
