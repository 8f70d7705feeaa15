"""Reading commands: total, bounded, and blind to spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.protocol.commands import (
    MAX_LINE,
    TOO_LONG,
    Command,
    CommandReader,
    Info,
    LineBuffer,
    PlacedStone,
    Said,
    Unknown,
)


def read(*lines: str) -> list[Said]:
    reader = CommandReader()
    return [command for line in lines for command in reader.read(line)]


def board(name: str, *stones: tuple[int, int, int | None], bad: int = 0) -> Command:
    return Command(name, (), tuple(PlacedStone(*stone) for stone in stones), bad)


@pytest.mark.parametrize(
    "line, command",
    [
        ("START 15", Command("START", (15,))),
        ("start 15 15", Command("START", (15, 15))),
        ("RECTSTART 20,15", Command("RECTSTART", (20, 15))),
        ("RECTSTART 20, 15", Command("RECTSTART", (20, 15))),
        ("TURN 7,8", Command("TURN", (7, 8))),
        ("turn 7 , 8", Command("TURN", (7, 8))),
        ("Turn\t7,8", Command("TURN", (7, 8))),
        ("TURN -1,+8", Command("TURN", (-1, 8))),
        ("PLAY 1,2", Command("PLAY", (1, 2))),
        ("TAKEBACK 1,2", Command("TAKEBACK", (1, 2))),
        ("INFO", Info("", "")),
        ("INFO Rule 4", Info("rule", "4")),
        ("info folder C:\\Program Files\\x", Info("folder", "C:\\Program Files\\x")),
        ("INFO timeout_turn\t300", Info("timeout_turn", "300")),
        ("INFO\ttimeout_turn \t 300 ", Info("timeout_turn", "300")),
        ("INFO\v\ftime_left\f300", Info("time_left", "300")),
        ("TURN\v7,8", Command("TURN", (7, 8))),
        ("START \t 15\t15", Command("START", (15, 15))),
        ("BOARD\v7,7,1\fDONE", board("BOARD", (7, 7, 1))),
        ("BEGIN", Command("BEGIN")),
        ("end now", Command("END")),
        ("yxstop", Command("YXSTOP")),
        ("YXNBEST 3", Command("YXNBEST", (3,))),
        ("YXBALANCEONE -20", Command("YXBALANCEONE", (-20,))),
        ("BOARD DONE", board("BOARD")),
        ("YXBOARD 7,7,1 8,8,2 DONE", board("YXBOARD", (7, 7, 1), (8, 8, 2))),
        ("YXBLOCK 7,7 DONE", board("YXBLOCK", (7, 7, None))),
        ("SWAP2BOARD DONE", board("SWAP2BOARD")),
        ("OK", Unknown("OK")),
    ],
)
def test_a_line_is_a_command(line: str, command: Said) -> None:
    (found,) = read(line)
    assert type(found) is type(command)
    assert found == command


def test_a_body_is_bounded() -> None:
    reader = CommandReader()
    reader.read("BOARD")
    for _ in range(10_000):
        reader.read("7,7,1")
    (found,) = reader.read("DONE")
    assert isinstance(found, Command) and len(found.stones) < 5000


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_bytes_can_be_read(chunks: list[bytes]) -> None:
    buffer, reader = LineBuffer(), CommandReader()
    for chunk in [*chunks, b"\nDONE\nBEGIN\n"]:
        for line in buffer.feed(chunk):
            for command in reader.read(line):
                assert command is not None


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=6))
def test_lines_do_not_depend_on_the_chunks(data: bytes, cuts: list[int]) -> None:
    data += b"\n"
    whole = LineBuffer().feed(data)
    buffer, pieces = LineBuffer(), []
    points = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for begin, end in zip(points, points[1:], strict=False):
        pieces += buffer.feed(data[begin:end])
    assert pieces == whole


def test_line_ends_of_every_kind() -> None:
    assert LineBuffer().feed(b"a\nb\r\nc\rd\n\r\n \t\n") == ["a", "b", "c", "d"]


def test_a_line_without_end_is_bounded_and_the_next_is_read() -> None:
    buffer = LineBuffer()
    for _ in range(100):
        assert buffer.feed(b"x" * MAX_LINE) == []
        assert len(buffer._rest) <= MAX_LINE
    assert buffer.feed(b"x\nABOUT\n") == [TOO_LONG, "ABOUT"]


def test_an_unfinished_line_counts_at_the_end() -> None:
    buffer = LineBuffer()
    buffer.feed(b"END")
    assert buffer.close() == ["END"]
