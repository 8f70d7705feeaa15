"""What cells make, as board and terminal show it, held against the oracle."""

from __future__ import annotations

import random

import pytest

from pbrain_engine.app.view import foul_of, line_shape, shape_of
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.game import Game
from pbrain_engine.position.rules import Rule, Side
from tests.oracle.rules import Board, wins_at
from tests.oracle.threats import five_cells

FOURS = {"four", "open four", "double four", "four and three"}


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        ("......O......", ""),
        ("....OOO......", "three"),
        ("..X.OOO.X....", ""),
        (".....OO.O....", "three"),
        ("...OOOO......", "open four"),
        ("..XOOOO......", "four"),
        ("..X.OOO.O....", "four"),
        ("..OOOOO......", "five"),
        ("..O.OOO.O....", "double four"),
    ],
)
def test_the_stone_in_the_middle_of_a_line(line: str, shape: str) -> None:
    assert line_shape(line, Rule.STANDARD, Side.BLACK)[0] == shape


def test_six_is_a_five_in_freestyle_only() -> None:
    for rule, shape in ((Rule.FREESTYLE, "five"), (Rule.STANDARD, "overline"), (Rule.CARO, "five")):
        assert line_shape(".OOOOOO......", rule, Side.BLACK)[0] == shape
    closed = ".XOOOOOX.....", ".#OOOOO#....."
    assert [line_shape(line, Rule.CARO, Side.BLACK)[0] for line in closed] == ["", "five"]


@pytest.mark.parametrize(
    ("black", "cell", "reason"),
    [
        ("g8i8h7h9", "h8", "double three"),
        ("e8f8g8h7h9h10", "h8", "double four"),
        ("e8f8g8i8j8", "h8", "overline"),
        ("e8g8i8k8", "h8", "double four"),  # both in one line
    ],
)
def test_why_renju_forbids_a_cell(black: str, cell: str, reason: str) -> None:
    game = Game(15, rule=Rule.RENJU)
    for x, y in parse_moves(black):
        game.place(x, y, Side.BLACK)
    ((x, y),) = parse_moves(cell)
    assert game.is_forbidden(x, y)
    assert foul_of(game, x, y) == reason


@pytest.mark.parametrize("rule", list(Rule), ids=lambda rule: rule.name.lower())
def test_fives_and_fours_are_those_of_the_oracle(rule: Rule) -> None:
    chance = random.Random(rule)
    for _ in range(3):
        game, board = Game(12, rule=rule), Board(12, 12, rule.name.lower())
        for number in range(44):
            x, y = chance.randrange(2, 10), chance.randrange(2, 10)
            if game.at(x, y) is Side.EMPTY and game.winner is None:
                game.place(x, y, Side(number % 2))
                board.put((x, y), number % 2)
        for side in (Side.BLACK, Side.WHITE):
            before = set(five_cells(board, side))
            for cell in board.empties():
                made = shape_of(game, *cell, side)
                assert (made == "five") == wins_at(board, cell, side), (board.drawing(), cell)
                if made in ("five", "overline"):
                    continue
                with board.stone(cell, side):
                    new = set(five_cells(board, side)) - before
                assert not new or made in FOURS, (board.drawing(), cell, made)
                if made in FOURS:
                    assert new or before, (board.drawing(), cell, made)
