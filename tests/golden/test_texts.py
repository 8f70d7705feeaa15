"""Recorded texts are kept in short lines, and read as they were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.golden.texts import (
    AGAIN,
    LONGEST,
    MORE,
    SO_ON,
    START,
    WIDTH,
    brief,
    brief_page,
    kept,
    whole,
)

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


def test_of_long_lines_and_pictures_the_beginning_and_a_checksum_are_kept() -> None:
    long = "x" * 999
    one, other = (brief(f"a\n{long}{end}\nb").split("\n") for end in "yz")
    assert one[0] == "a" and one[2] == "b" and one[1] != other[1]
    assert one[1].startswith("x" * START + " ... 1000 characters, ")
    assert brief(long[:LONGEST]) == long[:LONGEST]
    page = '<p>1</p><tr><td>2</td><td>3</td></tr><svg a="b">\n<g>{}</g></svg>'
    first, row, picture = brief_page(page.format(4)).split("\n")
    assert first == "<p>1</p>" and row == "<tr><td>2</td><td>3</td></tr>"
    assert picture.startswith("<svg 2 elements, ") and picture not in brief_page(page.format(5))
