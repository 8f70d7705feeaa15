"""Files of games as other programs write them: encodings, passes, whose game it was."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pbrain_engine import Engine, Side, cli
from pbrain_engine.app import setup
from pbrain_engine.app.setup import parse_setup
from pbrain_engine.commands.analyse import COMMAND
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.files import decode, in_place_of
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.sgf import parse_sgf

PSQ = "Piskvorky 15x15, 11:11, 0\r\n8,8,0\r\n9,9,0\r\nPříšera\r\nŽluťoučký\r\n0\r\n".encode(
    "cp1250"
)
SGF = "(;GM[4]SZ[15]PB[黑方]PW[白方];B[hh];W[ii])"
GBK = SGF.replace("SZ", "CA[GBK]SZ").encode("gbk")


@pytest.fixture
def dialogue() -> Iterator[Dialogue]:
    with Engine(memory=60_000_000) as engine:
        yield Dialogue(engine, GameStart(GameRecord(), level=1, seconds=0.05), seed=1)


# Encodings ------------------------------------------------------------------------------


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
def test_a_text_is_read_in_its_encoding(data: bytes, name: str) -> None:
    assert parse_sgf(decode(data)).black == name


@pytest.mark.parametrize("data", [SGF.encode("gbk"), PSQ, b"\xff\xfe\xff", bytes(range(256))])
def test_every_text_is_read_somehow(data: bytes) -> None:
    assert decode(data)


@pytest.mark.parametrize(
    ("name", "data"), [("a.psq", PSQ), ("a.sgf", GBK), ("b.sgf", SGF.encode("gbk"))]
)
def test_files_of_other_encodings_are_played_and_analysed(
    dialogue: Dialogue, tmp_path: Path, name: str, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert dialogue.answer(f"load {path}").startswith("loaded")
    assert dialogue.engine.game.moves == [(7, 7), (8, 8)]
    assert cli.main(["analyse", str(path), "--depth", "2"]) == 0
    assert "black to move" in capsys.readouterr().out


@pytest.mark.parametrize("data", [b"\x00\x01\x02", b"(;GM[4]SZ[15];B[hh];W[hh])", b"(" * 50, b""])
def test_no_file_ends_a_game(dialogue: Dialogue, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad"
    path.write_bytes(data)
    dialogue.answer("h8")
    dialogue.answer(f"load {path}")
    dialogue.answer(f"load {tmp_path}")  # a folder
    assert dialogue.answer("undo") in ("", "there is no move to take back")


def test_a_name_in_capitals_is_a_name(dialogue: Dialogue, tmp_path: Path) -> None:
    dialogue.answer("h8")
    for name in ("GAME.SGF", "Game.Psq"):
        assert dialogue.answer(f"save {tmp_path / name}").startswith("saved")
        assert (tmp_path / name).exists()


def test_a_game_that_cannot_be_saved_leaves_the_one_that_was(
    dialogue: Dialogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_a_pipe_is_written_to_itself() -> None:
    reading, writing = os.pipe()
    with in_place_of(Path(f"/dev/fd/{writing}")) as path:
        path.write_text("here")
    assert os.read(reading, 10) == b"here"
    os.close(reading)
    os.close(writing)


# Passes ---------------------------------------------------------------------------------


def test_saved_passes_are_those_that_stand(dialogue: Dialogue) -> None:
    dialogue._begin(parse_setup("(;GM[4]SZ[15];B[hh];W[];B[ii])"))
    assert dialogue.record().passes == (1,)
    dialogue.engine.undo()
    dialogue.engine.undo()
    assert dialogue.record().passes == ()


# Whose game it was ----------------------------------------------------------------------


@pytest.mark.parametrize("side", [Side.BLACK, Side.WHITE])
@pytest.mark.parametrize("name", ["a.sgf", "a.psq"])
def test_a_loaded_game_is_of_the_person_who_played_it(
    dialogue: Dialogue, tmp_path: Path, side: Side, name: str
) -> None:
    dialogue.person = side
    dialogue.engine.play(7, 7)
    dialogue.answer(f"save {tmp_path / name}")
    dialogue.person = Side.BLACK
    answer = dialogue.answer(f"load {tmp_path / name}")
    assert dialogue.person is side
    assert ("you play white" in answer) == (side is Side.WHITE)
    assert (dialogue.engine_turn() == "") == (side is Side.WHITE)


def test_a_game_of_strangers_leaves_the_sides(dialogue: Dialogue, tmp_path: Path) -> None:
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[4]PB[Li]PW[Wu];B[hh])", encoding="utf-8")
    for side in (Side.WHITE, Side.BLACK):
        dialogue.person = side
        dialogue.answer(f"load {path}")
        assert dialogue.person is side


# Positions ------------------------------------------------------------------------------


def test_moves_may_stand_apart_and_be_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["analyse", "h8i9", "h9", "--depth", "2"]) == 0
    assert "white to move" in capsys.readouterr().out
    cells = [f"{chr(97 + x)}{y + 1}" for y in range(0, 15, 2) for x in range(14)]
    assert len("".join(cells)) > 255  # longer than the name of a file may be
    asked = COMMAND.parse(["".join(cells)])
    assert len(setup.chosen_setup(asked, *asked.position).moves) == len(cells)


# Writing --------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_file_that_is_replaced_is_open_to_the_same_people(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old", encoding="ascii")
    path.chmod(0o600)
    with in_place_of(path) as part:
        part.write_text("new", encoding="ascii")
    assert (path.read_text(encoding="ascii"), path.stat().st_mode & 0o777) == ("new", 0o600)
