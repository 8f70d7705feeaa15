"""Recorded texts are kept in short lines, and read as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.golden.texts import AGAIN, MORE, SO_ON, WIDTH, kept, whole

LINES = st.sampled_from(["", "a", "b", " c", "x, y " * 60, "x, y " * 60 + "z", "w" * 300])


@given(st.lists(LINES))
def test_what_is_kept_is_read_as_it_was(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert whole(kept(text)) == text
    assert all(len(line) <= WIDTH for line in kept(text).split("\n"))


def test_long_lines_go_on_and_what_comes_again_is_told() -> None:
    long = "word " * 30
    text = "\n".join(["a", "b", "c", "d", "a", "b", "c", long, long, ""])
    *first, begun, rest, again, end = kept(text).split("\n")
    assert first == ["a", "b", "c", "d", "a", f"{AGAIN}2"] and end == ""
    assert begun + rest.removeprefix(MORE) == long
    assert again == long[:72] + SO_ON
