"""Wins that are remembered, and proofs that are kept, hold where they were found."""

from __future__ import annotations

import pytest

from pbrain_engine import Limit, Move, Rule, Solver
from pbrain_engine.engine.searcher import WinningMoves
from pbrain_engine.values import win_in
from tests.played import game_after, moves_of, set_up

OPENING = "h8i9i7g9"
WIN = "h8a1i9c1j8e1h10g1"  # black has fours and threes to win by
# Black makes two fours at f8: a win in freestyle, forbidden in renju.
TWO_FOURS = "c8b8d8a1e8c1f5f4f6e1f7g1"


def test_a_win_is_remembered_where_the_enemy_follows_its_line():
    known = WinningMoves()
    line = moves_of("j10k11h11")
    known.note(game_after(WIN), line, win_in(3))
    assert known.recall(game_after(WIN)) == (line[0], win_in(3))
    assert known.recall(game_after(WIN + "j10k11")) == (line[2], win_in(1))
    for other in (WIN + "j10k12", WIN + "j10", OPENING):
        assert known.recall(game_after(other)) is None
    for rule, size in ((Rule.RENJU, 15), (Rule.STANDARD, 15), (Rule.FREESTYLE, 16)):
        assert known.recall(game_after(WIN, rule, size)) is None


def test_a_remembered_move_that_cannot_be_played_is_none():
    known = WinningMoves()
    (cell,) = moves_of("f8")
    known.note(game_after(TWO_FOURS, Rule.RENJU), [cell], win_in(3))
    assert game_after(TWO_FOURS, Rule.RENJU).is_forbidden(*cell)
    assert known.recall(game_after(TWO_FOURS, Rule.RENJU)) is None
    known.note(game_after(WIN), [Move(7, 7)], win_in(1))  # a stone is there
    assert known.recall(game_after(WIN)) is None


def test_a_remembered_win_is_none_where_the_other_side_moves_or_all_is_forgotten(engine):
    set_up(engine, "h8a1i8o1j8a15")  # black has an open three
    assert (engine.think(Limit(nodes=100_000)).mate or 0) > 0
    winner = engine.game.to_move
    engine.set_to_move(winner.opponent)
    assert engine._winning_moves.recall(engine.game) is None
    assert (engine.think(Limit(depth=2)).mate or 0) <= 0  # no announced win of the wrong side
    engine.set_to_move(winner)
    assert engine._winning_moves.recall(engine.game) is not None
    engine.clear_hash()
    assert engine._winning_moves.recall(engine.game) is None


ROW = "a5h1b5h2c5g8d5"
# Black wins by two fours at once, at h8 after a four at h10 or the other way round, or not at all.
CROSSING = "e8d8f8d10g8h5e10f9f10a1g10o1h6a15h7o15"


@pytest.mark.parametrize(
    ("moves", "boards"),
    [
        (TWO_FOURS, "freestyle15 renju15 standard15 renju15 freestyle15"),
        (CROSSING, "renju15 freestyle15 renju15 standard15"),
        (ROW, "freestyle15 freestyle9 freestyle15"),
    ],
)
def test_the_solver_keeps_the_proofs_of_each_board_and_rule_apart(moves, boards):
    with Solver(4_000_000) as solver:
        for board in boards.split():
            rule = Rule.parse(board.rstrip("0123456789"))
            game = game_after(moves, rule, int(board[len(rule.name) :]))
            with Solver(4_000_000) as fresh:
                expected = fresh.fours(game, nodes=100_000)
            found = solver.fours(game, nodes=100_000)
            assert (found.claim, found.length) == (expected.claim, expected.length), board
            assert moves != CROSSING or (found.claim == "vcf") is (rule is not Rule.RENJU)
            if moves == TWO_FOURS:
                assert (found.line[:1] == ((5, 7),)) >= (rule is Rule.FREESTYLE)
                assert rule is not Rule.RENJU or (5, 7) not in found.line[:1]
