"""No claimed win is false: of the solver in random positions, of the engine in games."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pbrain_engine import Engine, Limit, Solver
from pbrain_engine.game.cells import parse_moves
from tests.claims import Claims, opening, play
from tests.golden.claims import MEMORY, examine
from tests.golden.claims import claims as recorded
from tests.oracle.rules import FREESTYLE, RULES, Board


def test_no_claim_of_the_solver_is_false_and_all_are_as_recorded() -> None:
    recorded.check()


@pytest.mark.long
def test_no_claim_of_the_solver_is_false_in_many_positions() -> None:
    with Solver(MEMORY) as solver:
        for seed in range(20_000):
            examine(solver, seed)


# In games -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def claims() -> Iterator[Claims]:
    claims = Claims(0.5)
    yield claims
    claims.close()


def game(moves: str) -> tuple[Board, list[tuple[int, int]]]:
    board, cells = Board(15, 15, FREESTYLE), list(parse_moves(moves))
    for ply, cell in enumerate(cells):
        board.put(cell, ply % 2)
    return board, cells


LONG = [pytest.param(size, 50, 10_000, marks=pytest.mark.long) for size in (15, 20)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size, games, nodes", [(11, 1, 1500), *LONG])
def test_wins_announced_in_games_survive_a_replay(
    claims: Claims, rule: str, size: int, games: int, nodes: int
) -> None:
    with Engine(hash_size=8 << 20) as black, Engine(hash_size=8 << 20) as white:
        for number in range(games):
            board, chance = Board(size, size, rule), random.Random(number)
            given = opening(board, (number + 3) % 7, chance)
            count, wrong = play(board, given, (black, white), Limit(nodes=nodes), claims)
            assert wrong == []
            assert count or not board.empties()
