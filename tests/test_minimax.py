"""Alpha-beta without its heuristics equals plain minimax with the same evaluation."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.game.game import Game
from pbrain_engine.position.rules import Rule, Side
from pbrain_engine.values import DRAW, loss_in, win_in
from tests.fuzz_rules import random_board
from tests.oracle import rules
from tests.oracle.rules import EMPTY, Board, Cell
from tests.oracle.threats import five_cells

LEAVES = 2500  # a search of about so many is small enough for plain Python

# Renju boards on which black's forbidden cells decide: by depth, seeds of boards whose value
# would be another if he might play there.
DECIDED_BY_FOULS = {1: (506, 720), 2: (70, 127, 135, 143), 3: (22, 34, 79, 220)}
FEW_LEAVES = 150


class PlainSearch:
    """Minimax in plain Python: rules from the oracle, the evaluation from the engine."""

    def __init__(self, board: Board, game: Game, fouls: bool = True) -> None:
        """Search this board; without ``fouls`` black may play anywhere."""
        self.board, self.game, self.fouls = board, game, fouls

    def value(self, depth: int, ply: int = 0) -> int:
        """Return the value for the side to move, looking ``depth`` plies ahead."""
        side = int(self.game.to_move)
        if five_cells(self.board, side):
            return win_in(ply + 1)
        if not self.board.empties():
            return DRAW
        if depth == 0:
            return self.game.value()
        values = []
        for cell in self.moves(side):
            self.game.play(*cell)
            with self.board.stone(cell, side):
                values.append(-self.value(depth - 1, ply + 1))
            self.game.undo()
        return max(values) if values else loss_in(ply + 2)  # a foul has to be played

    def moves(self, side: int) -> Iterator[Cell]:
        """Return the legal cells near a stone: that is what the engine calls candidates."""
        stones = [cell for cell, held in self.board.cells.items() if held != EMPTY]
        for cell in self.board.empties():
            if any(is_near(cell, stone) for stone in stones):
                if not self.fouls or rules.is_legal(self.board, cell, side):
                    yield cell


def is_near(cell: Cell, stone: Cell) -> bool:
    """Say whether a stone is within three cells, or four away on a line."""
    dx, dy = abs(cell[0] - stone[0]), abs(cell[1] - stone[1])
    return max(dx, dy) <= 3 or (max(dx, dy) == 4 and (dx in (0, 4)) and dy in (0, 4))


def small_board(chance: random.Random, rule: str, leaves: int, depth: int) -> Board:
    """Return a small board with so few empty cells that a search has about ``leaves``."""
    most = max(2, round(leaves ** (1 / depth)) + depth // 2)
    while True:
        board = random_board(chance, rule, smallest=5, largest=7)
        chance_cells = board.empties()
        chance.shuffle(chance_cells)
        for cell in chance_cells[most:]:
            side = chance.randrange(2)
            if not rules.wins_at(board, cell, side):
                board.put(cell, side)
        if 2 <= len(board.empties()) <= most and not rules.winners(board):
            return board


def play_out(engine: Engine, game: Game, board: Board, to_move: Side) -> None:
    """Put the board's stones on an engine and a game in the same order."""
    engine.new_game(board.width, board.height, Rule[board.rule.upper()])
    for cell, held in board.cells.items():
        if held != EMPTY:
            engine.place(*cell, Side(held))
            game.place(*cell, Side(held))
    engine.set_to_move(to_move)
    game.set_to_move(to_move)


def compare(seed: int, depth: int, rule: str, leaves: int) -> None:
    chance = random.Random(f"minimax {seed} {depth} {rule}")
    board = small_board(chance, rule, leaves, depth)
    to_move = Side(chance.randrange(2))
    with Engine(
        hash_size=1 << 20, memory=40_000_000, parameters={"plain": 1}, weights="learned"
    ) as engine:
        game = Game(
            board.width,
            board.height,
            Rule[rule.upper()],
            library=engine.library,
            weights=engine.weights,
        )
        play_out(engine, game, board, to_move)
        plain = PlainSearch(board, game)
        if not any(True for _ in plain.moves(int(to_move))):
            return
        thought = engine.think(Limit(depth=depth))
        drawing = f"{board.rule}, {to_move.name} to move, depth {depth}\n{board.drawing()}"
        assert thought.value == plain.value(depth), drawing


@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_alphabeta_equals_minimax(depth: int, rule: str) -> None:
    for seed in range(3):
        compare(seed, depth, rule, LEAVES)


@pytest.mark.parametrize(
    "depth, seed", [(depth, seed) for depth, seeds in DECIDED_BY_FOULS.items() for seed in seeds]
)
def test_the_tree_holds_no_forbidden_move(depth: int, seed: int) -> None:
    chance = random.Random(f"forbidding {seed} {depth}")
    board = small_board(chance, "renju", FEW_LEAVES, depth)
    to_move = Side.BLACK if depth % 2 else Side(chance.randrange(2))
    assert rules.forbidden_cells(board), board.drawing()
    with Engine(
        hash_size=1 << 20, memory=40_000_000, parameters={"plain": 1}, weights="learned"
    ) as engine:
        game = Game(
            board.width, board.height, Rule.RENJU, library=engine.library, weights=engine.weights
        )
        play_out(engine, game, board, to_move)
        value = PlainSearch(board, game).value(depth)
        assert PlainSearch(board, game, fouls=False).value(depth) != value, "fouls decide here"
        drawing = f"{to_move.name} to move, depth {depth}\n{board.drawing()}"
        assert engine.think(Limit(depth=depth)).value == value, drawing
        # With all that the engine leaves out, what it plays is legal.
        engine.set_parameter("plain", 0)
        engine.clear_hash()
        move = tuple(engine.think(Limit(depth=depth + 4)).move)
        assert rules.is_legal(board, move, int(to_move)), drawing


@pytest.mark.long
@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_alphabeta_equals_minimax_at_length(depth: int, rule: str) -> None:
    for seed in range(100, 140):
        compare(seed, depth, rule, 4 * LEAVES)
