"""Positions as messages hold them, the games that they stand for, and the plain facts of those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..commands.setup import Placed, Setup, build
from ..commands.view import diagram_of, last_of, opening_line
from ..game.game import Game, IllegalMove
from ..notation.picture import winning_row
from ..position.rules import Rule, Side
from .refusal import Refused
from .shapes import foul_of


def setup_of(message: Mapping[str, Any]) -> Setup:
    """Return the position of a message whose fields have been checked."""
    return Setup(
        message["width"],
        message["height"],
        Rule.parse(message["rule"]),
        tuple(
            Placed(stone["x"], stone["y"], Side[stone["side"].upper()])
            for stone in message.get("placed") or ()
        ),
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
        build(game, setup._replace(moves=()))
        if game.winner is not None and _other_winner(setup) is not game.winner:
            raise Refused("both sides have a winning row")
        for number, (x, y) in enumerate(setup.moves, 1):
            if game.winner is not None:
                raise Refused(f"{game.winner.name.lower()} has won before move {number}")
            game.play(x, y)
    except IllegalMove as error:
        raise Refused(str(error)) from None
    return game


def _other_winner(setup: Setup) -> Side | None:
    """Return who has won if the stones are put in the other order."""
    turned = sorted(setup.placed, key=lambda placed: -placed.side)
    game = Game(setup.width, setup.height, setup.rule)
    build(game, setup._replace(placed=tuple(turned), moves=()))
    return game.winner


def facts(game: Game) -> dict[str, Any]:
    """Return what the rules say about a position."""
    row = winning_row(diagram_of(game, last_of(game)))
    return {
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "full": game.is_full,
        "opening": opening_line(game).removeprefix("opening ") or None,
        "row": [list(cell) for cell in row] if game.winner is not None else [],
        "forbidden": [
            {"cell": list(cell), "reason": foul_of(game, *cell)} for cell in game.forbidden()
        ],
    }
