"""The methods of the textbooks: against each other, the oracle's rules, the solver, and chance."""

from __future__ import annotations

import random

import pytest

from pbrain_engine import Side, Solver
from pbrain_engine.methods import METHODS, Budget, PlainGame, method
from pbrain_engine.methods.alphabeta import AlphaBetaTree
from pbrain_engine.methods.board import DIRECTIONS
from pbrain_engine.methods.minimax import Minimax
from pbrain_engine.methods.proofnumber import ProofNumberSearch
from pbrain_engine.methods.threatspace import ThreatSpaceSearch
from tests import boards
from tests.boards import random_board
from tests.golden import methods
from tests.golden.methods import game_of
from tests.oracle import rules
from tests.oracle.rules import EMPTY, Board, board_of
from tests.oracle.threats import five_cells
from tests.puzzles import puzzles

INFINITE = float("inf")


@pytest.mark.parametrize("rule", rules.RULES)
def test_the_board_knows_the_rules(rule):
    chance = random.Random(f"board {rule}")
    for _ in range(12):
        board = random_board(chance, rule, smallest=5, largest=11, blocked=True)
        for side in (0, 1):
            game = game_of(board, side)
            legal = {c for c in board.empties() if rules.is_legal(board, c, side)}
            assert set(game.legal_moves()) == {y * board.width + x for x, y in legal}
            fives = {y * board.width + x for x, y in five_cells(board, side)}
            assert set(game.five_cells(side)) == fives, board.drawing()
            held = [[game.cells[cell] for cell in five] for five in game.fives]
            own = [five.count(side) for five in held if {*five} <= {side, EMPTY}]
            assert game.open_fives[side] == [own.count(stones) for stones in range(6)]


def test_the_board_forbids_what_two_programs_do():
    for puzzle in puzzles("forbidden", every=10):
        board = board_of(puzzle["size"], rules.RENJU, puzzle["black"], puzzle["white"])
        game = game_of(board, 0)
        cells = [(x, y) for x, y in board.empties() if not game.is_legal(y * board.width + x)]
        assert sorted(cells) == sorted(map(tuple, puzzle["best"])), board.drawing()


@pytest.mark.parametrize("rule", rules.RULES)
def test_a_game_keeps_its_counts_and_its_winner(rule):
    chance = random.Random(f"game {rule}")
    for _ in range(2):
        board = Board(chance.randint(5, 9), chance.randint(5, 9), rule)
        game = PlainGame(board.width, board.height, rule)
        before = []
        while not game.is_over() and (moves := game.legal_moves()):
            before.append((game.cells[:], [row[:] for row in game.open_fives], game.to_move))
            cell = chance.choice(moves)
            board.put((cell % board.width, cell // board.width), game.to_move)
            game.play(cell)
            assert game.winner == next(iter(rules.winners(board)), None)
            legal = game.legal_moves()
            near = [c for c in legal if is_near_stones(board, c % board.width, c // board.width)]
            assert game.actions() == (near or legal)
            for side in (0, 1):
                for stones in range(1, 5):
                    assert game.open_fives[side][stones] == count_of(board, side, stones)
        while before:
            game.undo()
            assert (game.cells, game.open_fives, game.to_move) == before.pop()


def is_near_stones(board: Board, x: int, y: int) -> bool:
    return any(board.at((x + i, y + j)) in (0, 1) for i in range(-2, 3) for j in range(-2, 3))


def count_of(board: Board, side: int, stones: int) -> int:
    """Return in how many rows of five cells a side has that many stones and all else is empty."""
    rows = [
        [board.at((x + i * dx, y + i * dy)) for i in range(5)]
        for x, y in board.cells
        for dx, dy in DIRECTIONS
    ]
    return sum(row.count(side) == stones and row.count(EMPTY) == 5 - stones for row in rows)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_alphabeta_is_minimax(depth):
    for seed in range(6):
        chance = random.Random(f"tree {seed}")
        board = random_board(chance, "renju" if seed % 2 else "standard", 5, 6)
        game = game_of(board, chance.randrange(2))
        if rules.winners(board) or len(game.actions()) not in range(1, 16):
            continue
        value, line = Minimax(game, Budget()).max_value(depth)
        tree = AlphaBetaTree(game, Budget())
        assert tree.max_within(-INFINITE, INFINITE, depth)[0] == value
        found = method("alphabeta")(game, Budget(depth=depth), chance)
        assert found.value == method("minimax")(game, Budget(depth=depth), chance).value == value
        assert found.move == line[0]
        for number, move in enumerate(line):
            assert move in game.legal_moves(), number
            game.play(move)


@pytest.mark.parametrize("rule", ["freestyle", "standard", "renju"])
def test_what_is_proven_is_won(rule):
    proven = spaces = won = 0
    chance = random.Random(f"proof {rule}")
    with Solver(8_000_000) as solver:
        for _ in range(24):
            board = random_board(chance, rule, smallest=7, largest=9)
            side = chance.randrange(2)
            game, kernel = game_of(board, side), boards.game_of(board, side)
            if rules.winners(board) or five_cells(board, side) or five_cells(board, 1 - side):
                continue
            by_fours = solver.fours(kernel, nodes=100_000)
            by_threats = solver.threats(kernel, nodes=300_000)
            is_won = bool(by_fours.line or by_threats.line)
            before = game.cells[:]
            proof = ProofNumberSearch(game, Budget(nodes=2500))
            found = proof.run()
            space = ThreatSpaceSearch(game, side, Budget(nodes=300)).run()
            assert game.cells == before and game.to_move == side
            if found:
                assert ends_in_a_win(game, proof.line()), board.drawing()
                proven += is_won
            if space:
                assert is_won, board.drawing()
                spaces += 1
            won += is_won
    assert won >= 2 and spaces >= won - 1 and proven >= 1, (won, spaces, proven)


def ends_in_a_win(game: PlainGame, line: tuple[int, ...]) -> bool:
    """Return whether a line wins for its first side, or leaves it an unstoppable five."""
    side = game.to_move
    for cell in line:
        assert game.is_legal(cell)
        game.play(cell)
    won = game.winner == side
    if game.winner is None and game.to_move != side:
        won = bool(fives := game.five_cells(side)) and not any(map(game.is_legal, fives))
    for _ in line:
        game.undo()
    return won


FOUR = """
.........
...X.....
.........
.........
..OXXXX..
....O....
.........
.........
..O..O...
"""


@pytest.mark.parametrize("name", METHODS)
def test_fives_are_completed_and_stopped_and_a_short_search_has_a_value(name):
    limit = Budget(nodes=800, depth=2)
    for to_move in (0, 1) if name != "uct" else (0,):  # to see a threat takes it more games
        game = game_of(rules.read_board(FOUR, "freestyle"), to_move)
        choice = method(name)(game, limit, random.Random(1))
        assert choice.move == 4 * 9 + 7, (Side(to_move).name, choice)
        assert choice.line[0] == choice.move and choice.nodes > 0
        for nodes in (1, 30):
            short = method(name)(game, Budget(nodes=nodes), random.Random(1))
            assert short.line[0] == short.move and abs(short.value) < INFINITE


def test_deepening_ends_with_a_win():
    game = game_of(rules.read_board(FOUR, "freestyle"), 0)
    assert method("deepening")(game, Budget(nodes=800), random.Random(1)).nodes < 100


def test_threats_wins_and_games_are_as_recorded():
    methods.record.check()
