"""What the methods of the textbooks find: ``python -m tests.golden.methods``.

In random positions: the threats of both sides, the sequences that win, and whole games.
"""

from __future__ import annotations

import random

from pbrain_engine.methods import METHODS, Budget, PlainGame, method
from pbrain_engine.methods.threatspace import Threat, ThreatSpaceSearch, threats
from tests.boards import random_board
from tests.golden.records import Record
from tests.oracle import rules
from tests.oracle.rules import BLOCKED, EMPTY, Board

DEEPER = Budget(nodes=400, depth=3)
POSITIONS = 20  # of each rule, of which the first with a win is recorded


def game_of(board: Board, to_move: int) -> PlainGame:
    """Return a board of the oracle as a game of the methods."""
    game = PlainGame(board.width, board.height, board.rule)
    for (x, y), held in board.cells.items():
        cell = y * board.width + x
        if held == BLOCKED:
            game.block(cell)
        elif held != EMPTY:
            game.to_move = held
            game.play(cell)
    game.to_move = to_move
    game.winner = None
    return game


def said_of(threat: Threat) -> str:
    costs, rests = (" ".join(map(str, cells)) for cells in (threat.costs, sorted(threat.rests)))
    return f"{threat.gain} ({costs}) on {rests}"


def positions(rule: str) -> list[str]:
    """Return what is found in a random position in which a side wins by more than a threat."""
    lines, chance = [], random.Random(f"threats {rule}")
    for _ in range(POSITIONS):
        board = random_board(chance, rule, smallest=7, largest=9)
        for side in (0, 1):
            game = game_of(board, side)
            search = ThreatSpaceSearch(game, side, Budget(nodes=300))
            if not search.run() or not search.sequences:
                continue
            drawing = " ".join(board.drawing().split())
            lines += [f"{rule}, {side} to move: {drawing}"]
            for each in (0, 1):
                lines.append(f"{each}: {'; '.join(map(said_of, threats(game, each)))}")
            lines.append(f"won: {'; '.join(map(said_of, search.win))}")
            lines.append(f"{search.effort.nodes} nodes, {len(search.sequences)} sequences")
            for to_move in (0, 1):
                game.to_move = to_move
                choice = method("threatspace")(game, Budget(nodes=300), random.Random(1))
                lines.append(f"{to_move} plays {tuple(choice)}")
            return lines
    return [f"{rule}: no win"]


def games(name: str, rule: str, limit: Budget, opening: int, most: int) -> list[str]:
    """Return a game that a method plays against itself after some random stones."""
    chance, game = random.Random(rule), PlainGame(5, rule=rule)
    for _ in range(opening):
        game.play(chance.choice(game.legal_moves()))
    moves: list[str] = []
    while not game.is_over() and len(moves) < most and (legal := game.legal_moves()):
        choice = method(name)(game, limit, chance)
        assert choice.move in legal
        line = " ".join(map(str, choice.line))
        moves.append(f"{choice.move} {choice.value:.6g} {choice.nodes} ({line})")
        game.play(choice.move)
    return [f"{name}, {rule}, won by {game.winner}: {'; '.join(moves)}"]


@Record("methods")
def record(_: str) -> str:
    """Return all positions and games."""
    lines = [line for rule in rules.RULES for line in positions(rule)]
    for name in METHODS:
        if name == "puct":  # plays by the network, which changes
            continue
        for rule in ("freestyle", "renju"):
            lines += games(name, rule, Budget(nodes=20, depth=1), 8, 17)
        lines += games(name, "renju", DEEPER, 8, 2)
    return "\n".join([*lines, ""])
