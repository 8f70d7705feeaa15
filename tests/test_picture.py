"""The picture of the README is drawn by our own code, and shows what it says."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from pbrain_engine import Game, Side
from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.pages.drawing import MARK, board_svg

from .building import picture

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_that_of_its_game() -> None:
    assert picture.PLACE.read_text(encoding="utf-8") == picture.picture()
    game = Game(picture.SIZE)
    for move in parse_moves(picture.GAME):
        game.play(*move)
    assert game.winner is Side.BLACK and game.ply == 21
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    assert "black wins with the 21st stone](docs/game.svg)" in readme


def test_stones_lie_where_they_were_put() -> None:
    root = ElementTree.fromstring(board_svg(15, 12, [(7, 7), (8, 8)], [(8, 8)], "two & stones"))
    circles = [c for c in root.iter(f"{SVG}circle") if float(c.get("r", 0)) > 10]
    assert [(c.get("cx"), c.get("cy")) for c in circles] == [("240", "240"), ("270", "270")]
    assert [c.get("stroke") == MARK for c in circles] == [False, True]
    assert [t.text for t in root.iter(f"{SVG}text")][-2:] == ["1", "2"]
