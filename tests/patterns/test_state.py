"""What the kernel keeps up to date stone by stone equals what it would compute afresh."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pbrain_engine import Game, Rule, Side
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD
from tests.checked import walk


@pytest.mark.parametrize("rule", Rule)
def test_random_steps_leave_the_state_as_computed_afresh(rule):
    assert walk(seed=1, steps=6_000, every=1, rule=rule) == ""


@pytest.mark.long
@pytest.mark.parametrize("rule", Rule)
def test_a_million_random_steps(rule):
    assert walk(seed=2, steps=1_000_000, every=7, rule=rule) == ""


sizes = st.integers(MIN_BOARD, MAX_BOARD)
sides = st.sampled_from([Side.BLACK, Side.WHITE, Side.WALL])


@settings(max_examples=60)
@given(st.data(), sizes, sizes, st.sampled_from(Rule))
def test_any_stones_in_any_order(data, width, height, rule):
    cells = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    stones = data.draw(st.lists(st.tuples(cells, sides), unique_by=lambda s: s[0], max_size=40))
    game = Game(width, height, rule)
    empty = [game.at(x, y) for y in range(height) for x in range(width)]
    for cell, side in stones:
        game.place(*cell, side)
        assert game.check() == 0
    for _ in stones:
        game.undo()
        assert game.check() == 0
    assert [game.at(x, y) for y in range(height) for x in range(width)] == empty
    assert game.ply == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_game_on_paper_is_the_game_on_the_board(seed):
    chance, game = random.Random(seed), Game(7)
    for _ in range(chance.randrange(14)):
        cell, step = chance.choice(game.empty_cells()), chance.randrange(6)
        if step == 0:
            game.place(*cell, chance.choice([Side.BLACK, Side.WHITE, Side.WALL]))
        elif step == 1:
            game.set_to_move(game.to_move.opponent)
        else:
            game.play(*cell)
    record, other = game.record(), Game(7)
    assert [*record.stones.items()] == [(stone.move, stone.side) for stone in game.history]
    assert record.to_move is game.to_move and record.last == game.last
    other.become(record)
    assert other.position == record.position == game.position
