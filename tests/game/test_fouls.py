"""A foul in renju ends the game: black has lost, wherever the game is looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pbrain_engine.board.desk import Desks
from pbrain_engine.commands import analyse, play, review
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.database.sources import add_result
from pbrain_engine.engine.engine import Engine
from pbrain_engine.engine.review import Reviewer
from pbrain_engine.game.cells import NotationError, parse_moves
from pbrain_engine.game.documents import game_document
from pbrain_engine.game.game import Game, Move
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.sgf import format_sgf
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.solver.solver import Solver
from tests.golden.board import Page

MOVES = "h8a1i8o1g7a15g6o15g8"  # g8 makes two open threes
FOUL = Move(6, 7)
RECORD = GameRecord(15, 15, Rule.RENJU, tuple(parse_moves(MOVES)))


def test_a_forbidden_stone_loses_and_can_be_taken_back() -> None:
    game = Game(15, rule=Rule.RENJU)
    for move in RECORD.moves:
        assert not game.is_over
        game.play(*move)
    assert (game.winner, game.foul, game.is_over) == (Side.WHITE, FOUL, True)
    assert game.winning_row() == [] and game.copy().foul == FOUL
    game.undo()
    assert game.foul is None and not game.is_over
    with game.after(FOUL):
        assert game.winner is Side.WHITE
    game.place(*FOUL, Side.BLACK)  # what is set up is not judged
    assert game.foul is None and not game.is_over


def test_a_record_with_a_foul_is_over_and_refuses_further_moves() -> None:
    game = Game(*RECORD.board)
    game.become_checked(RECORD)
    assert game.foul == FOUL
    further = GameRecord(15, 15, Rule.RENJU, (*RECORD.moves, (9, 9)))
    with pytest.raises(NotationError, match="black has lost by g8.* before move 10"):
        game.become_checked(further)
    freestyle = GameRecord(15, 15, Rule.STANDARD, further.moves)
    Game(*freestyle.board).become_checked(freestyle)


def test_the_database_knows_who_has_won() -> None:
    assert add_result(RECORD).result == "0-1"
    assert game_document(_game())["winner"] == "white"


def _game() -> Game:
    game = Game(*RECORD.board)
    game.become(RECORD)
    return game


def test_a_review_blames_the_foul() -> None:
    with Engine(hash_size=8 << 20) as engine, Solver(8_000_000) as solver:
        engine.new_game(*RECORD.board)
        found = Reviewer(engine, solver, 0.03).review([Move(*cell) for cell in RECORD.moves])
    foul = found[-1]
    assert foul.move == FOUL != foul.found.move and foul.is_mistake
    assert foul.loss == foul.found.chance
    for item in found:
        for before, win in ((item.ply - 1, item.missed), (item.ply, item.allowed)):
            game = Game(*RECORD.board)
            for move in RECORD.moves[:before]:
                game.play(*move)
            for move in win.line if win else ():
                assert game.to_move is Side.WHITE or not game.is_forbidden(*move)
                game.play(*move)


def test_commands_say_that_it_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    words = [MOVES, "--rule", "renju", "--time", "0.03"]
    assert review.main(words) == 0
    assert "g8 is forbidden (double three): black loses" in capsys.readouterr().out
    assert review.main([*words, "--json"]) == 0
    last = json.loads(capsys.readouterr().out)["moves"][-1]
    assert last["foul"] is True and last["allowed_win"] is None
    assert analyse.main(words) == 0
    assert "white has won: g8 is forbidden (double three)" in capsys.readouterr().out
    file = tmp_path / "foul.sgf"
    file.write_text(format_sgf(RECORD))
    monkeypatch.setattr("builtins.input", lambda prompt: print(prompt) or "quit")
    assert play.main([str(file), "--time", "0.03"]) == 0
    said = capsys.readouterr().out
    assert "white (Numoku) wins, g8 is forbidden" in said and "the game is over>" in said


def test_a_dialogue_goes_on_once_the_foul_is_taken_back() -> None:
    with Engine(hash_size=8 << 20) as engine:
        dialogue = Dialogue(engine, GameStart(RECORD, seconds=0.03))
        assert dialogue.game_over and dialogue.engine_turn() == ""
        dialogue.answer("undo")
        assert not dialogue.game_over


def test_the_page_is_told() -> None:
    page = Page(Desks(1))
    asked = f'{{"position": {{"at": "{MOVES}", "rule": "renju"}}}}'
    (seen,) = page.says(f"look {asked}")
    found = seen["result"]
    assert (found["winner"], found["over"], found["row"]) == ("white", True, [])
    assert found["foul"] == {"cell": [6, 7], "reason": "double three"}
    (answer,) = page.says(f"move {asked}")
    assert answer["error"] == "the game is over"
    page.desk.close()
