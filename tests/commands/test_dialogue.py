"""Games that are left go on: in the terminal what was begun on the page, and the other way."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine import Engine, Rule
from pbrain_engine.app.saved import SavedGames, shelf_file, upgraded
from pbrain_engine.commands import play
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.commands.opening import TalkedOpening
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.opening_rules import RULES, Act, OpeningPlay
from pbrain_engine.game.record import GameRecord
from tests.game.test_opening_rules import random_word

Typed = Callable[[str], list[str]]


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Type lines; return the prompts shown, in a growing list."""

    def type_lines(lines: str) -> list[str]:
        prompts: list[str] = []
        left = iter(lines.split("; "))

        def read(prompt: str) -> str:
            prompts.append(prompt)
            return next(left)

        monkeypatch.setattr("builtins.input", read)
        return prompts

    return type_lines


@pytest.fixture
def shelf() -> Iterator[SavedGames]:
    shelf = SavedGames(shelf_file())
    yield shelf
    shelf.close()


def page_game(moves: str, match: dict[str, Any] | None, began: float = 5.0) -> dict[str, Any]:
    rows = [
        {"parent": at - 1, "x": x, "y": y, "comment": ""}
        for at, (x, y) in enumerate(parse_moves(moves))
    ]
    board = {"width": 15, "height": 15, "rule": "standard", "placed": [], "first": "black"}
    names = {"black": "Numoku level 3", "white": "you"}
    return {
        "game": f"page {began}", "began": began, "position": {**board, "moves": []}, "tree": rows,
        "names": names, "comment": "", "root": {}, "match": match, "at": len(rows),
    }  # fmt: skip


def match_of(human: str, stage: str = "", **more: Any) -> dict[str, Any]:
    return {
        "human": human, "stage": stage, "from": 0, "fresh": True, "used": [0, 0],
        "level": "3", "seconds": "0.05", "minutes": "0", **more,
    }  # fmt: skip


STAGES = [  # of release 0.2: the stones, the stage, which player the person is, and the step
    ("h8i9", "person", 0, Act.PUT),
    ("h8i9j10", "engine", 0, Act.BRANCH),
    ("h8i9j10a1", "engine", 1, Act.PUT),
    ("h8i9j10a1b3", "choice", 0, Act.SWAP),
    ("", "engine", 1, Act.PUT),
    ("h8i9j10", "choice", 1, Act.BRANCH),
    ("h8i9j10", "person", 1, Act.PUT),
    ("h8i9j10a1", "person", 1, Act.PUT),
    ("h8i9j10a1b3", "engine", 1, Act.SWAP),
]


@pytest.mark.parametrize(("moves", "stage", "person", "act"), STAGES)
def test_every_stage_of_swap2_of_earlier_releases_goes_on(moves, stage, person, act):
    begun = play.begun_of(upgraded(page_game(moves, match_of("black", stage))))
    assert begun.opening is not None and begun.opening.person == person
    assert begun.opening.play.stones == parse_moves(moves)
    assert begun.opening.play.step is not None and begun.opening.play.step.act is act


@pytest.mark.parametrize("person", [0, 1])
@pytest.mark.parametrize("name", RULES)
def test_every_step_of_an_opening_is_kept(name, person):
    opening, chance = OpeningPlay(RULES[name]), random.Random(person)
    with Engine(hash_size=1 << 20) as engine:
        while True:
            record = GameRecord(rule=opening.rule.rule or Rule.FREESTYLE, moves=(*opening.stones,))
            dialogue = Dialogue(engine, GameStart(record, opening=TalkedOpening(opening, person)))
            document = {"game": "g", "began": 1.0, **dialogue.document()}
            begun = play.begun_of(json.loads(json.dumps(document)))
            assert begun.opening is not None and begun.opening.person == person
            assert begun.opening.play.actions == opening.actions
            assert Dialogue(engine, begun).prompt == dialogue.prompt
            if opening.step is None:
                break
            opening = opening.after([random_word(opening, chance)])


