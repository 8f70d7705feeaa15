"""END and the end of the input wait behind other commands: no answer is lost.

A script on stdin is read in one go, so END is known long before the moves are found. The reader
then watches whether the main thread still works; only one that is stuck is cut short.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from _queue import Empty
from types import SimpleNamespace
from typing import Any

import pytest

from pbrain_engine.engine import pacing
from pbrain_engine.protocol import loop
from tests.programs import PROGRAM

LONGEST = 30.0  # seconds; generous, for a loaded machine
AT_ONCE = b"INFO timeout_turn 0\nSTART 15\nBEGIN\n"


def answers(*pieces: bytes | float) -> list[str]:
    """Write pieces, with pauses where there are numbers, and return the answers at the end."""
    with subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for piece in pieces:
            if isinstance(piece, bytes):
                process.stdin.write(piece)
                process.stdin.flush()
            else:
                time.sleep(piece)
        output, _ = process.communicate(timeout=LONGEST)
    assert process.returncode == 0
    lines = output.decode("ascii").splitlines()
    return [line for line in lines if not line.startswith(("MESSAGE ", "DEBUG "))]


def are_ok_and_moves(lines: list[str], moves: int) -> bool:
    return lines[:1] == ["OK"] and len(lines) == 1 + moves and all("," in m for m in lines[1:])


@pytest.mark.parametrize("tries", [2, pytest.param(1_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("end", [b"END\n", b""], ids=["END", "EOF"])
def test_a_move_is_not_lost_to_an_end_that_comes_at_once_or_a_little_later(end, tries):
    chance = random.Random(4)
    for _ in range(tries):
        assert are_ok_and_moves(answers(AT_ONCE + end), 1)
        pauses = [chance.choice((0.0, chance.uniform(0, 0.2))) for _ in range(2)]
        said = answers(AT_ONCE, pauses[0], b"TURN 0,0\n", pauses[1], end)
        assert are_ok_and_moves(said, 2), (pauses, said)


@pytest.mark.skipif(os.name == "nt", reason="pipes always block there")
def test_an_input_that_does_not_block_has_not_ended_where_it_is_empty():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with (
        subprocess.Popen(PROGRAM, stdin=reading, stdout=subprocess.PIPE) as process,
        open(writing, "wb", buffering=0) as stream,
    ):
        os.close(reading)
        for line in (AT_ONCE, b"TURN 0,0\n", b"END\n"):
            time.sleep(0.3)
            stream.write(line)
        output, _ = process.communicate(timeout=LONGEST)
    lines = output.decode("ascii").splitlines()
    assert are_ok_and_moves([x for x in lines if not x.startswith(("MESSAGE ", "DEBUG "))], 2)


def test_a_client_that_reads_no_more_ends_the_program():
    with subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.close()
        process.stdin.write(b"ABOUT\n")
        process.stdin.flush()
        try:
            assert process.wait(LONGEST) == 0
        finally:
            process.kill()


def test_a_client_that_reads_slowly_gets_every_line():
    with subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"ABOUT\n" * 2_000 + AT_ONCE + b"END\n")  # more than a pipe holds
        process.stdin.close()
        lines = [process.stdout.readline()]
        time.sleep(0.25)
        lines += process.stdout.read().splitlines()
    assert len(lines) == 2_002
    assert b"," in lines[-1] and lines[-2] == b"OK"


@pytest.mark.parametrize("has_result", [False, True])
@pytest.mark.parametrize("commands", [1, loop.FLOOD, loop.FLOOD + 1, 1_000])
def test_a_move_that_is_due_passes_a_flood_of_commands_but_not_a_few(
    monkeypatch, commands, has_result
):
    talk, handled = loop.Loop(lambda memory: SimpleNamespace()), list[object]()
    task = SimpleNamespace(answered=False, deadline=0, read_at=0, stop=lambda: None)
    talk.session.task = task  # type: ignore[assignment]
    monkeypatch.setattr(loop, "Task", SimpleNamespace)
    monkeypatch.setattr(loop, "log", lambda mark, text: None)
    monkeypatch.setattr(talk, "_answer_now", lambda task: handled.append("watchdog"))
    monkeypatch.setattr(talk, "_on_search", lambda task, outcome: handled.append("result"))
    monkeypatch.setattr(talk, "_on_command", lambda name, read_at: handled.append(read_at))
    for number in range(commands):
        talk._events.put(("ABOUT", number))
    if has_result:
        talk._events.put((task, None))
    talk._handle_next()
    is_flood = commands + has_result > loop.FLOOD
    assert handled == [(("result" if has_result else "watchdog") if is_flood else 0)]
    task.answered = True
    while len(handled) < commands + is_flood:
        talk._handle_next()
    assert handled[is_flood:] == [*range(commands)]


class SilentQueue:
    """Events that do not come; whoever waits for them wakes ``late`` seconds after its moment."""

    def __init__(self, late: float) -> None:
        self.now, self.late = 0.0, late

    def qsize(self) -> int:
        return 0

    def get(self, timeout: float) -> Any:
        self.now += timeout + self.late
        raise Empty


@pytest.mark.parametrize(
    ("late", "second"), [(0.0, 0.1), (pacing.IDLE_LAG, 0.1), (0.034, 0.07), (9.0, 0.05)]
)
def test_where_the_main_thread_wakes_late_it_waits_less_the_next_time(monkeypatch, late, second):
    monkeypatch.setattr(loop, "LAG", pacing.Lag())
    talk, events = loop.Loop(lambda memory: SimpleNamespace()), SilentQueue(late)
    monkeypatch.setattr(talk, "_events", events)
    monkeypatch.setattr(talk, "_answer_now", lambda task: woken.append(events.now - events.late))
    monkeypatch.setattr(loop, "perf_counter", lambda: events.now)
    monkeypatch.setattr(loop, "log", lambda mark, text: None)
    woken: list[float] = []
    for read_at in (0.0, 100.0):
        events.now = read_at
        talk.session.task = SimpleNamespace(
            answered=False, deadline=read_at + 0.1, read_at=read_at, stop=lambda: None
        )
        talk._handle_next()
    assert woken == pytest.approx([0.1 + loop.LATE, 100 + second + loop.LATE])
