"""Proofs are walked through: whatever the defence is, they end in a five."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pbrain_engine.board.desk import Archive, Desks, Job
from pbrain_engine.board.messages import OPERATIONS
from pbrain_engine.board.proofs import Walk, win_of
from pbrain_engine.game.game import Move
from pbrain_engine.game.result import Tree
from pbrain_engine.position.rules import Rule
from pbrain_engine.solver import Solver
from tests.boards import game_of
from tests.golden.board import Page
from tests.oracle import rules
from tests.oracle.rules import Board
from tests.played import position

pytestmark = pytest.mark.slow

DEFENCES = 100  # of a walk at most
SIDES = ("black", "white")
SHIPPED = OPERATIONS["puzzles"].do(None, None)["puzzles"]


@pytest.fixture
def desk() -> Iterator[Page]:
    desk = Page(Desks(1, Archive()))
    yield desk
    desk.close()


def board_of(puzzle: dict[str, Any]) -> Board:
    board = Board(puzzle["size"], puzzle["size"], puzzle["rule"])
    for side, name in enumerate(SIDES):
        for x, y in puzzle[name]:
            board.put((x, y), side)
    return board


def position_of(puzzle: dict[str, Any]) -> Any:
    placed = [{"x": x, "y": y, "side": side} for side in SIDES for x, y in puzzle[side]]
    more = {"placed": placed, "first": puzzle["to_move"]}
    return position("", puzzle["rule"], puzzle["size"], **more)


def defence(desk: Page, now: Any, board: Board, side: int, chance: random.Random) -> Any:
    """Return a defence: one that the proof knows, a four of the defender's, or anything."""
    legal = [cell for cell in board.empties() if rules.is_legal(board, cell, side)]
    kind = chance.random()
    if kind < 0.4 and (known := desk.ask("branches", position=now)["branches"]):
        return tuple(chance.choice(known)["reply"])
    if kind < 0.75:
        made = desk.ask("threats", position=now)["shapes"][SIDES[side]]
        fours = [tuple(shape["cell"]) for shape in made if "four" in shape["makes"]]
        legal = [cell for cell in fours if cell in legal] or legal
    return chance.choice(legal) if legal else None


def walk(desk: Page, puzzle: dict[str, Any], chance: random.Random) -> None:
    """Walk to the five."""
    board = board_of(puzzle)
    attacker = SIDES.index(puzzle["to_move"])
    now = position_of(puzzle)
    for _ in range(DEFENCES):
        found = desk.ask("prove", position=now, seconds=30)
        assert found.get("move"), (puzzle["id"], now["moves"], found)
        move = tuple(found["move"])
        assert rules.is_legal(board, move, attacker), (puzzle["id"], now["moves"], move)
        board.put(move, attacker)
        now["moves"].append(list(move))
        if rules.is_win(board, move):
            return
        answer = defence(desk, now, board, 1 - attacker, chance)
        if answer is None:  # renju: black may play nowhere
            return
        board.put(answer, 1 - attacker)
        now["moves"].append(list(answer))
        assert not rules.is_win(board, answer), (puzzle["id"], now["moves"])
    raise AssertionError(f"{puzzle['id']} does not end")


@pytest.mark.parametrize("rule", [rule.name.lower() for rule in Rule])
def test_shipped_puzzles_are_won_against_random_defences(desk: Page, rule: str) -> None:
    chance = random.Random(rule)
    wins = [one for one in SHIPPED if one["rule"] == rule and one["kind"] != "defend"]
    for puzzle in wins[::3]:  # those of all lengths
        walk(desk, puzzle, chance)


def test_shipped_puzzles_are_of_every_length_and_the_easiest_come_first() -> None:
    assert len({puzzle["id"] for puzzle in SHIPPED}) == len(SHIPPED) == 195
    counts = Counter(
        "defend" if puzzle["kind"] == "defend" else puzzle["own_moves"] for puzzle in SHIPPED
    )
    assert all(counts[part] >= 20 for part in (1, 2, 3, 4, 5, "defend"))
    order = [puzzle["difficulty"] for puzzle in SHIPPED]
    assert order == sorted(order) and order[0] == 1


