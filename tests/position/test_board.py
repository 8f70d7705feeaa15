"""Stones on the board: keys that tell every difference, forbidden cells, symmetries."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import reduce
from operator import xor
from typing import Any

import pytest

from pbrain_engine.patterns.forbidden import is_allowed, is_forbidden
from pbrain_engine.patterns.shapes import MAKES_FOUL
from pbrain_engine.patterns.state import (
    class_at,
    pass_turn,
    place,
    play,
    same_as_fresh,
    take_back,
    undo,
)
from pbrain_engine.position.board import WHITE_TO_MOVE, image_of, key_after, symmetries_of
from pbrain_engine.position.geometry import PADDED_CELLS, cell_of
from pbrain_engine.position.rules import BLACK, EMPTY, WALL, WHITE, Rule
from tests.kernels.memory import cell, cells, state_after, tables_of_rule

pytestmark = pytest.mark.uncompiled

TABLES = tables_of_rule(Rule.FREESTYLE)
RENJU = tables_of_rule(Rule.RENJU)


def test_a_stone_goes_on_empty_cells_alone():
    state = state_after("h8")
    for wrong in (cell("h8"), 0):
        with pytest.raises(AssertionError):
            place(state, TABLES, wrong, WHITE)
    with pytest.raises(AssertionError):
        place(state, TABLES, cell("a1"), EMPTY)


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.RENJU])
def test_moves_stones_walls_and_passes_leave_all_as_computed_afresh(rule):
    tables, chance = tables_of_rule(rule), random.Random(4)
    state = state_after("", rule, size=6)
    position, board = state.position, [cell_of(x, y) for y in range(6) for x in range(6)]
    back: list[Callable[[], Any]] = []
    for step in range(50):
        at = chance.choice([c for c in board if position.holds[c] == EMPTY])
        match chance.randrange(6):
            case 0 | 1:
                expected = int(key_after(position.key, tables.zobrist, position.side, at))
                play(state, tables, at)
                assert int(position.key) == expected
                back.append(lambda: undo(state, tables))
            case 2:
                place(state, tables, at, chance.choice((BLACK, WHITE, WALL)))
                back.append(lambda: take_back(state, tables))
            case 3:
                pass_turn(state)
                back.append(lambda: pass_turn(state))
            case _ if back:
                back.pop()()
        held = [(int(position.holds[c]), c) for c in board if position.holds[c] != EMPTY]
        words = [int(tables.zobrist[kind, c]) for kind, c in held]
        words += [int(WHITE_TO_MOVE)] if position.side == WHITE else []
        assert int(position.key) == reduce(xor, words, 0)
        assert step % 7 or same_as_fresh(state, tables) == 0
    while back:
        back.pop()()
    assert same_as_fresh(state, tables) == 0 == position.key
    assert len({int(word) for word in tables.zobrist.ravel()}) == 4 * PADDED_CELLS


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
def test_renju_alone_forbids_black_alone_a_foul(black, white, at, is_foul):
    stones = dict.fromkeys(black.split(), BLACK) | dict.fromkeys(white.split(), WHITE)
    for rule, tables in ((Rule.RENJU, RENJU), (Rule.FREESTYLE, TABLES)):
        state, fouls = state_after("", rule, others=stones), is_foul and rule is Rule.RENJU
        assert is_forbidden(state, tables, cell(at)) == fouls
        assert is_allowed(state, tables, cell(at)) != fouls
        assert not fouls or class_at(state, BLACK, cell(at)) == MAKES_FOUL
        pass_turn(state)
        assert not is_forbidden(state, tables, cell(at))


def test_a_symmetry_takes_every_stone_to_its_like():
    position = state_after("h8").position
    assert symmetries_of(position) == 0b11111110
    assert symmetries_of(state_after("g8i9i8").position) == 0
    pair = state_after("", others={"g8": BLACK, "i8": WHITE}).position
    assert symmetries_of(pair) == 1 << 2, "a mirror that exchanges black and white is none"
    images = {int(image_of(position, cell("b1"), number)) for number in range(8)}
    assert images == set(cells("b1n1b15n15a2o2a14o14"))


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
def test_a_three_that_a_foul_stops_does_not_count(moves, of_the_four):
    state = state_after(moves, Rule.RENJU)
    assert class_at(state, BLACK, cell("h8")) == MAKES_FOUL
    assert not is_forbidden(state, RENJU, cell("h8"))
    play(state, RENJU, cell("h8"))
    pass_turn(state)
    assert is_forbidden(state, RENJU, cell(of_the_four))
