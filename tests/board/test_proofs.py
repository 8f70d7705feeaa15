"""Proofs are walked through over the socket: whatever the defence is, they end in a five."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from pbrain_engine.board.desk import Archive, Desk, Desks, Job
from pbrain_engine.board.messages import OPERATIONS
from pbrain_engine.board.proofs import Walk, win_of
from pbrain_engine.game.game import Move
from pbrain_engine.game.result import Tree
from pbrain_engine.position.rules import Rule
from pbrain_engine.solver import Solver
from tests.board.board_server import BoardServer, Tab, position, position_of_puzzle
from tests.boards import game_of
from tests.oracle import rules
from tests.oracle.rules import Board

pytestmark = pytest.mark.slow

DEFENCES = 100  # of a walk at most
SIDES = ("black", "white")
SHIPPED = OPERATIONS["puzzles"].do(None, None)["puzzles"]


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    server = BoardServer(tmp_path_factory.mktemp("board"))
    tab = Tab(server)
    yield tab
    tab.close()
    assert server.stop() == ""


def board_of(puzzle: dict[str, Any]) -> Board:
    board = Board(puzzle["size"], puzzle["size"], puzzle["rule"])
    for side, name in enumerate(SIDES):
        for x, y in puzzle[name]:
            board.put((x, y), side)
    return board


def defence(tab: Tab, now: Any, board: Board, side: int, chance: random.Random) -> Any:
    """Return a defence: one that the proof knows, a four of the defender's, or anything."""
    legal = [cell for cell in board.empties() if rules.is_legal(board, cell, side)]
    kind = chance.random()
    if kind < 0.4 and (known := tab.ask("branches", position=now)["branches"]):
        return tuple(chance.choice(known)["reply"])
    if kind < 0.75:
        made = tab.ask("threats", position=now)["shapes"][SIDES[side]]
        fours = [tuple(shape["cell"]) for shape in made if "four" in shape["makes"]]
        legal = [cell for cell in fours if cell in legal] or legal
    return chance.choice(legal) if legal else None


def walk(tab: Tab, puzzle: dict[str, Any], chance: random.Random) -> None:
    """Walk to the five."""
    board = board_of(puzzle)
    attacker = SIDES.index(puzzle["to_move"])
    now = position_of_puzzle(puzzle)
    for _ in range(DEFENCES):
        found = tab.ask("prove", position=now, seconds=30)
        assert found.get("move"), (puzzle["id"], now["moves"], found)
        move = tuple(found["move"])
        assert rules.is_legal(board, move, attacker), (puzzle["id"], now["moves"], move)
        board.put(move, attacker)
        now["moves"].append(list(move))
        if rules.is_win(board, move):
            return
        answer = defence(tab, now, board, 1 - attacker, chance)
        if answer is None:  # renju: black may play nowhere
            return
        board.put(answer, 1 - attacker)
        now["moves"].append(list(answer))
        assert not rules.is_win(board, answer), (puzzle["id"], now["moves"])
    raise AssertionError(f"{puzzle['id']} does not end")


@pytest.mark.parametrize("rule", [rule.name.lower() for rule in Rule])
def test_shipped_puzzles_are_won_against_random_defences(tab: Tab, rule: str) -> None:
    chance = random.Random(rule)
    wins = [one for one in SHIPPED if one["rule"] == rule and one["kind"] != "defend"]
    for puzzle in wins[::3]:  # those of all lengths
        walk(tab, puzzle, chance)


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


def test_the_longest_defence_is_chosen_and_an_escape_is_named(tab: Tab) -> None:
    wins = [puzzle for puzzle in SHIPPED if puzzle["kind"] != "defend"]
    puzzle = next(p for p in wins if p["rule"] == "freestyle" and p["own_moves"] >= 4)
    now = position_of_puzzle(puzzle)
    now["moves"].append(puzzle["best"][0])
    found = tab.ask("reply", position=now, seconds=20)
    assert found["state"] == "lost"
    assert found["length"] == puzzle["own_moves"] - 1


def test_the_line_of_a_proof_is_its_longest() -> None:
    short = Tree(Move(2, 0), {})
    long = Tree(Move(2, 1), {Move(3, 1): Tree(Move(4, 1), {})})
    tree = Tree(Move(0, 0), {Move(1, 0): short, Move(1, 1): long, Move(1, 2): short})
    found = win_of(tree)
    line = ((0, 0), (1, 1), (2, 1), (3, 1), (4, 1))
    assert (found.claim, found.line, found.length) == ("win", line, 3)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk(Desks(1, Archive()))
    yield desk
    desk.close()


def stones(**more: Any) -> Any:
    """Return a position of two stones, in which no threat is near."""
    placed = [{"x": 7, "y": 7, "side": "black"}, {"x": 8, "y": 8, "side": "white"}]
    return position(**{"placed": placed, **more})


def walk_from(desk: Desk, where: Any) -> Walk:
    return Walk(desk, Job(OPERATIONS["prove"], {"position": where, "seconds": 0.5}))


def test_a_proof_is_kept_for_its_rule_board_and_side_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
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
    walk = walk_from(desk, stones(moves=[(6, 7), (0, 0), (5, 7), (0, 2)]))
    proof = walk.win()
    assert proof and noted == [(walk.game, proof)]


def test_after_the_move_of_a_proof_the_defences_are_those_of_the_proof_alone(desk: Desk) -> None:
    """The solver knows of no threat there: the main search alone saw the win."""
    answers = {Move(3, 3): Tree(Move(4, 4), {}), Move(2, 9): Tree(Move(5, 5), {})}
    walk_from(desk, stones())._keep(Tree(Move(6, 6), answers))
    assert walk_from(desk, stones(moves=[(6, 6)])).defences() == list(answers)
    for moves in ([(6, 7)], [(6, 6), (3, 3)], []):
        assert walk_from(desk, stones(moves=moves)).defences() is None
    assert walk_from(desk, stones(moves=[(6, 6)], first="white")).defences() is None
