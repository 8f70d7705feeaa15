"""What Piskvork does to a program in a tournament, beyond the dialogue of one game.

It reads the peak working set of the process after each move, pauses a game by END and goes on
with a new process, takes the name from the file, and offers 20x20 where a refusal names it.
"""

from __future__ import annotations

from pathlib import PurePath

from ..native.load.footprint import peak_working_set
from .exam import Blemish, Exam, NotSupported, Violation, read_move
from .peer import WINDOWS, Peer
from .registry import ANY, CHECKS, PISKVORK, check

SOURCE = "Piskvork source/protocol.cpp"
GAME = "Piskvork source/game.cpp"
MEMORY = 100 * 1024 * 1024  # the limit that is tried; tournaments allow 350 MB
MOVES = 5  # played before the memory is read for the last time: the last of them may win
LAST_WORD = 0.7  # seconds between END and the kill


@check(PISKVORK, "keeps its peak working set in the limit", "every tournament game lost", GAME)
def piskvork_memory(exam: Exam) -> None:
    """Read the memory after each move, shared pages and all."""
    exam.start(f"max_memory {MEMORY}")
    for _ in range(MOVES):
        exam.exchange()
        used = peak_working_set(exam.peer.process.pid)
        if used > MEMORY:
            raise Violation(f"allocated {used // 1024} kB of {MEMORY // 1024}")


if not WINDOWS:  # no other system counts a working set, nor does the manager run there
    CHECKS.pop()


@check(PISKVORK, "goes on after a pause", "the game cannot be continued", SOURCE)
def piskvork_pause(exam: Exam) -> None:
    """END it in the middle of a game, and give the position to a new process."""
    exam.start()
    stones = []
    for _ in range(2):
        x, y = exam.free()
        exam.turn((x, y))
        own = exam.expect_move()
        stones += [f"{x},{y},2", f"{own[0]},{own[1]},1"]
    exam.say("END")
    exam.peer.close_stdin()
    exam.expect_exit(LAST_WORD)
    with Peer(exam.options.command, patience=exam.options.patience) as peer:
        again = Exam(peer, exam.options)
        again.start()
        x, y = exam.free()
        again.board(*stones, f"{x},{y},2")
        again.expect_move()


@check(PISKVORK, "names 20 where it refuses a size", "the user has to guess a size", SOURCE)
def piskvork_offer(exam: Exam) -> None:
    """Ask for a board that nobody has; a refusal with a 20 makes the manager offer that."""
    exam.say("START 1000")
    answer = exam.expect_refusal("START 1000", words=("ERROR",))
    if "20" not in answer:
        raise Blemish("the text does not name 20, which the manager would offer")


@check(PISKVORK, "has a file name of the new protocol", "the old file protocol is used", SOURCE)
def piskvork_name(exam: Exam) -> None:
    """Look at the name, as the manager does before it starts the program."""
    name = PurePath(exam.options.command[0]).name.lower()
    if not name.endswith(".exe") or name.startswith("python"):
        raise NotSupported("only programs for Windows are looked up by their name")
    if not name.startswith("pbrain-"):
        raise Violation(f"{name} does not begin with pbrain-")


@check(ANY, "answers what was asked before END", "the last move of a script is lost", SOURCE)
def end_waits(exam: Exam) -> None:
    """Write a whole dialogue at once, as a script does."""
    exam.say("INFO timeout_turn 0", f"START {exam.size}", "BEGIN", "END")
    exam.expect_ok()
    exam.peer.wait(exam.options.patience)
    lines = [line.text.strip() for line in exam.peer.lines(0.1)]
    if not any(read_move(line) for line in lines):
        raise Blemish("BEGIN is not answered when END is already there")
