"""Positions as messages hold them, the games that they stand for, and the plain facts of those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..app.setup import Placed, Setup, build_checked
from ..app.shapes import foul_of
from ..app.view import opening_of, row_of
from ..game.game import Game
from ..notation.cells import NotationError
from ..position.rules import Rule, Side
from .messages import Refused


def setup_of(message: Mapping[str, Any]) -> Setup:
    """Return the position of a message whose fields have been checked."""
    placed = [
        Placed(stone["x"], stone["y"], Side[stone["side"].upper()])
        for stone in message.get("placed") or ()
    ]
    return Setup(
        message["width"],
        message["height"],
        Rule.parse(message["rule"]),
        tuple(placed),
        Side[(message.get("first") or "black").upper()],
        tuple((x, y) for x, y in message["moves"]),
    )


def message_of(setup: Setup) -> dict[str, Any]:
    """Return a position as messages hold it."""
    return {
        "width": setup.width,
        "height": setup.height,
        "rule": setup.rule.name.lower(),
        "placed": [{"x": x, "y": y, "side": side.name.lower()} for x, y, side in setup.placed],
        "first": setup.first.name.lower(),
        "moves": [list(move) for move in setup.moves],
    }


def game_of(setup: Setup) -> Game:
    """Return the game that leads to a position.

    Raises:
        Refused: it cannot have been: stones on one cell, two winners, moves after the end.
    """
    game = Game(setup.width, setup.height, setup.rule)
    try:
        build_checked(game, setup)
    except NotationError as error:
        raise Refused(str(error)) from None
    return game


def facts(game: Game) -> dict[str, Any]:
    """Return what the rules say about a position."""
    opening = opening_of(game)
    return {
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "full": game.is_full,
        "opening": None if opening is None else str(opening),
        "row": [list(cell) for cell in row_of(game)],
        "forbidden": [
            {"cell": list(cell), "reason": foul_of(game, *cell)} for cell in game.forbidden()
        ],
    }