def test_shipped_defences_are_all_that_hold_and_wins_as_long_as_they_say() -> None:
    with Solver(16_000_000) as solver:
        for puzzle in SHIPPED:
            game = game_of(board_of(puzzle), SIDES.index(puzzle["to_move"]))
            if puzzle["kind"] == "defend":
                held = solver.rescues(game)
                assert held.plies == 2 * puzzle["own_moves"] and not held.unknown, puzzle["id"]
                assert sorted(held.moves) == sorted(map(tuple, puzzle["best"])), puzzle["id"]
            elif puzzle["kind"] == "vcf":
                assert solver.fours(game).length == puzzle["own_moves"], puzzle["id"]


def test_the_longest_defence_is_chosen_and_an_escape_is_named(desk: Page) -> None:
    wins = [puzzle for puzzle in SHIPPED if puzzle["kind"] != "defend"]
    puzzle = next(p for p in wins if p["rule"] == "freestyle" and p["own_moves"] >= 4)
    now = position_of(puzzle)
    now["moves"].append(puzzle["best"][0])
    found = desk.ask("reply", position=now, seconds=20)
    assert found["state"] == "lost"
    assert found["length"] == puzzle["own_moves"] - 1


def test_the_line_of_a_proof_is_its_longest() -> None:
    short = Tree(Move(2, 0), {})
    long = Tree(Move(2, 1), {Move(3, 1): Tree(Move(4, 1), {})})
    tree = Tree(Move(0, 0), {Move(1, 0): short, Move(1, 1): long, Move(1, 2): short})
    found = win_of(tree)
    line = ((0, 0), (1, 1), (2, 1), (3, 1), (4, 1))
    assert (found.claim, found.line, found.length) == ("win", line, 3)


def stones(white: int = 8, **more: Any) -> Any:
    """Return a position of two stones, in which no threat is near."""
    placed = [{"x": 7, "y": 7, "side": "black"}, {"x": white, "y": white, "side": "white"}]
    return position(placed=placed, **more)


def walk_from(desk: Page, where: Any) -> Walk:
    return Walk(desk, Job(OPERATIONS["prove"], {"position": where, "seconds": 0.5}))


def test_a_proof_is_kept_for_its_rule_board_and_side_alone(
    desk: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Walk, "_by_search", lambda walk: None)
    monkeypatch.setattr(desk.archive, "note_win", lambda *found: noted.append(found))
    noted: list[Any] = []
    walk_from(desk, stones())._keep(Tree(Move(6, 6), {}))
    for more in ({}, {"rule": "standard"}, {"size": 20}, {"first": "white"}):
        found = walk_from(desk, stones(**more)).win()
        assert (found is None) == bool(more)
        assert found is None or found.line == ((6, 6),)
    assert not noted
    walk = walk_from(desk, stones(moves="g8a1f8a3"))
    proof = walk.win()
    assert proof and noted == [(walk.game, proof)]


def test_a_proof_in_a_database_is_taken_from_there_however_it_is_turned(
    desk: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Walk, "_by_search", lambda walk: None)
    archive = Archive(str(tmp_path / "b.db"))
    archive.note_win(walk_from(desk, stones()).game, win_of(Tree(Move(5, 6), {})))
    archive.close()
    desk.archive = Archive(str(tmp_path / "b.db"))
    for white, move in ((8, (5, 6)), (6, (9, 8))):
        found = walk_from(desk, stones(white)).win()
        assert found is not None and found.line == (move,)
    desk.archive.close()


def test_after_the_move_of_a_proof_the_defences_are_those_of_the_proof_alone(desk: Page) -> None:
    """The solver knows of no threat there: the main search alone saw the win."""
    answers = {Move(3, 3): Tree(Move(4, 4), {}), Move(2, 9): Tree(Move(5, 5), {})}
    walk_from(desk, stones())._keep(Tree(Move(6, 6), answers))
    assert walk_from(desk, stones(moves="g7")).defences() == list(answers)
    for moves in ("g8", "g7d4", ""):
        assert walk_from(desk, stones(moves=moves)).defences() is None
    assert walk_from(desk, stones(moves="g7", first="white")).defences() is None
