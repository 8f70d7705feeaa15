"""Games, engines and positions of messages after moves written as ``h8i9``."""

from __future__ import annotations

from typing import Any

from pbrain_engine import Engine, Game, Move, Rule
from pbrain_engine.game.cells import parse_moves


def moves_of(text: str, size: int = 15) -> list[Move]:
    return [Move(*cell) for cell in parse_moves(text, size)]


def game_after(moves: str, rule: Rule = Rule.FREESTYLE, size: int = 15) -> Game:
    game = Game(size, rule=rule)
    for move in moves_of(moves, size):
        game.play(*move)
    return game


def set_up(
    engine: Engine, moves: str, rule: Rule = Rule.FREESTYLE, size: int = 15, height: int = 0
) -> None:
    """Start a game on an engine and play moves; the board is square without a height."""
    engine.new_game(size, height or size, rule)
    for move in parse_moves(moves, size, height or size):
        engine.play(move)


def position(moves: str = "", rule: str = "freestyle", size: int = 15, **more: Any) -> Any:
    """Return a position as a page sends it."""
    cells = [list(cell) for cell in moves_of(moves, size)]
    return {"width": size, "height": size, "rule": rule, "moves": cells, **more}
