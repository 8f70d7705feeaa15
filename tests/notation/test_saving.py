"""Games of the API as files: what was saved is read again, whatever the kind."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import date
from pathlib import Path

import pytest

from pbrain_engine import Game, Rule, Side
from pbrain_engine.game.cells import NotationError, parse_moves
from pbrain_engine.game.diagram import animated_svg, file_stem
from pbrain_engine.game.record import GameRecord

MOVES = "h8i9j10k11"


def played(moves: str = MOVES, rule: Rule = Rule.RENJU) -> Game:
    game = Game(15, rule=rule)
    for move in parse_moves(moves):
        game.play(*move)
    return game


@pytest.mark.parametrize(("kind", "rule"), [("sgf", None), ("lib", None), ("psq", Rule.RENJU)])
def test_what_is_saved_is_read_again(kind: str, rule: Rule | None, tmp_path: Path) -> None:
    path = tmp_path / f"game.{kind}"
    game = played()
    game.save(path, black="Ann", white="Bob")
    other = path.rename(tmp_path / "a name that says nothing")
    again = Game.from_file(str(other), rule=rule)
    assert (again.moves, again.rule, again.to_move) == (game.moves, Rule.RENJU, Side.BLACK)
    assert Game.from_file(other, rule="standard").rule is Rule.STANDARD
    if kind == "sgf":
        assert "PB[Ann]PW[Bob]" in other.read_text(encoding="utf-8")


def test_stones_that_were_placed_and_winners_are_kept(tmp_path: Path) -> None:
    game = Game(9, 11, Rule.STANDARD)
    for x in range(4):
        game.place(x, 0, Side.BLACK)
    game.play(4, 0)
    game.save(tmp_path / "a.sgf")
    again = Game.from_file(tmp_path / "a.sgf")
    assert (again.winner, again.moves[-1], again.ply) == (Side.BLACK, (4, 0), 5)
    assert "RE[B" in (tmp_path / "a.sgf").read_text()
    game.undo()
    game.place(8, 8, Side.WHITE)
    game.set_to_move(Side.WHITE)
    assert game.record().position == game.position and game.record().moves == ()
    with pytest.raises(NotationError, match="cannot keep stones"):
        game.save(tmp_path / "a.psq")


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"game.txt: games are written as .sgf"):
        played().save(tmp_path / "game.txt")
    walled = played()
    walled.place(0, 0, Side.WALL)
    with pytest.raises(NotationError, match="blocked cells"):
        walled.save(tmp_path / "game.sgf")
    (tmp_path / "no.txt").write_text("hello")
    with pytest.raises(NotationError, match="is no file of games"):
        Game.from_file(tmp_path / "no.txt")
    with pytest.raises(OSError, match="missing"):
        Game.from_file(tmp_path / "missing.sgf")
    (tmp_path / "bad.sgf").write_text("(;GM[4]SZ[15];B[aa];W[ba];B[ab])")
    assert Game.from_file(tmp_path / "bad.sgf").ply == 3
    five = "".join(f";B[a{row}];W[b{row}]" for row in "abcde") + ";B[cc]"
    (tmp_path / "bad.sgf").write_text(f"(;GM[4]SZ[15]{five})")
    with pytest.raises(NotationError, match="black has won before move 10"):
        Game.from_file(tmp_path / "bad.sgf")


def test_a_film_shows_each_stone_in_its_turn() -> None:
    record = GameRecord(15, 15, Rule.FREESTYLE, ((7, 7), (8, 8), (9, 9)), black="A & B",
                        placed=(((0, 0), Side.BLACK), ((1, 1), Side.WHITE)))  # fmt: skip
    text = animated_svg(record, step=1.0)
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    changes = root.findall(f".//{space}animate")
    starts = [float(change.attrib["keyTimes"].split(";")[1]) for change in changes]
    assert starts == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=1e-4)
    assert {change.attrib["dur"] for change in changes} == {"6s"}
    assert [node.text for node in root.findall(f".//{space}g/{space}text")] == ["1", "2", "3"]
    title = root.find(f"{space}title")
    assert title is not None and title.text == "A & B"
    fills = re.findall(r"<circle[^>]*r=\"13.2\" fill=\"(#\w+)\"", text)
    assert fills == ["#16181b", "#fdfdfb", "#16181b", "#fdfdfb", "#16181b"]


@pytest.mark.parametrize(
    ("names", "stem"),
    [
        (("you", "Numoku level 5", "2026-11-26"), "2026-11-26 you - Numoku level 5"),
        (("", "", ""), "2001-02-03 numoku"),
        (("a/b\\c:*?", 'x"<>|\n', "2026"), "2026 a b c - x"),
        (("..", "", ".."), "game"),
    ],
)
def test_files_are_named_by_date_and_players(names: tuple[str, str, str], stem: str) -> None:
    black, white, day = names
    game = GameRecord(black=black, white=white, date=day)
    assert file_stem(game, date(2001, 2, 3)) == stem
