"""Wins that only the main search sees are proven by a tree, which the oracle plays through."""

from __future__ import annotations

import pytest

from pbrain_engine import Engine, Limit, Move, Thought
from pbrain_engine.engine.prover import QUICK_THREATS, Prover
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.values import WIN_BAND
from tests.oracle.replay import complaint_about_tree
from tests.oracle.rules import Board

# Wins too deep for a short search by threats: a narrow tree, and one that takes longer to replay.
NARROW = (
    "h10j7j9i8h9h8g8i10g9i9i11f8g7g10i6j12k6g6j5h7l6h6f5i4h5k7e6g5f4l7i7f3e5d7e4e3g3d6d4c4h4g4"
    "c3f6k5j6"
)
WIDE = "f8j10j9g7h8i8h9h10i10g8g9i9g11i7f9f10h11g12"
NODES = 400_000


def set_up(engine: Engine, moves: str) -> Board:
    board = Board(15, 15, "freestyle")
    engine.new_game(15)
    engine.clear_hash()
    for number, move in enumerate(parse_moves(moves)):
        engine.play(*move)
        board.put(move, number % 2)
    return board


def search_for_win(engine: Engine) -> Thought:
    """Let the main search find the win alone."""
    engine.set_parameter("threat_share", 0)
    thought = engine.think(
        Limit(nodes=NODES), on_iteration=lambda thought: thought.value >= WIN_BAND
    )
    engine.set_parameter("threat_share", 10)
    return thought


@pytest.mark.parametrize("won", [NARROW, pytest.param(WIDE, marks=pytest.mark.long)])
def test_a_win_of_the_main_search_gets_a_proof_that_survives_a_replay(engine, solver, won):
    board = set_up(engine, won)
    assert not solver.threats(engine.game, nodes=QUICK_THREATS).wins
    thought = search_for_win(engine)
    assert thought.value >= WIN_BAND and not thought.proof
    moves = list(engine.game.moves)
    tree = Prover(engine, solver).prove(thought)
    assert tree is not None and tree.move == thought.move and tree.replies
    assert engine.game.moves == moves
    assert complaint_about_tree(board, 0, tree) == ""


def test_a_claim_that_is_wrong_gets_no_proof(engine, solver):
    set_up(engine, "h8i9i7g9")
    claim = Thought(WIN_BAND, (Move(0, 0), Move(1, 0)), 1, 1, 1)
    assert Prover(engine, solver, time=0.2).prove(claim) is None
