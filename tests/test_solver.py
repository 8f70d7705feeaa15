"""The solver against plain exhaustive search, and its claims under an independent replay."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pbrain_engine import Game, Result, Rule, Solver
from pbrain_engine import solver as module
from pbrain_engine.game.cells import format_moves, parse_moves
from pbrain_engine.game.game import move_of
from pbrain_engine.game.result import OPEN
from pbrain_engine.solver import SolverProgress
from tests.boards import game_of, last_cells
from tests.oracle.replay import complaint_about_line
from tests.oracle.rules import RULES, Board, board_of, read_board
from tests.oracle.vcf import OutOfNodes, find_vcf, vcf_stoppers
from tests.oracle.vct import has_vct
from tests.played import game_after
from tests.programs import run_program
from tests.puzzles import puzzles

NODES = 3_000_000
ORACLE_NODES = 300
VCT_NODES = 400


OPEN_THREE = """
.........
.O.....O.
.........
.........
...XXX...
.........
.........
.O.......
.........
"""


def positions(
    count: int, seed: int, rules: tuple[str, ...] = RULES, most: int = 20
) -> Iterator[tuple[Board, int]]:
    """Yield small boards, by all rules or some, with 9 to ``most`` empty cells."""
    chance = random.Random(seed)
    for number in range(count):
        rule = rules[number % len(rules)]
        yield last_cells(chance, rule, chance.randint(9, most), 7, 9), number // len(rules) % 2


def check_fours(solver: Solver, board: Board, side: int) -> str:
    """Compare the solver's answer with the exhaustive one; return what happened."""
    try:
        expected = find_vcf(board, side, node_limit=ORACLE_NODES)
    except OutOfNodes:
        return "open"
    proof = solver.fours(game_of(board, side), nodes=NODES)
    if expected is None:
        assert proof.claim == "no-vcf", board.drawing()
        return "none"
    assert proof.claim == "vcf" and proof.length == expected[0], board.drawing()
    assert complaint_about_line(board, side, proof.line) == "", board.drawing()
    return "win"


@pytest.mark.parametrize("count", [150, pytest.param(5000, marks=pytest.mark.long)])
def test_fours_agree_with_exhaustive_search(solver, count):
    seen = [check_fours(solver, *position) for position in positions(count, 1)]
    assert seen.count("win") > count // 10 and seen.count("none") > count // 20


def test_rescues_agree_with_trying_every_move(solver):
    compared = 0
    for board, side in positions(40, 3):
        try:
            expected = vcf_stoppers(board, 1 - side, node_limit=ORACLE_NODES)
        except OutOfNodes:
            continue
        rescue = solver.rescues(game_of(board, side), nodes=NODES)
        assert not rescue.unknown
        assert set(rescue.moves) == expected, board.drawing()
        compared += 1
    assert compared > 20


def test_moves_that_were_not_judged_are_not_called_safe(solver):
    board = read_board(OPEN_THREE, "freestyle")
    whole = solver.rescues(game_of(board, 1), nodes=NODES)
    assert whole.moves and not whole.unknown
    some_unknown = 0
    for nodes in (1, 20, 60, 150, 400):
        solver.clear()
        rescue = solver.rescues(game_of(board, 1), nodes=nodes)
        assert set(rescue.moves) <= set(whole.moves)
        assert not set(rescue.moves) & set(rescue.unknown)
        some_unknown += bool(rescue.unknown)
    assert some_unknown


def compare_threats(solver: Solver, board: Board, side: int) -> str:
    """Compare the solver's answer with that of trying everything; return what happened."""
    try:
        expected = has_vct(board, side, VCT_NODES)
    except OutOfNodes:
        return "open"
    claim = solver.threats(game_of(board, side), nodes=NODES).claim
    assert claim == ("vct" if expected else "no-vct"), f"{side} moves:\n{board.drawing()}"
    if expected:
        return "win" if solver.fours(game_of(board, side), nodes=NODES).wins else "threats"
    return "none"


# No side wins by threats here, which takes the search a million stones to find out.
UNCLEAR = "k7j8j12h8j11g12h5j10i10f4e9i7k9f8k4h11f9e6"


