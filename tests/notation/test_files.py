"""Files of games as other programs write them: encodings, passes, whose game it was."""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from pbrain_engine import Engine, Game, NotationError, Rule, Side, cli
from pbrain_engine.app import setup
from pbrain_engine.app.setup import parse_setup
from pbrain_engine.commands.analyse import COMMAND
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.files import decode, in_place_of
from pbrain_engine.game.diagram import animated_svg, file_stem
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.sgf import parse_sgf
from tests.played import game_after

PSQ = "Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,9,0\r\nPříšera\r\nŽluťoučký\r\n0\r\n".encode(
    "cp1250"
)
SGF = "(;GM[4]SZ[15]PB[黑方]PW[白方];B[hh];W[ii])"
GBK = SGF.replace("SZ", "CA[GBK]SZ").encode("gbk")


@pytest.fixture
def dialogue() -> Iterator[Dialogue]:
    with Engine(memory=60_000_000) as engine:
        yield Dialogue(engine, GameStart(GameRecord(), level=1, seconds=0.05), seed=1)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (SGF.encode(), "黑方"),
        (b"\xef\xbb\xbf" + SGF.encode(), "黑方"),
        (SGF.encode("utf-16"), "黑方"),
        (GBK, "黑方"),
        (SGF.replace("SZ", "CA[Big5]SZ").encode(), "黑方"),  # it says so, but it is UTF-8
        (SGF.replace("SZ", "CA[no-such]SZ").encode(), "黑方"),
    ],
)
def test_a_text_is_read_in_its_encoding(data, name):
    assert parse_sgf(decode(data)).black == name


@pytest.mark.parametrize("data", [SGF.encode("gbk"), PSQ, b"\xff\xfe\xff", bytes(range(256))])
def test_every_text_is_read_somehow(data):
    assert decode(data)


@pytest.mark.parametrize(
    ("name", "data"), [("a.psq", PSQ), ("a.sgf", GBK), ("b.sgf", SGF.encode("gbk"))]
)
def test_files_of_other_encodings_are_played_and_analysed(dialogue, tmp_path, name, data, capsys):
    path = tmp_path / name
    path.write_bytes(data)
    assert dialogue.answer(f"load {path}").startswith("loaded")
    assert dialogue.engine.game.moves == [(7, 7), (8, 8)]
    assert cli.main(["analyse", str(path), "--depth", "2"]) == 0
    assert "black to move" in capsys.readouterr().out


@pytest.mark.parametrize("data", [b"\x00\x01\x02", b"(;GM[4]SZ[15];B[hh];W[hh])", b"(" * 50, b""])
def test_no_file_ends_a_game(dialogue, tmp_path, data):
    path = tmp_path / "bad"
    path.write_bytes(data)
    dialogue.answer("h8")
    dialogue.answer(f"load {path}")
    dialogue.answer(f"load {tmp_path}")  # a folder
    assert dialogue.answer("undo") in ("", "there is no move to take back")


def test_a_name_in_capitals_is_a_name(dialogue, tmp_path):
    dialogue.answer("h8")
    for name in ("GAME.SGF", "Game.Psq"):
        assert dialogue.answer(f"save {tmp_path / name}").startswith("saved")
        assert (tmp_path / name).exists()


