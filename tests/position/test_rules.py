"""Kernel and oracle agree on wins, forbidden moves, threats' answers and static claims."""

import pytest

from lab.fuzz_rules import COMPARISONS, differences, game_of
from pbrain_engine.position.rules import Side
from tests.oracle import rules
from tests.oracle.rules import board_of, read_board
from tests.puzzles import puzzles

CELLS = {"wins": 20_000, "forbidden": 8_000, "answers": 3_000, "static": 5_000}
LONG_CELLS = {"wins": 1_000_000, "forbidden": 1_000_000, "answers": 200_000, "static": 200_000}


@pytest.mark.parametrize("name", COMPARISONS)
def test_kernel_agrees_with_oracle(name):
    found, _ = differences(name, seed=1, cells=CELLS[name])
    assert not found, "\n\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_kernel_agrees_with_oracle_at_length(name, rule):
    if name == "forbidden" and rule != "renju":
        pytest.skip("only renju forbids moves")
    found, _ = differences(name, seed=2, cells=LONG_CELLS[name], rule=rule)
    assert not found, "\n\n".join(found)


def test_forbidden_cells_of_two_programs():
    for puzzle in puzzles("forbidden"):
        board = board_of(puzzle["size"], rules.RENJU, puzzle["black"], puzzle["white"])
        found = [list(move) for move in game_of(board, Side.BLACK).forbidden()]
        assert sorted(found) == sorted(puzzle["best"]), puzzle["id"] + "\n" + board.drawing()


ALL_FORBIDDEN = """
XXX.XXX
OOXOXOO
OXOOOXO
XXX.XXX
OXOOOXO
OOXOXOO
XXX.XXX
"""


def test_every_empty_cell_forbidden():
    board = read_board(ALL_FORBIDDEN, rules.RENJU)
    assert rules.winners(board) == set()
    game = game_of(board, Side.BLACK)
    assert set(game.forbidden()) == set(board.empties()) == {(3, 0), (3, 3), (3, 6)}
    assert game.legal_moves() == []
