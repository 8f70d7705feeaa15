"""Whole games, with every move and every result confirmed by the oracle."""

from __future__ import annotations

import copy
import pickle

import pytest

from pbrain_engine import Game, Limit, Rule, Side
from pbrain_engine.arena import match
from pbrain_engine.arena.match import read_journal
from pbrain_engine.game.diagram import parse_diagram
from pbrain_engine.game.record import BLACK, DRAW, WHITE, GameRecord
from tests.oracle import rules
from tests.oracle.rules import Board
from tests.played import set_up

BOARDS = [(15, 15), (12, 17)]

# Renju: fouls are all that is left to black.
STUCK = """
X O O O X O X
X O O O O X X
O X O X X X X
X X X O X X .
X X X X O X X
X O O O . X X
X O X X O X X
black to move
"""


@pytest.mark.parametrize("lifted", [None, (5, 0), (1, 5)])
def test_a_side_has_lost_where_only_fouls_are_left(engine, lifted):
    board = parse_diagram(STUCK)
    engine.new_game(7, rule=Rule.RENJU)
    for cell, side in sorted(board.stones.items(), key=lambda held: held[1]):
        if cell != lifted:
            engine.place(*cell, side)
    engine.set_to_move(Side.BLACK if lifted is None else Side.WHITE)
    assert bool(engine.game.legal_moves()) == (lifted is not None)
    thought = engine.think(Limit(nodes=2000))
    assert thought.mate == (-2 if lifted is None else 3)
    assert lifted or thought.move == (6, 3)
    engine.play(*thought.move)
    assert not lifted or not engine.game.legal_moves()


# Renju on 7x7: of the seven empty cells one stays forbidden to black, who has the last move.
PARITY = "g1b7a5d6e1c3g7e7a2a7b6c1c2d5d4f1g5a3a1g2g6f3e3d1b4d7b5e5d2b3f4e6c5f5c7e2a6a4b2g4g3f7"


def test_a_filling_board_is_searched_to_its_end(engine):
    set_up(engine, PARITY, Rule.RENJU, 7)
    assert exact_value(engine.game) == -1
    assert engine.think(Limit(nodes=100_000)).mate == -8


def exact_value(game: Game) -> int:
    """Return 1, 0 or -1 for the side to move, by trying everything."""
    if game.winner is not None or game.is_full:
        return 0 if game.winner is None else -1
    best = -1  # where only fouls are left
    for move in game.legal_moves():
        game.play(*move)
        best = max(best, -exact_value(game))
        game.undo()
    return best


def complaint_about(played: GameRecord, board: Board) -> str:
    """Return the oracle's objection to a game on this empty board, or an empty string."""
    if played.fault:
        return f"{played.loser}: {played.fault} {played.detail}"
    winner = DRAW
    for ply, cell in enumerate(played.moves):
        if winner != DRAW or not rules.may_play(board, cell, ply % 2):
            return f"{cell} is illegal, or {winner} has won before it\n{board.drawing()}"
        board.put(cell, ply % 2)
        if rules.is_win(board, cell):
            winner = (BLACK, WHITE)[ply % 2]
    if played.winner != winner or (winner == DRAW and board.empties()):
        return f"the result is {played.winner}, for the oracle {winner}\n{board.drawing()}"
    return ""


LONG = [pytest.param(*board, 68, 0.05, marks=pytest.mark.long) for board in BOARDS]


@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("width, height, games, turn", [(8, 7, 1, 0.01), *LONG])
def test_the_program_keeps_to_the_rules(rule, width, height, games, turn, tmp_path):
    journal = tmp_path / "games.jsonl"
    words = ["numoku", "numoku", "--rule", rule.replace("_", "-"), "--board", f"{width}x{height}"]
    words += ["--games", str(games), "--turn", str(turn), "--memory", "70", "--keep"]
    words += ["--openings", "random:5", "--journal", str(journal), "--view", "quiet"]
    assert match.main(words) == 0
    played = read_journal(journal)[1]
    assert len(played) == games
    assert "".join(complaint_about(each, Board(width, height, rule)) for each in played) == ""


def test_games_are_copied_and_pickled_with_their_moves():
    game = Game(9, 11, Rule.RENJU)
    for move in ((4, 4), (3, 3), (5, 5)):
        game.play(*move)
    game.place(0, 0, Side.WALL)
    for other in (copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert str(other) == str(game) and other.history == game.history
        assert (other.width, other.height, other.rule) == (9, 11, Rule.RENJU)
        assert other.check() == 0 and other.address != game.address
        other.undo()
        other.play(6, 6)
        assert game.at(6, 6) is Side.EMPTY and game.ply == 4
