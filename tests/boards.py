"""Random, game-like boards of the oracle, and boards as games of the engine."""

from __future__ import annotations

import random

from pbrain_engine.engine.engine import Engine
from pbrain_engine.game.game import Game
from pbrain_engine.native.load.library import Library
from pbrain_engine.native.load.memory import Block
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD
from pbrain_engine.position.rules import Rule, Side
from tests.oracle import rules
from tests.oracle.rules import BLACK, BLOCKED, EMPTY, WHITE, Board, Cell


def random_board(
    chance: random.Random,
    rule: str | None = None,
    smallest: int = MIN_BOARD,
    largest: int = MAX_BOARD,
    blocked: bool = False,
) -> Board:
    """Return a board whose stones tend to be in line with others; no side has won."""
    width, height = chance.randint(smallest, largest), chance.randint(smallest, largest)
    board = Board(width, height, rule or chance.choice(rules.RULES))
    stones: list[Cell] = []
    wanted = int(width * height * min(chance.random(), chance.random()) * 0.9)
    for _ in range(wanted):
        cell = _next_cell(chance, board, stones)
        if board.at(cell) != EMPTY:
            continue
        side = chance.choice((BLACK, WHITE))
        if blocked and chance.random() < 0.05:
            board.put(cell, BLOCKED)
        elif not rules.wins_at(board, cell, side):
            board.put(cell, side)
            stones.append(cell)
    return board


def last_cells(
    chance: random.Random, rule: str, empty: int, smallest: int = 5, largest: int = 6
) -> Board:
    """Return a small board with two to ``empty`` empty cells and no winner."""
    while True:
        board = random_board(chance, rule, smallest, largest)
        cells = board.empties()
        chance.shuffle(cells)
        for cell in cells[empty:]:
            side = chance.randrange(2)
            if not rules.wins_at(board, cell, side):
                board.put(cell, side)
        if 2 <= len(board.empties()) <= empty and not rules.winners(board):
            return board


def _next_cell(chance: random.Random, board: Board, stones: list[Cell]) -> Cell:
    """Return any cell, but most often one in line with an earlier stone."""
    if not stones or chance.random() < 0.15:
        return chance.randrange(board.width), chance.randrange(board.height)
    x, y = chance.choice(stones[-12:])
    dx, dy = chance.choice(rules.DIRECTIONS)
    distance = chance.choice((-4, -3, -2, -2, -1, -1, 1, 1, 2, 2, 3, 4))
    return x + distance * dx, y + distance * dy


def set_up(game: Game | Engine, board: Board, to_move: int) -> None:
    """Put a board's stones on an empty game."""
    for (x, y), held in board.cells.items():
        if held != EMPTY:
            game.place(x, y, Side(held))
    game.set_to_move(Side(to_move))


def game_of(
    board: Board, to_move: int, library: Library | None = None, memory: Block | None = None
) -> Game:
    """Return an oracle board as a game of the engine."""
    rule = Rule[board.rule.upper()]
    game = Game(board.width, board.height, rule, library=library)
    if memory is not None:
        game.move(memory)
    set_up(game, board, to_move)
    return game
