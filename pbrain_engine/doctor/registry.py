"""The list of checks, and what several of them do."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, sleep

from .exam import Check, Exam, NotSupported, Violation, read_move, shown

GOMOCUP = "Gomocup judge"
PISKVORK = "Piskvork 9"
CLI = "c-gomoku-cli"
QPISKVORK = "qpiskvork"
YIXIN = "Yixin-Board"
GOMOCALC = "gomocalc"
ANY = "any manager"
CLIENTS = (GOMOCUP, PISKVORK, CLI, QPISKVORK, YIXIN, GOMOCALC, ANY)  # as the table lists them

CHECKS: list[Check] = []
STOP_LIMIT = 0.5  # seconds for an answer to a stop

Examine = Callable[[Exam], None]


def check(client: str, title: str, harm: str, source: str) -> Callable[[Examine], Examine]:
    """Enter a function in the list of checks."""

    def enter(examine: Examine) -> Examine:
        CHECKS.append(Check(client, title, harm, source, examine))
        return examine

    return enter


def decline(exam: Exam, what: str) -> str:
    """Return the answer to an optional command; a polite refusal ends the check."""
    answer = exam.answer()
    if answer.split(" ")[0].upper() in ("UNKNOWN", "ERROR"):
        raise NotSupported(f"{what}: {shown(answer)}")
    return answer


def think_long(exam: Exam) -> None:
    """Let the program think about a move for which it has a minute."""
    exam.start("timeout_turn 60000", "time_left 1000000")
    exam.board("7,7,2", "8,8,1", "4,10,2")
    sleep(0.3)


def expect_quick_move(exam: Exam, command: str) -> None:
    """Stop a long search and expect its move at once."""
    think_long(exam)
    early = exam.peer.line(0.0)
    while early is not None and read_move(early.text.strip()) is None:
        early = exam.peer.line(0.0)
    if early is not None:
        return  # it had decided by itself
    exam.say(command)
    began = perf_counter()
    exam.expect_move(timeout=2.0)
    taken = perf_counter() - began
    if taken > STOP_LIMIT:
        raise Violation(f"the move came {taken:.2f} s after {command}")
