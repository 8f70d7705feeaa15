"""Kernel and oracle agree on wins, forbidden moves, threats' answers and static claims.

They are compared on random boards; one with a difference is shrunk, stone by stone, as long as it
still shows one.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from pbrain_engine.native.load.memory import Block
from pbrain_engine.patterns.shapes import MAKES_FIVE, MAKES_WINNING_FOUR, QUIET
from pbrain_engine.position.geometry import PADDED_CELLS, cell_of
from pbrain_engine.position.rules import Side
from pbrain_engine.values import WIN, loss_in, win_in
from tests.boards import game_of, random_board
from tests.checked import checked
from tests.oracle import rules
from tests.oracle.rules import EMPTY, Board, Cell, board_of, read_board
from tests.oracle.threats import five_cells, five_stoppers, four_stoppers, unstoppable_four_cells
from tests.puzzles import puzzles

CELLS = {"wins": 20_000, "forbidden": 3_000, "answers": 1_000, "static": 2_000}
LONG_CELLS = {"wins": 1_000_000, "forbidden": 1_000_000, "answers": 200_000, "static": 200_000}
Comparison = Callable[[Board, Side], str]  # describes the difference, if there is one


def compare_wins(board: Board, to_move: Side) -> str:
    """Compare, for every empty cell and both sides, whether a stone there wins."""
    game = game_of(board, to_move)
    # A row of six may have been five while stones were placed; then ask about the last stone.
    fresh = game.winner is None
    for cell in board.empties():
        for side in (Side.BLACK, Side.WHITE):
            game.place(*cell, side)
            engine = game.winner is side if fresh else bool(game.library.game_wins(game.address))
            game.undo()
            oracle = rules.wins_at(board, cell, int(side))
            if engine != oracle:
                return f"{side.name} at {cell} wins: engine {engine}, oracle {oracle}"
    return ""


def compare_forbidden(board: Board, to_move: Side) -> str:
    """Compare the cells that renju forbids to black."""
    del to_move
    game = game_of(board, Side.BLACK)
    engine = {tuple(move) for move in game.forbidden()}
    oracle = rules.forbidden_cells(board)
    if engine != oracle:
        return f"forbidden: engine alone {engine - oracle}, oracle alone {oracle - engine}"
    return ""


def compare_answers(board: Board, to_move: Side) -> str:
    """Compare the kernel's answers to the opponent's threat with a brute-force search."""
    enemy = int(to_move.opponent)
    library = checked()
    with closing(Block(library.sizes["worker"])) as worker:
        game = game_of(board, to_move, library, worker)
        marks = (ctypes.c_uint8 * PADDED_CELLS)()
        kind = library.worker_answers(game.address, game.tables, ctypes.addressof(marks))
    answers = {cell for cell in board.cells if marks[cell_of(*cell)]}
    if five_cells(board, int(to_move)):
        return ""  # the side to move wins, so answers do not matter
    threat, needed, allowed = QUIET, set[Cell](), set[Cell]()
    if five_cells(board, enemy):
        threat = MAKES_FIVE
        needed = allowed = five_stoppers(board, enemy)
    elif unstoppable_four_cells(board, enemy):
        threat = MAKES_WINNING_FOUR
        needed = four_stoppers(board, enemy)
        allowed = needed | own_fours(board, int(to_move))
    if kind == QUIET or threat == QUIET:
        return "" if kind == threat else f"threat: engine {kind}, oracle {threat}"
    if kind != threat or needed - answers or answers - allowed:
        return (
            f"threat: engine {kind}, oracle {threat}; "
            f"missing {needed - answers}, too many {answers - allowed}"
        )
    return ""


def own_fours(board: Board, side: int) -> set[Cell]:
    """Return the legal cells with which a side threatens five."""
    cells = set()
    for cell in board.empties():
        if rules.is_legal(board, cell, side):
            with board.stone(cell, side):
                if five_cells(board, side):
                    cells.add(cell)
    return cells


def compare_static(board: Board, to_move: Side) -> str:
    """Check the kernel's static result by playing it out."""
    game = game_of(board, to_move, checked())
    claim = game.library.game_static(game.address, game.tables, 0)
    if claim and not claim_holds(board, int(to_move), claim):
        return f"{to_move.name} to move: the engine claims {claim}, {WIN - abs(claim)} plies"
    return ""


