"""The main search against the minimax of the methods: quiet positions, and games to their end."""

from __future__ import annotations

import random

import pytest

from pbrain_engine import Engine, Game, Limit, Rule, Side, methods
from pbrain_engine.methods import evaluation
from pbrain_engine.methods.minimax import Minimax
from pbrain_engine.values import DRAW, WIN_BAND
from tests.boards import last_cells, set_up
from tests.oracle import rules
from tests.oracle.rules import EMPTY, Board, Cell

# The search without any item that may change a value, and no fours beyond the depth: what it
# returns is minimax where nothing is forced.
EXACT = {
    "futility_depth": 0, "razor_depth": 0, "count_base": 500, "shaped_depth": 0,
    "reduction_base": -(10**6), "singular_depth": 10**6, "stale_pv": 0, "no_move_pv": 0,
    "alpha_raise": 0, "extend_block": 0, "delta": -(10**6), "threat_share": 0,
}  # fmt: skip

# Renju boards whose result would be another if black might play on his forbidden cells.
DECIDED_BY_FOULS = (69, 105, 151, 154, 237, 310, 393)
MOST_EMPTY = 6  # cells of a board that is played to its end
FAR = 20  # plies at which nothing that is pruned or reduced is left out of such an end


class Twin(methods.PlainGame):
    """A game of the methods beside one of the kernel, which judges and whose moves it has."""

    def __init__(self, board: Board, to_move: Side, judge: Game, fouls: bool = True) -> None:
        """Set both up; without ``fouls`` black may play anywhere."""
        super().__init__(board.width, board.height, board.rule)
        self.judge, self.fouls = judge, fouls
        for (x, y), held in board.cells.items():
            if held != EMPTY:
                self.to_move = held
                super().play(y * self.width + x)
        self.to_move, self.winner = int(to_move), None  # five of a row of six is none

    def play(self, cell: int) -> None:
        super().play(cell)
        self.judge.play(cell % self.width, cell // self.width)

    def undo(self) -> None:
        super().undo()
        self.judge.undo()

    def is_legal(self, cell: int) -> bool:
        return not self.fouls or super().is_legal(cell)

    def actions(self) -> list[int]:
        """Return the legal cells near a stone: that is what the engine calls candidates."""
        cells = [divmod(cell, self.width) for cell in range(len(self.cells))]
        return [
            cell for cell in self.legal_moves()
            if any(is_near(cells[cell], cells[stone]) for stone in self.history)
        ]  # fmt: skip


class Judged(Minimax):
    """Minimax with the evaluation of the engine."""

    game: Twin

    def evaluate(self) -> float:
        """Return what a position at the end of the search is worth to MAX."""
        if self.game.is_over():
            return evaluation.utility(self.game, self.player)
        value = self.game.judge.value()
        return value if self.game.to_move == self.player else -value


def is_near(cell: Cell, stone: Cell) -> bool:
    """Return whether a stone is within three cells, or four away on a line."""
    dx, dy = abs(cell[0] - stone[0]), abs(cell[1] - stone[1])
    return max(dx, dy) <= 3 or (max(dx, dy) == 4 and (dx in (0, 4)) and dy in (0, 4))


def values(
    board: Board, to_move: Side, depth: int, engine_depth: int = 0, **items: int
) -> tuple[int, float, float]:
    """Return the values of the engine, of minimax, and of minimax without forbidden cells."""
    rule = Rule[board.rule.upper()]
    with Engine(hash_size=1 << 20, parameters=items, weights="learned") as engine:
        game = Game(board.width, board.height, rule, weights=engine.weights)
        engine.new_game(board.width, board.height, rule)
        for each in (engine, game):
            set_up(each, board, to_move)
        if not game.legal_moves():
            return 0, 0, 0
        value = engine.think(Limit(depth=engine_depth or depth)).value
        twin = Twin(board, to_move, game)
        free = Twin(board, to_move, game, fouls=False) if rule is Rule.RENJU else twin
        found = [Judged(each, methods.Budget()).max_value(depth)[0] for each in (twin, free)]
        return value, found[0], found[1]


def result(value: float) -> int:
    """Return 1 for a win, -1 for a loss, else 0."""
    return (value >= WIN_BAND) - (value <= -WIN_BAND)


@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("depth", [1, 2])
def test_without_its_heuristics_it_is_minimax_where_nothing_is_forced(depth, rule):
    for seed in range(4):
        chance = random.Random(f"quiet {seed} {rule}")
        board = Board(chance.randint(6, 9), chance.randint(6, 9), rule)
        for side in (0, 1):  # two more stones of a side make no three
            board.put(chance.choice(board.empties()), side)
        found, true, _ = values(board, Side(seed % 2), depth, **EXACT)
        assert found == true and abs(true) < WIN_BAND, board.drawing()


@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("seeds", [6, pytest.param(400, marks=pytest.mark.long)])
def test_with_them_it_plays_the_end_of_a_game_right(seeds, rule):
    for seed in range(seeds):
        chance = random.Random(f"end {seed} {rule}")
        board = last_cells(chance, rule, MOST_EMPTY)
        found, true, _ = values(board, Side(seed % 2), MOST_EMPTY + 1, FAR)
        drawing = f"{Side(seed % 2).name} to move\n{board.drawing()}"
        assert result(found) == result(true), drawing
        assert result(true) or found == DRAW, drawing


@pytest.mark.parametrize("seed", DECIDED_BY_FOULS)
def test_the_tree_holds_no_forbidden_move(seed):
    board = last_cells(random.Random(f"end {seed} renju"), "renju", MOST_EMPTY)
    found, true, free = values(board, Side(seed % 2), MOST_EMPTY + 1, FAR)
    assert result(found) == result(true) != result(free), board.drawing()
