"""Boards in colour for the terminal, drawn with rich if it is installed.

The board has a wooden background of its own, so that black stones are dark and white ones light
whatever the terminal's colours; ``+`` are the star points.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ..game.cells import column_letter
from ..game.diagram import STAR, SYMBOLS, star_points
from ..game.record import GameRecord
from ..position.geometry import Coordinates
from ..position.rules import Side

if TYPE_CHECKING:
    from rich.text import Text

GROUND, LAST, ROW = "#d9b06b", "#e07a4f", "#8fbf6a"  # backgrounds: plain, last stone, winning row
LABEL = "dim"
INKS = {Side.BLACK: "#000000", Side.WHITE: "#ffffff", Side.EMPTY: "#7a5a24", Side.WALL: "#4a3a1c"}
CROSS = "x"
CROSS_INK = "#b00020"
SIGNS = {Side.BLACK: "●", Side.WHITE: "●", Side.EMPTY: "·", Side.WALL: "▒"}


def colour_rows(
    board: GameRecord,
    row: Collection[Coordinates],
    encoding: str,
    crossed: Collection[Coordinates] = (),
) -> Text:
    """Return a board in colour, with last stone, winning row and crossed cells highlighted.

    Where the terminal's ``encoding`` has no discs, the stones are ``X`` and ``O``.
    """
    from rich.text import Text

    discs = "".join(SIGNS.values())
    signs = SIGNS if discs.encode(encoding, "ignore").decode(encoding) == discs else SYMBOLS
    stars, stones = star_points(board.width, board.height), board.stones
    text = Text("   " + " ".join(column_letter(x) for x in range(board.width)), style=LABEL)
    for y in range(board.height):
        text.append(f"\n{y + 1:2} ", style=LABEL)
        for x in range(board.width):
            side = stones.get((x, y), Side.EMPTY)
            sign, ink = signs[side], INKS[side]
            if (x, y) in crossed:
                sign, ink = CROSS, CROSS_INK
            elif side is Side.EMPTY and (x, y) in stars:
                sign = STAR
            ground = LAST if (x, y) == board.last else ROW if (x, y) in row else GROUND
            text.append(sign, f"bold {ink} on {ground}")
            text.append(" ", f"on {GROUND}")
    return text
