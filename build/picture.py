"""Draws the picture of the README: ``python build/picture.py`` writes ``docs/game.svg``.

The game is one of the engine against itself, freestyle, from the first four stones on, with
60,000 nodes a move.
"""

from __future__ import annotations

from pathlib import Path

from pbrain_engine.notation.cells import parse_moves
from pbrain_engine.notation.diagram import Diagram
from pbrain_engine.notation.picture import Drawn, board_svg, diagram_of, winning_row
from pbrain_engine.position.rules import Side

GAME = "h8k11e10i5f9j4g8h7f8e8c12d11f10f7g9e11g10g7d10c10h10"
SIZE = 15
PLACE = Path(__file__).parent.parent / "docs" / "game.svg"


def picture() -> str:
    """Return the picture."""
    moves = parse_moves(GAME)
    stones = [(cell, Side(number % 2)) for number, cell in enumerate(moves)]
    board: Diagram = diagram_of(SIZE, SIZE, stones, moves[-1])
    drawn = [Drawn(cell, side, str(number)) for number, (cell, side) in enumerate(stones, 1)]
    return board_svg(SIZE, SIZE, drawn, winning_row(board), "A game of Numoku against itself")


if __name__ == "__main__":
    PLACE.write_text(picture(), encoding="utf-8")
