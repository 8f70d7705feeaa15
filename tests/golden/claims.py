"""What the solver claims of random middle games: ``python -m tests.golden.claims``.

A line has the seed of a position and its rule, the claim and its length in own stones, the numbers
of safe and of undecided moves, and the nodes of each search. The oracle replays every win.
"""

from __future__ import annotations

import random

from pbrain_engine.solver import Solver
from tests.boards import game_of
from tests.golden.records import Record
from tests.oracle.replay import complaint_about_line, complaint_about_tree
from tests.oracle.rules import RULES, Board, winners

SIZES = (15, 15, 15, 11, 19)
FEWEST, MOST = 8, 40  # stones
NODES = 3_000
MEMORY = 8_000_000


def middle_game(chance: random.Random) -> tuple[Board, int]:
    """Return a position without a winner, its stones scattered around a few spots, and a side."""
    while True:
        size = chance.choice(SIZES)
        board = Board(size, size, chance.choice(RULES))
        spots = [(chance.gauss(size / 2, size / 7), chance.gauss(size / 2, size / 7))] * 2
        spots.append((chance.gauss(size / 2, size / 5), chance.gauss(size / 2, size / 5)))
        for number in range(chance.randint(FEWEST, MOST)):
            x, y = chance.choice(spots)
            cell = (round(chance.gauss(x, 2.2)), round(chance.gauss(y, 2.2)))
            if cell in board.cells and board.at(cell) == 2:
                board.put(cell, number % 2)
        if not winners(board):
            return board, chance.randint(0, 1)


def examine(solver: Solver, seed: int) -> str:
    """Let the solver search the position of a seed; return its line, once the oracle agrees."""
    board, side = middle_game(random.Random(seed))
    game = game_of(board, side)
    proof, fault = solver.fours(game, nodes=NODES), ""
    nodes = [proof.nodes]
    if proof.wins:
        fault = complaint_about_line(board, side, proof.line)
    else:
        proof = solver.threats(game, nodes=NODES)
        nodes.append(proof.nodes)
        if proof.wins:
            tree = solver.tree(game)
            fault = complaint_about_tree(board, side, tree) if tree else "no tree"
    assert not fault, f"seed {seed}: {fault}"
    rescue = solver.rescues(game, nodes=NODES)
    words = seed, board.rule, proof.claim, proof.length, len(rescue.moves), len(rescue.unknown)
    return " ".join(map(str, [*words, *nodes, rescue.nodes]))


@Record("claims")
def claims(record: str) -> str:
    """Return the record of as many positions."""
    with Solver(MEMORY) as solver:
        return "".join(f"{examine(solver, seed)}\n" for seed in range(record.count("\n")))
