"""Reading commands: total, bounded, and blind to spelling."""

from hypothesis import given
from hypothesis import strategies as st

from pbrain_engine.protocol.commands import MAX_LINE, TOO_LONG, Command, CommandReader


def test_a_body_is_bounded():
    reader = CommandReader()
    reader.read("BOARD")
    for _ in range(10_000):
        reader.read("7,7,1")
    (found,) = reader.read("DONE")
    assert len(found.stones) < 5000


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_bytes_can_be_read(chunks):
    reader, found = CommandReader(), list[Command]()
    for chunk in [*chunks, b"\nDONE\nDONE\nBEGIN\n"]:
        for line in reader.lines(chunk):
            found += reader.read(line)
    assert found[-1] == Command("BEGIN")


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=6))
def test_lines_do_not_depend_on_the_chunks(data, cuts):
    data += b"\n"
    whole = CommandReader().lines(data)
    reader, pieces = CommandReader(), []
    points = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for begin, end in zip(points, points[1:], strict=False):
        pieces += reader.lines(data[begin:end])
    assert pieces == whole


def test_line_ends_of_every_kind():
    assert CommandReader().lines(b"a\nb\r\nc\rd\n\r\n \t\n") == ["a", "b", "c", "d"]


def test_the_mark_before_a_text_in_utf_8_is_no_part_of_its_first_command():
    assert CommandReader().lines("START 15\n".encode("utf-8-sig")) == ["START 15"]


def test_a_line_without_end_is_bounded_and_the_next_is_read():
    reader = CommandReader()
    for _ in range(100):
        assert reader.lines(b"x" * MAX_LINE) == []
        assert len(reader._rest) <= MAX_LINE + 1
    assert reader.lines(b"x\nABOUT\n") == [TOO_LONG, "ABOUT"]
