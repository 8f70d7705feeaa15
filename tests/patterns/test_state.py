"""What the kernel keeps up to date stone by stone equals what it would compute afresh."""

import random

import pytest

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


@pytest.mark.parametrize("seed", range(60))
def test_a_game_on_paper_is_the_game_on_the_board(seed):
    chance = random.Random(seed)
    board = chance.randint(MIN_BOARD, MAX_BOARD), chance.randint(MIN_BOARD, MAX_BOARD)
    board = board if seed % 3 else (7, 7)
    game = Game(*board, chance.choice(list(Rule)))
    for _ in range(chance.randrange(24)):
        if game.is_over:
            break
        cell, step = chance.choice(game.empty_cells()), chance.randrange(6)
        if step == 0:
            game.place(*cell, chance.choice([Side.BLACK, Side.WHITE, Side.WALL]))
        elif step == 1:
            game.set_to_move(game.to_move.opponent)
        else:
            game.play(*cell)
        assert game.check() == 0
    record, other = game.record(), Game(*board, game.rule)
    assert [*record.stones.items()] == [(stone.move, stone.side) for stone in game.history]
    assert record.to_move is game.to_move and record.last == game.last
    other.become(record)
    assert other.position == record.position == game.position
    while game.ply:
        game.undo()
        assert game.check() == 0
    assert len(game.empty_cells()) == board[0] * board[1]