@pytest.mark.parametrize(
    "limit", [{"time": 0}, {"time": -1.0}, {"nodes": 0}, {"nodes": -1}, {"time": 0.001}]
)
def test_a_limit_of_nothing_is_no_lack_of_a_limit(solver, limit):
    game = game_after(UNCLEAR)
    for ask in (solver.threats, solver.prove):
        solver.clear()
        proof = ask(game, **limit)
        assert proof.is_open and proof.nodes < 200_000
    if "nodes" in limit:
        rescue = solver.rescues(game, **limit)
        assert not rescue.moves and len(rescue.unknown) == 15 * 15 - game.ply


@pytest.mark.parametrize(
    "limit, found, asked",
    [
        ({}, 4, [(None, 1000)] * 4),
        ({"nodes": 2000}, 9, [(None, 1000), (None, 1000), (None, 600)]),
        ({"time": 7.0}, 9, [(7, 1000), (4, 1000), (1, 1000)]),
        ({"time": 6.0, "nodes": 2800}, 9, [(6, 1000), (3, 1000)]),
        ({"nodes": 700}, 9, [(None, 700)]),
    ],
)
def test_a_long_search_tells_how_it_goes(limit, found, asked, monkeypatch):
    """Each part takes 3 seconds and 700 stones; ``found``: the part that comes to an end."""
    parts, reports = list[tuple[Any, Any]](), list[SolverProgress]()
    game = Game(15)
    with Solver(1_000_000) as solver:

        def threats(game: Game, time: float | None, nodes: int) -> Result:
            parts.append((time, nodes))
            return Result(nodes=700, time=3.0, claim="no-vct" if len(parts) == found else OPEN)

        monkeypatch.setattr(module, "SLICE_NODES", 1000)
        monkeypatch.setattr(module, "perf_counter", lambda: 3.0 * len(parts))
        monkeypatch.setattr(solver, "threats", threats)
        proof = solver.prove(game, listener=reports.append, **limit)
        assert parts == asked
        assert (proof.nodes, proof.time) == (700 * len(parts), 3.0 * len(parts))
        assert [each[:2] for each in reports] == [(700 * n, 3.0 * n) for n in range(1, len(parts))]


ASKED_AT_ONCE = f"""
import threading
from pbrain_engine import Solver
from tests.played import game_after
solver = Solver(4_000_000)
games = [game_after("{UNCLEAR}", size=size) for size in range(15, 23)]
threads = [threading.Thread(target=solver.threats, args=(game,)) for game in games]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    threads[0].join(0.05)
    solver.close()
print(solver.threats(games[0]).claim)
"""


def test_threads_that_ask_at_once_take_turns_and_a_close_ends_their_searches():
    done = run_program(sys.executable, "-c", ASKED_AT_ONCE)  # which would crash
    assert (done.returncode, done.stdout) == (0, "no-vct\n"), done.stderr


def test_an_interrupt_ends_a_search(solver):
    solver.clear()
    game = game_after(UNCLEAR)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,)).start()
        solver.threats(game)
    assert solver.threats(game, nodes=1000).is_open


def test_a_long_search_tells_what_its_root_still_has_to_settle(solver, monkeypatch):
    monkeypatch.setattr(module, "SLICE_NODES", 3000)
    game, reports = game_after(UNCLEAR), list[SolverProgress]()
    solver.clear()
    assert solver.prove(game, nodes=9000, listener=reports.append).is_open
    assert [each.level for each in reports] == [0, 0]
    assert reports[0].proof > 20 and reports[0].disproof > 20 and reports[0][3:] != reports[1][3:]


@pytest.mark.filterwarnings("error")  # of a thread that fails
@pytest.mark.parametrize("limit", [{"time": float("inf")}, {"time": 1e30}, {"nodes": 10**40 - 1}])
def test_a_limit_may_be_larger_than_any_search(solver, limit):
    game = game_after("h8i9j10h10h9")
    solver.clear()
    for ask in (solver.threats, solver.prove):
        assert ask(game, **limit).claim == "no-vct"
    assert not solver.rescues(game, **limit).unknown


