"""Games on their way to files: passes, many moves, films."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from pbrain_engine import Rule, Side
from pbrain_engine.app import setup
from pbrain_engine.commands.analyse import COMMAND
from pbrain_engine.game.cells import NotationError
from pbrain_engine.game.diagram import animated_svg
from pbrain_engine.game.record import GameRecord
from pbrain_engine.notation.files import read_game, read_games


def test_moves_may_be_many():
    cells = [f"{chr(97 + x)}{y + 1}" for y in range(0, 15, 2) for x in range(14)]
    assert len("".join(cells)) > 255  # longer than the name of a file may be
    asked = COMMAND.parse(["".join(cells)])
    assert len(setup.chosen_setup(asked, *asked.position).moves) == len(cells)


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


@pytest.mark.parametrize("rule", Rule)
def test_a_rule_that_is_given_overrides_that_of_a_file(rule, tmp_path):
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[4]SZ[15]RU[renju];B[hh])", encoding="utf-8")
    assert read_game(path, rule).rule is rule


@pytest.mark.parametrize(("name", "form"), [("x.lib", "RenLib"), ("x.sgf", "SGF")])
def test_a_damaged_file_is_called_by_the_name_of_its_format(name, form):
    with pytest.raises(NotationError) as caught:
        read_games(b"damaged", name)
    assert (caught.value.code, caught.value.values) == ("damaged", {"format": form})