def claim_holds(board: Board, side: int, claim: int) -> bool:
    """Return whether a claimed win in 1, 3 or 5 plies, or a loss in 2, is true."""
    if claim == win_in(1):
        return bool(five_cells(board, side))
    if claim == win_in(3):
        return bool(unstoppable_four_cells(board, side))
    if claim == loss_in(2):
        five = bool(five_cells(board, 1 - side))
        return five and not five_stoppers(board, 1 - side) and not five_cells(board, side)
    return claim == win_in(5) and has_win_in_five(board, side)


def has_win_in_five(board: Board, side: int) -> bool:
    """Return whether some move leads to a five or an unstoppable four after every reply."""
    for cell in board.empties():
        if rules.is_legal(board, cell, side):
            with board.stone(cell, side):
                if not five_cells(board, 1 - side) and _every_reply_loses(board, side):
                    return True
    return False


def _every_reply_loses(board: Board, side: int) -> bool:
    if five_cells(board, side):
        replies = five_stoppers(board, side)
    elif unstoppable_four_cells(board, side):
        replies = four_stoppers(board, side)
    else:
        return False
    return all(_loses_to_five_or_four(board, side, reply) for reply in replies)


def _loses_to_five_or_four(board: Board, side: int, reply: Cell) -> bool:
    with board.stone(reply, 1 - side):
        if rules.is_win(board, reply):
            return False
        return bool(five_cells(board, side) or unstoppable_four_cells(board, side))


def shrink(board: Board, to_move: Side, compare: Comparison) -> str:
    """Remove stones while the difference stays; return it with a drawing of the board."""
    smaller = True
    while smaller:
        smaller = False
        for cell, held in board.cells.items():
            if held != EMPTY:
                board.lift(cell)
                if compare(board, to_move):
                    smaller = True
                else:
                    board.put(cell, held)
    text = f"{board.rule}, {to_move.name} to move\n{board.drawing()}"
    return f"{compare(board, to_move)}\n{text}"


COMPARISONS: dict[str, tuple[Comparison, dict[str, Any]]] = {
    "wins": (compare_wins, {"blocked": True}),
    "forbidden": (compare_forbidden, {"rule": "renju", "blocked": True}),
    "answers": (compare_answers, {"largest": 12}),
    "static": (compare_static, {"largest": 11}),
}


def difference(name: str, seed: int, cells: int, **more: str) -> str:
    """Compare on boards with about so many empty cells; return the first difference."""
    compare, options = COMPARISONS[name]
    chance = random.Random(f"{name} {seed}")
    seen = 0
    while seen < cells:
        board = random_board(chance, **{**options, **more})
        to_move = Side(chance.randrange(2))
        seen += max(1, len(board.empties()))
        if compare(board, to_move):
            return shrink(board, to_move, compare)
    return ""


@pytest.mark.parametrize("name", COMPARISONS)
def test_kernel_agrees_with_oracle(name):
    assert difference(name, seed=1, cells=CELLS[name]) == ""


@pytest.mark.long
@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("name", COMPARISONS)
def test_kernel_agrees_with_oracle_at_length(name, rule):
    if name == "forbidden" and rule != "renju":
        pytest.skip("only renju forbids moves")
    assert difference(name, seed=2, cells=LONG_CELLS[name], rule=rule) == ""


def test_forbidden_cells_of_two_programs():
    for puzzle in puzzles("forbidden"):
        board = board_of(puzzle["size"], rules.RENJU, puzzle["black"], puzzle["white"])
        found = [list(move) for move in game_of(board, Side.BLACK).forbidden()]
        assert sorted(found) == sorted(puzzle["best"]), puzzle["id"] + "\n" + board.drawing()


# The three of the row becomes a straight four only by the stone at its left, which makes a five of
# the column; the three of the other column is one.
THREE_INTO_FIVE = """
...........
...........
.....X.....
.....X.....
......XX.O.
....X......
....X......
....X......
....X......
....O......
...........
"""


def test_a_three_that_grows_by_a_five_elsewhere_is_none():
    board = read_board(THREE_INTO_FIVE, rules.RENJU)
    game = game_of(board, Side.BLACK)
    assert not game.is_forbidden(5, 4) and not rules.is_forbidden(board, (5, 4))
    for cell in ((4, 6), (4, 7)):  # without the column's four, both are threes
        board.lift(cell)
    game = game_of(board, Side.BLACK)
    assert game.is_forbidden(5, 4) and rules.is_forbidden(board, (5, 4))
