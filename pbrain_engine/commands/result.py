"""How a game ended, in words."""

from __future__ import annotations

from ..notation.cells import cell_name
from ..position.geometry import Coordinates
from .view import Seen

_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def winning_row(game: Seen) -> list[Coordinates]:
    """Return the row of five or more that the last stone completed, empty if there is none."""
    if not game.moves:
        return []
    x, y = game.moves[-1]
    side = game.at(x, y)
    rows = []
    for dx, dy in _DIRECTIONS:
        row = [(x, y)]
        while game.at(row[-1][0] + dx, row[-1][1] + dy) is side:
            row.append((row[-1][0] + dx, row[-1][1] + dy))
        while game.at(row[0][0] - dx, row[0][1] - dy) is side:
            row.insert(0, (row[0][0] - dx, row[0][1] - dy))
        if len(row) >= 5:
            rows.append(row)
    return min(rows, key=len, default=[])  # where only five counts, a six beside it does not


def result_line(game: Seen, winner: str | None) -> str:
    """Return the result of a game that is over."""
    stones = f"{len(game.moves)} stones"
    if winner is None:
        return f"Result: draw, {stones}"
    row = winning_row(game)
    where = f" with {cell_name(*row[0])} to {cell_name(*row[-1])}" if row else ""
    return f"Result: {winner} wins{where}, {stones}"
