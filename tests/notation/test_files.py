"""Files of games as other programs write them: encodings, passes, whose game it was."""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from pbrain_engine import Engine, Rule, Side
from pbrain_engine.app import setup
from pbrain_engine.app.setup import parse_setup
from pbrain_engine.commands.analyse import COMMAND
from pbrain_engine.commands.dialogue import Dialogue, GameStart
from pbrain_engine.files import in_place_of
from pbrain_engine.game.diagram import animated_svg
from pbrain_engine.game.record import GameRecord


@pytest.fixture
def dialogue() -> Iterator[Dialogue]:
    with Engine(memory=60_000_000) as engine:
        yield Dialogue(engine, GameStart(GameRecord(), level=1, seconds=0.05), seed=1)


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


def test_moves_may_be_many():
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
