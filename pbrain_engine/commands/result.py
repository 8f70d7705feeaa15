"""How a game ended, in words."""

from __future__ import annotations

from ..game.game import Game
from ..notation.cells import cell_name
from ..notation.picture import winning_row
from .view import diagram_of, last_of


def result_line(game: Game, winner: str | None) -> str:
    """Return the result of a game that is over."""
    stones = f"{len(game.moves)} stones"
    if winner is None:
        return f"Result: draw, {stones}"
    row = winning_row(diagram_of(game, last_of(game)))
    where = f" with {cell_name(*row[0])} to {cell_name(*row[-1])}" if row else ""
    return f"Result: {winner} wins{where}, {stones}"
