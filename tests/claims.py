"""Games of an engine against itself, by the oracle's rules, in which announced wins are checked.

The oracle replays wins by fours or threats against every legal defence. A win that the main search
sees must be won in the game, or be proven by a tree that the oracle replays, if that does not take
too long. A win is checked when a side announces it, and again when it is claimed in another way.
"""

from __future__ import annotations

import random

from pbrain_engine.engine.ending import Prover
from pbrain_engine.engine.engine import Engine, Limit, Thought
from pbrain_engine.game.result import BY_FOURS, BY_THREATS, Tree
from pbrain_engine.position.rules import Rule
from pbrain_engine.solver import Solver
from pbrain_engine.values import WIN_BAND
from tests.oracle import rules
from tests.oracle.replay import complaint_about_line, complaint_about_tree
from tests.oracle.rules import Board, Cell

SEARCH = "search"  # a win that the main search sees
FORESEEN = "foreseen"  # the next move of an earlier line, not a new claim
TABLE = 8 << 20
THREAT_NODES = 10_000_000  # node limit to find a claimed win by threats again
LARGE = 400  # moves of a tree that takes the oracle minutes


class Claims:
    """Checks announced wins, with its own engine and solver and cleared tables."""

    def __init__(self, seconds: float) -> None:
        """Set the time limit for proving a win of the main search."""
        self.engine = Engine(hash_size=TABLE)
        self.solver = Solver(TABLE)
        self.seconds = seconds

    def examine(self, board: Board, moves: list[Cell], thought: Thought) -> tuple[str, str]:
        """Return by what a win of the side to move was checked, if at all, and any fault."""
        side = len(moves) % 2
        if thought.proof == BY_FOURS:
            return "line", complaint_about_line(board, side, thought.pv)
        tree = self.tree(board, moves, thought)
        if tree is None:
            return "", "the win is not found again" if thought.proof == BY_THREATS else ""
        if tree.size() > LARGE:
            return "", ""
        return "tree", complaint_about_tree(board, side, tree)

    def tree(self, board: Board, moves: list[Cell], thought: Thought) -> Tree | None:
        """Return a proof that the side to move wins, if one is found."""
        engine = self.engine
        engine.new_game(board.width, board.height, Rule[board.rule.upper()])
        engine.clear_hash()
        self.solver.clear()
        for move in moves:
            engine.play(*move)
        if thought.proof == BY_THREATS:
            found = self.solver.threats(engine.game, nodes=THREAT_NODES).wins
            return self.solver.tree(engine.game) if found else None
        return Prover(engine, self.solver, self.seconds).prove(thought)

    def close(self) -> None:
        """Close the engine and the solver."""
        self.engine.close()
        self.solver.close()


def kind_of(thought: Thought) -> str:
    """Return how a win is claimed, or an empty string without a win."""
    if thought.value < WIN_BAND:
        return ""
    foreseen = not thought.proof and len(thought.pv) == 1 and (thought.mate or 0) > 1
    return FORESEEN if foreseen else thought.proof or SEARCH


def opening(board: Board, stones: int, chance: random.Random) -> list[Cell]:
    """Return legal first stones near the centre."""
    x, y = board.width // 2, board.height // 2
    near = [(x + dx, y + dy) for dx in range(-3, 4) for dy in range(-3, 4)]
    trial, put = Board(board.width, board.height, board.rule), list[Cell]()
    for ply in range(stones):
        put.append(chance.choice([c for c in near if rules.is_legal(trial, c, ply % 2)]))
        trial.put(put[-1], ply % 2)
    return put


def play(
    board: Board, given: list[Cell], engines: tuple[Engine, Engine], limit: Limit, claims: Claims
) -> tuple[int, list[str]]:
    """Play a game to its end; return how many wins were announced, and what is wrong with any."""
    for engine in engines:
        engine.new_game(board.width, board.height, Rule[board.rule.upper()])
        engine.clear_hash()
    moves: list[Cell] = []
    said: list[set[str]] = [set(), set()]  # kinds of claims of each side's current win
    announced: list[tuple[int, str, str, str]] = []  # side, where, check, fault
    winner = -1
    while board.empties() and winner < 0:
        side = len(moves) % 2
        if len(moves) < len(given):
            cell = given[len(moves)]
        else:
            thought = engines[side].think(limit)
            cell = tuple(thought.move)
            kind = kind_of(thought)
            if kind == FORESEEN and not said[side]:
                kind = SEARCH  # not announced before: the line is merely short
            if not kind:
                said[side].clear()
            elif kind not in said[side] and kind != FORESEEN:
                said[side].add(kind)
                where = f"{kind} {thought.pv}\n{board.drawing()}"
                announced.append((side, where, *claims.examine(board, moves, thought)))
        assert rules.may_play(board, cell, side), f"{cell} is illegal\n{board.drawing()}"
        board.put(cell, side)
        if rules.is_win(board, cell):
            winner = side
        for engine in engines:
            engine.play(*cell)
            assert engine.game.winner == (side if winner >= 0 else None), board.drawing()
        moves.append(cell)
    return len(announced), doubtful(announced, winner)


def doubtful(announced: list[tuple[int, str, str, str]], winner: int) -> list[str]:
    """Return the claims that are refuted, or neither checked nor won."""
    return [
        f"{fault or 'neither proven nor won'}: {where}"
        for side, where, check, fault in announced
        if fault or not (check or side == winner)
    ]
