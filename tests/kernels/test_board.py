"""Stones on the board: keys that tell every difference, lines, and forbidden cells."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce
from operator import xor
from typing import Any

import numpy as np
import pytest

from pbrain_engine.patterns.forbidden import is_allowed, is_forbidden
from pbrain_engine.patterns.shapes import (
    MAKES_FIVE,
    MAKES_FOUL,
    MAKES_FOUR,
    MAKES_THREE,
    MAKES_WINNING_FOUR,
    QUIET,
)
from pbrain_engine.patterns.state import (
    class_at,
    count_of,
    last_stone_wins,
    place,
    play,
    same_as_fresh,
    skip,
    take_back,
    undo,
)
from pbrain_engine.position.board import WHITE_TO_MOVE, key_after, last_move, line_of, place_on_line
from pbrain_engine.position.geometry import PADDED_CELLS, cell_of
from pbrain_engine.position.rules import BLACK, EMPTY, WALL, WHITE, Rule
from pbrain_engine.search.alphabeta.root import image_of, keeps_position
from tests.kernels.memory import cell, cells, state_after, tables_of_rule

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
RENJU = tables_of_rule(Rule.RENJU)


def test_a_stone_goes_on_empty_cells_alone() -> None:
    state = state_after("h8")
    for wrong in (cell("h8"), 0):
        with pytest.raises(AssertionError):
            place(state, TABLES, wrong, WHITE)
    with pytest.raises(AssertionError):
        place(state, TABLES, cell("a1"), EMPTY)


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.RENJU])
def test_moves_stones_walls_and_passes_leave_all_as_computed_afresh(rule: Rule) -> None:
    tables, chance = tables_of_rule(rule), random.Random(4)
    state = state_after("", rule, size=6)
    position, board = state.position, [cell_of(x, y) for y in range(6) for x in range(6)]
    rows = {BLACK: tables.zobrist[0], WHITE: tables.zobrist[1], WALL: tables.zobrist[2]}
    back: list[Callable[[], Any]] = []
    for step in range(50):
        at = chance.choice([c for c in board if position.holds[c] == EMPTY])
        match chance.randrange(6):
            case 0 | 1:
                expected = int(key_after(position, tables.zobrist, at))
                play(state, tables, at)
                assert int(position.key) == expected
                back.append(lambda: undo(state, tables))
            case 2:
                place(state, tables, at, chance.choice((BLACK, WHITE, WALL)))
                back.append(lambda: take_back(state, tables))
            case 3:
                skip(state)
                back.append(lambda: skip(state))
            case _ if back:
                back.pop()()
        words = [int(rows[int(position.holds[c])][c]) for c in board if position.holds[c] != EMPTY]
        words += [int(WHITE_TO_MOVE)] if position.side == WHITE else []
        assert int(position.key) == reduce(xor, words, 0)
        assert step % 7 or same_as_fresh(state, tables) == 0
    while back:
        back.pop()()
    assert same_as_fresh(state, tables) == 0 == position.key
    assert len({int(word) for word in tables.zobrist.ravel()}) == 3 * PADDED_CELLS


def test_a_cell_is_where_its_lines_say() -> None:
    first, *others = cells("h8i8h9i9g9")
    for direction, other in zip((0, 1, 2, 3), others, strict=True):
        assert line_of(first, direction) == line_of(other, direction)
        assert abs(place_on_line(first, direction) - place_on_line(other, direction)) == 1
        elsewhere = [line_of(first, d) == line_of(other, d) for d in range(4)]
        assert sum(elsewhere) == 1


def test_the_last_moves_are_counted_backwards() -> None:
    position = state_after("h8i9g7").position
    assert [last_move(position, back) for back in (1, 2, 3, 4)] == [*cells("g7i9h8"), 0]


def test_classes_say_what_a_cell_makes() -> None:
    state = state_after("h8a1i8c1j8")
    found = {name: class_at(state, BLACK, cell(name)) for name in ("g8", "k8", "f8", "o1")}
    assert found == {"g8": MAKES_WINNING_FOUR, "k8": MAKES_WINNING_FOUR, "f8": MAKES_FOUR,
                     "o1": QUIET}  # fmt: skip
    assert count_of(state, BLACK, MAKES_WINNING_FOUR) == 2
    assert class_at(state_after("h8a1i8"), BLACK, cell("j8")) == MAKES_THREE
    play(state, TABLES, cell("o15"))
    play(state, TABLES, cell("k8"))
    assert class_at(state, BLACK, cell("l8")) == MAKES_FIVE and not last_stone_wins(state)
    play(state, TABLES, cell("o13"))
    play(state, TABLES, cell("l8"))
    assert last_stone_wins(state)


@pytest.mark.parametrize(
    ("black", "white", "at", "is_foul"),
    [
        ("g8 i8 h7 h9", "", "h8", True),  # two threes
        ("g8 i8 h7 h9", "e8 k8", "h8", False),  # one of which cannot become an open four
        ("c8 d8 e8 g8 h8", "", "f8", True),  # six in a row
        ("c8 d8 e8 f5 f6 f7", "", "f8", True),  # two fours
        ("d8 e8 g8 h8", "", "f8", False),  # a five
    ],
)
def test_renju_alone_forbids_black_alone_a_foul(
    black: str, white: str, at: str, is_foul: bool
) -> None:
    stones = dict.fromkeys(black.split(), BLACK) | dict.fromkeys(white.split(), WHITE)
    for rule, tables in ((Rule.RENJU, RENJU), (Rule.FREESTYLE, TABLES)):
        state, fouls = state_after("", rule, others=stones), is_foul and rule is Rule.RENJU
        assert is_forbidden(state, tables, cell(at)) == fouls
        assert is_allowed(state, tables, cell(at)) != fouls
        assert not fouls or class_at(state, BLACK, cell(at)) == MAKES_FOUL
        skip(state)
        assert not is_forbidden(state, tables, cell(at))


# Symmetry ---------------------------------------------------------------------------------


def test_a_symmetry_takes_every_stone_to_its_like() -> None:
    position = state_after("h8").position
    assert [keeps_position(position, number) for number in range(8)] == [True] * 8
    position = state_after("g8i9i8").position  # not mirrored
    assert sum(keeps_position(position, number) for number in range(8)) == 1
    pair = state_after("", others={"g8": BLACK, "i8": WHITE}).position
    kept = {number for number in range(8) if keeps_position(pair, number)}
    assert kept == {0, 2}, "a mirror that exchanges black and white is none"
    images = {int(image_of(position, cell("b1"), number)) for number in range(8)}
    assert images == set(cells("b1n1b15n15a2o2a14o14"))


def test_walls_are_no_stones_for_a_symmetry() -> None:
    position = state_after("", others={"a1": WALL, "o15": WHITE}).position
    assert not keeps_position(position, 3)
    assert np.count_nonzero(position.holds == WALL) == PADDED_CELLS - 225 + 1


# At h8 two threes seem to meet, but the one to the cell named could never be an open four: there
# black would commit a foul.
@pytest.mark.parametrize(
    ("moves", "of_the_four"),
    [
        ("g8h4i8f11h9l8h10a1k7c1i7e1g11g1d8a15", "j8"),
        ("g8h12i8g11h9f4h10a1f5c1d5e1d4g1j5a15", "h7"),
        ("i8e11j8i12h7l8h9a1g10c1f6e1g12g1g9a15", "g8"),
    ],
)
def test_a_three_that_a_foul_stops_does_not_count(moves: str, of_the_four: str) -> None:
    state = state_after(moves, Rule.RENJU)
    assert class_at(state, BLACK, cell("h8")) == MAKES_FOUL
    assert not is_forbidden(state, RENJU, cell("h8"))
    play(state, RENJU, cell("h8"))
    skip(state)
    assert is_forbidden(state, RENJU, cell(of_the_four))


def test_cells_near_a_stone_are_far_again_when_it_is_taken_back() -> None:
    state = state_after("h8")
    play(state, TABLES, cell("a1"))
    undo(state, TABLES)
    play(state, TABLES, cell("o15"))
    assert same_as_fresh(state, TABLES) == 0
