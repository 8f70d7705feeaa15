"""Wins that are claimed, of random middle games and in games of the engine, are true.

What the solver finds is also the same as ever: a search that is less strong than it was finds
other things, or at another price.

``python -m lab.fuzz_claims --count 150 --pin`` writes them anew; ``--count 20000`` looks for
false ones at length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from lab import game_claims
from lab.fuzz_claims import PINNED, examine, pinned
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.game.cells import parse_moves
from pbrain_engine.game.game import Move
from pbrain_engine.game.result import BY_FOURS, BY_THREATS
from pbrain_engine.solver import Solver
from pbrain_engine.values import WIN_BAND, win_in
from tests.oracle.rules import FREESTYLE, RULES, Board
from tests.played import moves_of

NODES = 3_000


@pytest.fixture(scope="module")
def records() -> Iterator[list[dict[str, Any]]]:
    count = len(PINNED.read_text(encoding="utf-8").splitlines())
    with Solver(8_000_000) as solver:
        yield [examine(solver, seed, NODES) for seed in range(count)]


def test_no_claim_is_false_and_every_rule_has_its_claims_as_ever(
    records: list[dict[str, Any]],
) -> None:
    assert [record for record in records if record.get("fault")] == []
    expected = PINNED.read_text(encoding="utf-8").splitlines()
    for was, now in zip(expected, pinned(records).splitlines(), strict=True):
        assert was == now, "if that was meant: python -m lab.fuzz_claims --count 150 --pin"


def test_wins_of_both_kinds_are_claimed_under_the_rules() -> None:
    claims = Counter(
        tuple(line.split()[1:3]) for line in PINNED.read_text(encoding="utf-8").splitlines()
    )
    for rule in RULES:
        assert sum(count for (name, _), count in claims.items() if name == rule) >= 5, rule
    for kind in ("vcf", "vct"):  # 22 and 6 when they were pinned
        assert sum(count for (_, claim), count in claims.items() if claim == kind) >= 5, kind


# In games -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def claims() -> Iterator[game_claims.Claims]:
    claims = game_claims.Claims(0.5)
    yield claims
    claims.close()


def game(moves: str) -> tuple[Board, list[tuple[int, int]]]:
    board, cells = Board(15, 15, FREESTYLE), list(parse_moves(moves))
    for ply, cell in enumerate(cells):
        board.put(cell, ply % 2)
    return board, cells


def thought_of(line: str, proof: str) -> Thought:
    pv = tuple(moves_of(line))
    return Thought(win_in(len(pv)), pv, 1, 1, 1, claim=proof)


def test_a_claim_is_held_against_the_oracle(claims: game_claims.Claims) -> None:
    board, moves = game("h8a1i8c1j8e1")
    true = thought_of("k8l8g8", BY_FOURS)
    assert claims.examine(board, moves, true)["fault"] == ""
    for line in ("h9l8g8", "a2b2c2"):
        assert claims.examine(board, moves, thought_of(line, BY_FOURS))["fault"]
    assert claims.examine(board, moves, true._replace(claim=BY_THREATS))["check"] == "tree"
    assert claims.examine(board, moves, true._replace(claim=""))["check"] == "tree"
    board, moves = game("h8i9")
    assert claims.examine(board, moves, thought_of("h9a1h10", BY_THREATS))["fault"]
    unproven = claims.examine(board, moves, thought_of("h9a1h10", ""))
    assert unproven["check"] == "none" and not unproven["fault"]


@pytest.mark.parametrize("winner, false", [("black", 0), ("white", 1), ("draw", 1)])
def test_a_win_that_is_neither_proven_nor_won_is_listed(winner: str, false: int) -> None:
    claim = {"side": 0, "ply": 10, "mate": 5, "kind": "search", "check": "none", "fault": ""}
    record: dict[str, Any] = {
        "rule": FREESTYLE, "size": 15, "winner": winner, "plies": 17, "claims": [claim],
        "lost": [[11, -4]], "moves": "",
    }  # fmt: skip
    game_claims.judge(record)
    assert claim["late"] == 2
    assert len(game_claims.faults([record])) == false
    assert "1 announced" in game_claims.table([record])


def test_a_move_of_a_known_line_claims_nothing_new() -> None:
    thought = thought_of("h8i8j8", "")
    assert game_claims.kind_of(thought) == game_claims.SEARCH
    assert game_claims.kind_of(thought._replace(claim=BY_FOURS)) == BY_FOURS
    assert game_claims.kind_of(thought._replace(line=(Move(7, 7),))) == game_claims.FORESEEN
    assert game_claims.kind_of(thought._replace(value=WIN_BAND - 1)) == ""


@pytest.mark.parametrize("rule", RULES)
def test_wins_announced_in_a_game_survive_a_replay(claims: game_claims.Claims, rule: str) -> None:
    with Engine(hash_size=4 << 20) as black, Engine(hash_size=4 << 20) as white:
        record = game_claims.play(Board(11, 11, rule), 3, (black, white), Limit(nodes=1500), claims)
    game_claims.judge(record)
    assert game_claims.faults([record]) == []
    assert record["claims"] or record["winner"] == "draw"