def test_a_game_that_cannot_be_saved_leaves_the_one_that_was(dialogue, tmp_path, monkeypatch):
    path = tmp_path / "game.sgf"
    dialogue.answer("h8")
    assert dialogue.answer(f"save {path}").startswith("saved")
    before = path.read_bytes()

    def is_full(self: Path, text: str, **_: object) -> None:
        self.write_bytes(text.encode()[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", is_full)
    dialogue.answer("i9")
    assert dialogue.answer(f"save {path}") == "No space left on device"
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    path = tmp_path / "missing" / "game.sgf"
    assert dialogue.answer(f"save {path}").startswith(f"{path}: ")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no pipe has a name there")
def test_a_pipe_is_written_to_itself():
    reading, writing = os.pipe()
    with in_place_of(Path(f"/dev/fd/{writing}")) as path:
        path.write_text("here")
    assert os.read(reading, 10) == b"here"
    os.close(reading)
    os.close(writing)


def test_saved_passes_are_those_that_stand(dialogue):
    dialogue._begin(parse_setup("(;GM[4]SZ[15];B[hh];W[];B[ii])"))
    assert dialogue.record().passes == (1,)
    dialogue.engine.undo()
    dialogue.engine.undo()
    assert dialogue.record().passes == ()


@pytest.mark.parametrize("side", [Side.BLACK, Side.WHITE])
@pytest.mark.parametrize("name", ["a.sgf", "a.psq"])
def test_a_loaded_game_is_of_the_person_who_played_it(dialogue, tmp_path, side, name):
    dialogue.person = side
    dialogue.engine.play(7, 7)
    dialogue.answer(f"save {tmp_path / name}")
    dialogue.person = Side.BLACK
    answer = dialogue.answer(f"load {tmp_path / name}")
    assert dialogue.person is side
    assert ("you play white" in answer) == (side is Side.WHITE)
    assert (dialogue.engine_turn() == "") == (side is Side.WHITE)


def test_a_game_of_strangers_leaves_the_sides(dialogue, tmp_path):
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[4]PB[Li]PW[Wu];B[hh])", encoding="utf-8")
    for side in (Side.WHITE, Side.BLACK):
        dialogue.person = side
        dialogue.answer(f"load {path}")
        assert dialogue.person is side


def test_moves_may_stand_apart_and_be_many(capsys):
    assert cli.main(["analyse", "h8i9", "h9", "--depth", "2"]) == 0
    assert "white to move" in capsys.readouterr().out
    cells = [f"{chr(97 + x)}{y + 1}" for y in range(0, 15, 2) for x in range(14)]
    assert len("".join(cells)) > 255  # longer than the name of a file may be
    asked = COMMAND.parse(["".join(cells)])
    assert len(setup.chosen_setup(asked, *asked.position).moves) == len(cells)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_file_that_is_replaced_is_open_to_the_same_people(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old", encoding="ascii")
    path.chmod(0o600)
    with in_place_of(path) as part:
        part.write_text("new", encoding="ascii")
    assert (path.read_text(encoding="ascii"), path.stat().st_mode & 0o777) == ("new", 0o600)


@pytest.mark.parametrize("folder", ["no folder", "a.txt"])
def test_an_error_names_the_file_that_was_asked_for(folder, tmp_path):
    (tmp_path / "a.txt").touch()
    path = tmp_path / folder / "game.sgf"
    with pytest.raises(OSError) as told, in_place_of(path) as part:
        part.write_text("new", encoding="ascii")
    assert told.value.filename == str(path)


MOVES = "h8i9j10k11"


@pytest.mark.parametrize(("kind", "rule"), [("sgf", None), ("lib", None), ("psq", Rule.RENJU)])
def test_what_is_saved_is_read_again(kind, rule, tmp_path):
    path = tmp_path / f"game.{kind}"
    game = game_after(MOVES, Rule.RENJU)
    game.save(path, black="Ann", white="Bob")
    other = path.rename(tmp_path / "a name that says nothing")
    again = Game.from_file(str(other), rule=rule)
    assert (again.moves, again.rule, again.to_move) == (game.moves, Rule.RENJU, Side.BLACK)
    assert Game.from_file(other, rule="standard").rule is Rule.STANDARD
    if kind == "sgf":
        assert "PB[Ann]PW[Bob]" in other.read_text(encoding="utf-8")


def test_stones_that_were_placed_and_winners_are_kept(tmp_path):
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


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"game.txt: games are written as .sgf"):
        game_after(MOVES, Rule.RENJU).save(tmp_path / "game.txt")
    walled = game_after(MOVES, Rule.RENJU)
    walled.place(0, 0, Side.WALL)
    with pytest.raises(NotationError, match="blocked cells"):
        walled.save(tmp_path / "game.sgf")
    (tmp_path / "no.txt").write_text("hello")
    with pytest.raises(NotationError, match="is not a game file"):
        Game.from_file(tmp_path / "no.txt")
    with pytest.raises(OSError, match="missing"):
        Game.from_file(tmp_path / "missing.sgf")
    (tmp_path / "bad.sgf").write_text("(;GM[4]SZ[15];B[aa];W[ba];B[ab])")
    assert Game.from_file(tmp_path / "bad.sgf").ply == 3
    five = "".join(f";B[a{row}];W[b{row}]" for row in "abcde") + ";B[cc]"
    (tmp_path / "bad.sgf").write_text(f"(;GM[4]SZ[15]{five})")
    with pytest.raises(NotationError, match="black has won before move 10"):
        Game.from_file(tmp_path / "bad.sgf")


def test_a_film_shows_each_stone_in_its_turn():
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
def test_files_are_named_by_date_and_players(names, stem):
    black, white, day = names
    game = GameRecord(black=black, white=white, date=day)
    assert file_stem(game, date(2001, 2, 3)) == stem
