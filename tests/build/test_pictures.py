"""The pictures of the documents are drawn by our own code, and shows what it says."""

from __future__ import annotations

import pytest

from pbrain_engine import Game, Side
from pbrain_engine.game.cells import parse_moves
from tests.build.building import pictures

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_that_of_its_game():
    game = Game(pictures.GAME_SIZE)
    for move in parse_moves(pictures.GAME):
        game.play(*move)
    assert game.winner is Side.BLACK and game.ply == 21
    page = (pictures.DOCS / "cli.md").read_text(encoding="utf-8")
    assert "black wins with the 21st stone](game.svg)" in page


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_of_a_page_is_what_is_drawn_today(name):
    drawn = (pictures.DOCS / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == pictures.PICTURES[name]()
    page = pictures.DOCS / ("cli.md" if name == "game" else "methods.md")
    assert f"{name}.svg" in page.read_text(encoding="utf-8")