def test_a_game_of_the_page_goes_on_in_the_terminal(typed, capsys, shelf):
    shelf.keep(page_game("h8i9j10k11", match_of("white"), began=3.0))
    shelf.keep({**page_game("a1", match_of("both"), began=9.0)})
    shelf.keep({**page_game("b1", None, began=10.0), "looked": True})
    prompts = typed("quit")
    assert play.main(["--resume"]) == 0
    assert "Numoku: " in capsys.readouterr().out and prompts == ["your move, white> "]
    kept = shelf.game("page 3.0")
    assert kept is not None and len(kept["tree"]) == 5 and kept["match"]["level"] == "3"
    assert kept["match"]["human"] == "white" and kept["names"]["black"] == "Numoku level 3"


def test_it_goes_on_at_the_move_that_was_looked_at(typed, shelf):
    game = page_game("h8i9j10k11", match_of("black"))
    game["tree"].append({"parent": 0, "x": 0, "y": 0, "comment": "a side line"})
    shelf.keep({**game, "at": 5})
    begun = play.resume_last(shelf)
    assert begun.record.moves == ((7, 7), (0, 0))
    shelf.keep({**game, "at": 2})
    assert play.resume_last(shelf).record.moves == ((7, 7), (8, 8))
    typed("undo; quit")
    assert play.main(["--resume"]) == 0
    (kept,) = shelf.going_on()
    assert "a side line" in str(kept["tree"]) and "k11" not in str(kept["names"])


def test_an_opening_goes_on_at_the_step_that_was_looked_at(shelf):
    opening = {"rule": "rif", "actions": "h8 i9 j10 swap a1 b2+c3 b2 o15", "person": 0}
    shelf.keep({**page_game("h8i9j10a1b2o15c4", match_of("white", opening=opening)), "at": 2})
    begun = play.resume_last(shelf)
    assert begun.opening is not None and begun.opening.play.actions == ["h8", "i9"]


def test_one_fifth_stone_is_asked_for_as_a_cell():
    for number, asked in (("1", "a cell"), ("2", "cells, as in g7+h9")):
        played = OpeningPlay.named("yamaguchi", actions=f"h8 i9 j10 {number} keep a1")
        assert TalkedOpening(played, 0).prompt == f"you, black: {asked}"


def test_a_move_of_numoku_alone_is_not_taken_back(typed, capsys):
    typed("undo; a1; undo; undo; quit")
    assert play.main(["--side", "white", "--time", "0.05", "--level", "1"]) == 0
    said = capsys.readouterr().out
    assert said.count("there is no move to take back") == 2
    assert said.count("Numoku: ") == 2


def test_of_a_pass_that_was_taken_back_the_moves_before_are_kept(typed, shelf, tmp_path):
    file = tmp_path / "passed.sgf"
    file.write_text("(;GM[4]SZ[15];B[hh](;W[];B[ii])(;W[jj];B[];W[kk]))")
    typed("undo; undo; quit")
    assert play.main([str(file)]) == 0
    (kept,) = shelf.going_on()
    assert [(row["parent"], row["x"]) for row in kept["tree"]] == [(-1, 7), (0, 9)]


def test_the_clock_of_the_page_stands_still_in_the_terminal(typed, shelf):
    clock = {"used": [62.5, 40.0], "minutes": "1", "increment": "0", "byoyomi": "10"}
    clock["periods"] = "3"
    shelf.keep(page_game("h8i9", match_of("black", **clock)))
    typed("a1; quit")
    assert play.main(["--resume"]) == 0
    (kept,) = shelf.going_on()
    assert len(kept["tree"]) == 4 and clock.items() <= kept["match"].items()
    typed("new; h8; quit")
    assert play.main(["--resume"]) == 0
    assert shelf.going_on()[0]["match"]["minutes"] == "0"  # a game of its own


def test_a_game_that_cannot_be_kept_says_why(typed, capsys):
    shelf_file().mkdir(parents=True)
    typed("h8; quit")
    assert play.main(["--time", "0.05", "--level", "1"]) == 0
    assert "the game could not be saved: " in capsys.readouterr().out
