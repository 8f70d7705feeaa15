"""How commands ask a database: the position that a command line names, in its terms."""

from __future__ import annotations

from ..database.document import Asked
from ..position.canonical import Position
from ..position.rules import Side
from .setup import Setup


def asked_of(start: Setup) -> Asked:
    """Return a position as it is asked for; its moves count only from an empty board."""
    cells: dict[Side, list[tuple[int, int]]] = {
        side: [(x, y) for x, y, held in start.placed if held is side]
        for side in (Side.BLACK, Side.WHITE, Side.WALL)
    }
    side = start.first
    for x, y in start.moves:
        cells[side].append((x, y))
        side = side.opponent
    black, white, walls = (tuple(sorted(held)) for held in cells.values())
    position = Position(start.rule, start.width, start.height, side, black, white, walls)
    moves = () if start.placed or start.first is not Side.BLACK else tuple(start.moves)
    return Asked(position, moves)
