"""Kernel and oracle agree on wins, forbidden moves, threats' answers and static claims."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.fuzz_rules import (
    COMPARISONS,
    compare_forbidden,
    compare_wins,
    differences,
    game_of,
    set_up,
    shrink,
)
from pbrain_engine.engine.engine import Engine, Limit
from pbrain_engine.position.geometry import MAX_BOARD, MIN_BOARD
from pbrain_engine.position.rules import Rule, Side
from tests.oracle import rules
from tests.oracle.rules import Board, board_of, read_board
from tests.puzzles import puzzles

CELLS = {"wins": 60_000, "forbidden": 20_000, "answers": 6_000, "static": 10_000}
LONG_CELLS = {"wins": 1_000_000, "forbidden": 1_000_000, "answers": 200_000, "static": 200_000}


@pytest.mark.parametrize("name", COMPARISONS)
def test_kernel_agrees_with_oracle(name: str) -> None:
    found, _ = differences(name, seed=1, cells=CELLS[name])
    assert not found, "\n\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_kernel_agrees_with_oracle_at_length(name: str, rule: str) -> None:
    if name == "forbidden" and rule != "renju":
        pytest.skip("only renju forbids moves")
    found, _ = differences(name, seed=2, cells=LONG_CELLS[name], rule=rule)
    assert not found, "\n\n".join(found)


@st.composite
def any_boards(draw: st.DrawFn) -> Board:
    """Return any stones at all, so long as they make no row on their own."""
    width, height = (draw(st.integers(MIN_BOARD, MAX_BOARD)) for _ in range(2))
    board = Board(width, height, draw(st.sampled_from(rules.RULES)))
    cells = st.tuples(st.integers(0, min(width, 8) - 1), st.integers(0, min(height, 8) - 1))
    for cell in draw(st.lists(cells, unique=True, max_size=40)):
        held = draw(st.sampled_from([rules.BLACK, rules.WHITE, rules.BLOCKED]))
        if held == rules.BLOCKED or not rules.wins_at(board, cell, held):
            board.put(cell, held)
    return board


@settings(max_examples=40)
@given(any_boards(), st.sampled_from([Side.BLACK, Side.WHITE]))
def test_wins_on_any_board(board: Board, to_move: Side) -> None:
    difference = compare_wins(board, to_move)
    assert not difference, shrink(board, to_move, compare_wins)


@settings(max_examples=40)
@given(any_boards())
def test_forbidden_cells_on_any_board(board: Board) -> None:
    board.rule = rules.RENJU
    difference = compare_forbidden(board, Side.BLACK)
    assert not difference, shrink(board, Side.BLACK, compare_forbidden)


def test_forbidden_cells_of_two_programs() -> None:
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


def test_every_empty_cell_forbidden() -> None:
    board = read_board(ALL_FORBIDDEN, rules.RENJU)
    assert rules.winners(board) == set()
    game = game_of(board, Side.BLACK)
    assert set(game.forbidden()) == set(board.empties()) == {(3, 0), (3, 3), (3, 6)}
    assert game.legal_moves() == []


@pytest.mark.timed
def test_an_answer_comes_where_every_cell_is_forbidden() -> None:
    board = read_board(ALL_FORBIDDEN, rules.RENJU)
    with Engine(memory=30_000_000) as engine:
        engine.new_game(7, rule=Rule.RENJU)
        set_up(engine, board, Side.BLACK)
        thought = engine.think(Limit(time=1.0))
        assert thought.time < 0.5
        assert thought.move in board.empties()
