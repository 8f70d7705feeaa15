"""The 26 openings of renju."""

from __future__ import annotations

from functools import reduce

import pytest

from pbrain_engine.notation.canonical import (
    Position,
    find_opening,
    image_of,
    name_opening,
    openings,
)
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.position.geometry import transform
from pbrain_engine.position.rules import Rule, Side


def renju(moves: str) -> list[tuple[int, int]]:
    """Return cells whose rows are counted from below, as renju players do."""
    return [(x, 14 - y) for x, y in parse_moves(moves)]


# The usual list: the third stones in the order of their numbers.
LISTS = {
    "D": ("h8h9", "h10 i10 j10 i9 j9 i8 j8 h7 i7 j7 h6 i6 j6"),
    "I": ("h8i9", "j10 j9 j8 j7 j6 i8 i7 i6 h7 h6 g7 g6 f6"),
}


@pytest.mark.parametrize("kind", LISTS)
def test_the_usual_list(kind: str) -> None:
    begin, thirds = LISTS[kind]
    for number, third in enumerate(thirds.split(), 1):
        opening = name_opening(renju(begin + third), 15, 15)
        assert opening is not None and opening.code == f"{kind}{number}"


def test_there_are_26_that_differ_and_every_turn_of_one_has_its_name() -> None:
    assert len({opening.name for opening in openings().values()}) == 26
    keys, empty = set(), Position(Rule.RENJU, 15, 15, Side.BLACK, (), ())
    for opening in openings().values():
        for number in range(8):
            image = transform(opening.stones, number, 15, 15)
            assert name_opening(image, 15, 15) is opening
            keys.add(image_of(reduce(Position.after, image, empty)).key)
    assert len(keys) == 26


def test_every_third_stone_in_the_middle_square_has_a_name() -> None:
    middle = [(x, y) for x in range(5, 10) for y in range(5, 10)]
    for second in [(7, 6), (8, 6)]:
        for third in middle:
            if third not in ((7, 7), second):
                assert name_opening([(7, 7), second, third], 15, 15) is not None


@pytest.mark.parametrize("moves", ["h8h10h9", "h8h9k8", "h8h9", "g8g9g10"])
def test_other_beginnings_have_none(moves: str) -> None:
    assert name_opening(parse_moves(moves), 15, 15) is None


def test_the_stones_may_come_in_either_order_and_more_may_follow() -> None:
    assert str(name_opening(parse_moves("i9h9h8a1"), 15, 15)) == "D4 Kagetsu"
    assert name_opening(parse_moves("h8h9i9"), 20, 20) is None


def test_names_and_codes_are_found() -> None:
    assert find_opening("i7") is find_opening(" Hogetsu ")
    assert find_opening("nothing") is None