@pytest.mark.parametrize("count", [60, pytest.param(5000, marks=pytest.mark.long)])
def test_threats_agree_with_exhaustive_search(solver, count):
    known = RULES[:3]  # those with threats of fours
    seen = [compare_threats(solver, *position) for position in positions(count, 8, known, 16)]
    assert seen.count("none") > 5 and seen.count("win") > 5
    assert count < 5000 or "threats" in seen  # so near to the border few win without fours


def board_of_puzzle(puzzle: dict[str, Any]) -> tuple[Board, int]:
    board = board_of(puzzle["size"], puzzle["rule"], puzzle["black"], puzzle["white"])
    return board, 0 if puzzle["to_move"] == "black" else 1


def solve_fours(solver: Solver, puzzle: dict[str, Any]) -> Result:
    board, side = board_of_puzzle(puzzle)
    return solver.fours(game_of(board, side), nodes=NODES)


@pytest.mark.parametrize("name", ["vcf", "vcf_freestyle", "vcf_standard"])
def test_puzzles_of_fours_are_solved(solver, name):
    for puzzle in puzzles(name, every=50):
        board, side = board_of_puzzle(puzzle)
        proof = solve_fours(solver, puzzle)
        assert proof.claim == "vcf", puzzle["id"]
        assert complaint_about_line(board, side, proof.line) == "", puzzle["id"]
        if puzzle.get("shortest_proven"):
            assert proof.length == puzzle["own_moves"], puzzle["id"]


def test_line_and_move_of_a_proof_have_limits_of_their_own(solver):
    cut = set()
    for puzzle in puzzles("vcf", every=1000):
        game = game_of(*board_of_puzzle(puzzle))
        proof = solver.threats(game)
        with solver._holding(game) as (address, tables):
            few, many = [len(solver._line_of(address, tables, 0, nodes)) for nodes in (1, NODES)]
            one, sure = [solver._library.threats_move(address, tables, n) for n in (1, NODES)]
        assert few in (0, many) and many == len(proof.line), puzzle["id"]
        assert one in (0, sure) and move_of(sure) == proof.move, puzzle["id"]
        cut |= {name for name, found in (("line", few), ("move", one)) if not found}
    assert cut == {"line", "move"}


@pytest.mark.parametrize("name", ["fours", "threats", "prove", "rescues"])
def test_the_time_of_a_question_begins_with_its_turn(solver, name):
    with ThreadPoolExecutor() as apart:
        with solver._holding(Game()):
            asked = apart.submit(getattr(solver, name), game_after("h8h9"), time=0.4, nodes=20)
            time.sleep(0.5)
    assert asked.result().time < 0.4


def test_positions_without_a_win_by_fours_are_proven(solver):
    for puzzle in puzzles("novcf", every=5):
        assert solve_fours(solver, puzzle).claim == "no-vcf", puzzle["id"]


def test_defence_puzzles_get_their_complete_set(solver):
    for puzzle in puzzles("defend", every=20):
        rescue = solver.rescues(game_of(*board_of_puzzle(puzzle)), nodes=NODES)
        assert sorted(rescue.moves) == sorted(map(tuple, puzzle["best"])), puzzle["id"]


def test_a_block_that_is_forbidden_leaves_the_five_to_come(solver):
    game = game_after("d8g5e8g6f8g7h8a1i8o1g3a15g9", Rule.RENJU)
    proof = solver.fours(game)
    first, elsewhere, five = proof.line
    assert format_moves([first, five]) == "g4g8"  # six for black, which is a foul
    assert not game.is_forbidden(*elsewhere)
    assert (proof.claim, proof.length) == ("vcf", 2)
    assert proof.board == solver.threats(game).board == game.record()
    assert solver.threats(game, after=game.legal_moves()[0]).board is None


def test_against_a_four_that_a_distant_stone_makes_a_foul_every_move_is_tried(solver):
    black = "e8f8g8h6h7i9j10l11m11k12k13"  # h8 is no double three while k11 is one
    board = board_of(15, "renju", parse_moves(black, 15), parse_moves("d8f6j9", 15))
    game = game_of(board, 1)
    answers = set(solver.answers(game) or ())
    assert answers == set(solver.rescues(game).moves) >= set(parse_moves("j11n11k10k14"))
