"""No line holds a forbidden cell; what only the main search sees is proven by a tree."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from math import inf

import pytest

from pbrain_engine import Engine, Game, Limit, Move, Rule, Side, Solver, Thought, Tree
from pbrain_engine.engine import swap2
from pbrain_engine.engine.ending import (
    QUICK_THREATS,
    Prover,
    forced_end,
    line_to_five,
    winner_after,
)
from pbrain_engine.values import WIN_BAND, win_in
from tests.boards import game_of
from tests.oracle.replay import complaint_about_tree, illegal_move
from tests.oracle.rules import FREESTYLE, RENJU, Board, board_of, winners
from tests.played import moves_of, set_up

FEW, MANY = 15, 1500
SIZE = 15
NODES = 1500


def renju_position(chance: random.Random) -> tuple[Board, int]:
    """Return a position without a winner in which rows of black's cross, and who moves."""
    while True:
        board = Board(SIZE, SIZE, RENJU)
        x, y = chance.randrange(4, 11), chance.randrange(4, 11)
        for number in range(chance.randrange(9, 30)):
            cell = (round(chance.gauss(x, 2.0)), round(chance.gauss(y, 2.0)))
            if cell in board.cells and board.at(cell) == 2:
                board.put(cell, number % 3 % 2 if chance.random() < 0.3 else number % 2)
        if not winners(board):
            return board, chance.randint(0, 1)


def branches(tree: Tree, way: tuple[Move, ...] = ()) -> Iterator[tuple[Move, ...]]:
    """Yield the lines of a proof."""
    yield (*way, tree.move)
    for reply, answer in tree.replies.items():
        yield from branches(answer, (*way, tree.move, reply))


def lines_of(engine: Engine, solver: Solver, game: Game) -> Iterator[tuple[str, Iterable[Move]]]:
    """Yield every line of ours about a position, with its source."""
    for thought in engine.think_lines(Limit(nodes=NODES), 3):
        yield "pv", thought.pv
        ended = forced_end(engine, thought)
        if ended is not None:
            yield "end", [Move(*cell) for cell in ended["line"]]
    for proof in (solver.fours(game, nodes=NODES), solver.threats(game, nodes=NODES)):
        yield proof.claim, proof.line
        assert len(proof.line) == (proof.plies if proof.wins else 0)
    if proof.wins:
        tree = solver.tree(game)
        for line in branches(tree) if tree is not None else ():
            yield "tree", line
    for move in solver.rescues(game, nodes=NODES).moves:
        yield "rescue", [move]
    for move in solver.answers(game) or ():
        yield "answer", [move]
    for move, _ in engine.policy():
        yield "policy", [move]
    yield "quick", [engine.quick_move()]
    searcher = swap2.OpeningSearch(
        engine,
        lambda share, count, listener: engine.think(
            Limit(nodes=300), on_iteration=listener, multipv=count
        ),
    )
    if len(game.legal_moves()) > 20:
        yield "balance", [Move(*cell) for cell in swap2.balanced_pair(searcher, 0)[0]]


@pytest.mark.parametrize(
    "count", [FEW, pytest.param(MANY, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_no_line_holds_a_forbidden_cell(engine, solver, count):
    for number in range(count):
        board, side = renju_position(random.Random(f"legal {number}"))
        game = game_of(board, side)
        engine.new_game(SIZE, rule=Rule.RENJU)
        engine.game.set_up(game.history, game.to_move)
        for source, line in lines_of(engine, solver, game):
            wrong = illegal_move(board, side, line)
            assert wrong == "", f"{source} of {number}: {line}\n{board.drawing()}"


# Wins too deep for a short search by threats: a narrow tree, and one that takes longer to replay.
NARROW = (
    "h10j7j9i8h9h8g8i10g9i9i11f8g7g10i6j12k6g6j5h7l6h6f5i4h5k7e6g5f4l7i7f3e5d7e4e3g3d6d4c4h4g4"
    "c3f6k5j6"
)
WIDE = "f8j10j9g7h8i8h9h10i10g8g9i9g11i7f9f10h11g12"
ENGINE_NODES = 400_000


@pytest.mark.parametrize("won", [NARROW, pytest.param(WIDE, marks=pytest.mark.long)])
def test_a_win_of_the_main_search_gets_a_proof_that_survives_a_replay(engine, solver, won):
    set_up(engine, won)
    engine.clear_hash()
    assert not solver.threats(engine.game, nodes=QUICK_THREATS).wins
    engine.set_parameter("threat_share", 0)  # so that the main search finds it alone
    limit = Limit(nodes=ENGINE_NODES)
    thought = engine.think(limit, on_iteration=lambda thought: thought.value >= WIN_BAND)
    engine.set_parameter("threat_share", 10)
    assert thought.value >= WIN_BAND and not thought.proof
    moves = list(engine.game.moves)
    tree = Prover(engine, solver, inf).prove(thought)
    assert tree is not None and tree.move == thought.move and tree.replies
    assert engine.game.moves == moves
    board = board_of(15, FREESTYLE, moves[::2], moves[1::2])
    assert complaint_about_tree(board, 0, tree) == ""


def test_a_claim_that_is_wrong_gets_no_proof(engine, solver):
    set_up(engine, "h8i9i7g9")
    claim = Thought(WIN_BAND, (Move(0, 0), Move(1, 0)), 1, 1, 1)
    assert Prover(engine, solver, 0.2).prove(claim) is None
    for moves, answers in (("h8a1h9b1h10c1h11d1h12", {}), ("h8a1i8o1g7a15g6o15g8", None)):
        set_up(engine, moves, Rule.RENJU)  # to a five, and to a double three
        assert Prover(engine, solver, inf)._prove_answers(claim) == answers


@pytest.mark.parametrize("way", ["d8h8n14c8", "h8d8n14i8"])
def test_of_a_line_without_the_win_only_its_move_is_kept(engine, way):
    set_up(engine, "e8e12f8f12g8g12")
    first, *others = moves_of(way)
    line = line_to_five(engine, Thought(win_in(5), (first, *others)))
    assert line[0] == first and line[1:4] != others
    assert winner_after(engine.game, line) is Side.BLACK
