"""No claimed win is false: of the solver in random positions, of the engine in games."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pbrain_engine import Engine, Limit, Move, Solver, Thought
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.result import BY_FOURS, BY_THREATS
from pbrain_engine.values import WIN_BAND, win_in
from tests.claims import FORESEEN, SEARCH, Claims, doubtful, kind_of, opening, play
from tests.golden.claims import MEMORY, examine
from tests.golden.claims import claims as recorded
from tests.oracle.rules import FREESTYLE, RULES, Board, board_of
from tests.played import moves_of


def test_no_claim_of_the_solver_is_false_and_all_are_as_recorded():
    recorded.check()


@pytest.mark.long
def test_no_claim_of_the_solver_is_false_in_many_positions():
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
    cells = parse_moves(moves)
    return board_of(15, FREESTYLE, cells[::2], cells[1::2]), cells


def thought_of(line: str, proof: str) -> Thought:
    pv = tuple(moves_of(line))
    return Thought(win_in(len(pv)), pv, 1, 1, 1, claim=proof)


def test_a_claim_is_held_against_the_oracle(claims):
    board, moves = game("h8a1i8c1j8e1")
    true = thought_of("k8l8g8", BY_FOURS)
    assert claims.examine(board, moves, true) == ("line", "")
    for line in ("h9l8g8", "a2b2c2"):
        assert claims.examine(board, moves, thought_of(line, BY_FOURS))[1]
    for proof in (BY_THREATS, ""):
        assert claims.examine(board, moves, true._replace(claim=proof)) == ("tree", "")
    board, moves = game("h8i9")
    assert claims.examine(board, moves, thought_of("h9a1h10", BY_THREATS))[1]
    assert claims.examine(board, moves, thought_of("h9a1h10", "")) == ("", "")


def test_a_win_that_is_refuted_or_neither_proven_nor_won_is_doubtful():
    claimed = (0, "here", "", "")
    assert doubtful([claimed], winner=0) == []
    assert doubtful([claimed], winner=1) == doubtful([claimed], winner=-1) != []
    assert doubtful([(0, "here", "tree", "")], winner=1) == []
    assert doubtful([(0, "here", "tree", "lost")], winner=0) == ["lost: here"]


def test_a_move_of_a_known_line_claims_nothing_new():
    thought = thought_of("h8i8j8", "")
    assert kind_of(thought) == SEARCH
    assert kind_of(thought._replace(claim=BY_FOURS)) == BY_FOURS
    assert kind_of(thought._replace(line=(Move(7, 7),))) == FORESEEN
    assert kind_of(thought._replace(value=WIN_BAND - 1)) == ""


LONG = [pytest.param(size, size, 50, 10_000, marks=pytest.mark.long) for size in (15, 20)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("width, height, games, nodes", [(12, 9, 3, 500), (5, 8, 1, 500), *LONG])
def test_games_keep_to_the_rules_and_wins_announced_survive_a_replay(
    claims, rule, width, height, games, nodes
):
    with Engine(hash_size=8 << 20) as black, Engine(hash_size=8 << 20) as white:
        for number in range(games):
            board, chance = Board(width, height, rule), random.Random(number)
            given = opening(board, (number + 3) % 7, chance)
            count, wrong = play(board, given, (black, white), Limit(nodes=nodes), claims)
            assert wrong == []
            assert count or not board.empties()
