"""Replays of claimed wins: replies that a proof leaves out must lose at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack

from pbrain_engine.game.result import Tree
from tests.oracle.rules import BLACK, EMPTY, Board, Cell, is_legal, is_win
from tests.oracle.threats import (
    five_cells,
    five_stoppers,
    makes_unstoppable_four,
    unstoppable_four_cells,
)
from tests.oracle.vcf import OutOfNodes, find_vcf

# Positions looked at for a win by fours against a reply that is left out: of a tree, which has all
# but the hopeless ones, and of a line, which has but one.
SHORT_WIN = 2_000
LONG_WIN = 20_000


def proof_of_line(line: Sequence[Cell]) -> Tree:
    """Return the proof tree of a single line of play, attacker first."""
    replies = {tuple(line[1]): proof_of_line(line[2:])} if len(line) > 2 else {}
    return Tree(tuple(line[0]), replies)


def complaint_about_line(board: Board, attacker: int, line: Sequence[Cell]) -> str:
    """Return what is wrong with a claimed line of continuous fours, or an empty string.

    Every defence that is not on the line is met by the oracle's own search. A line may end
    with the attacker's last move before a forced five, or with a block that is forbidden.
    """
    cells = [tuple(cell) for cell in line]
    occupied = [cell for cell in cells if board.at(cell) != EMPTY]
    if occupied or len(set(cells)) != len(cells):
        return f"the line uses a cell twice: {occupied or cells}"
    return _complaint(board, attacker, proof_of_line(cells), is_line=True)


def illegal_move(board: Board, side: int, line: Iterable[Cell]) -> str:
    """Return which move of a line is not legal, or an empty string."""
    with ExitStack() as stones:
        for number, cell in enumerate(map(tuple, line)):
            mover = (side + number) % 2
            if not is_legal(board, cell, mover):
                return f"{cell} is forbidden to {'black' if mover == BLACK else 'white'}"
            stones.enter_context(board.stone(cell, mover))
    return ""


def complaint_about_tree(board: Board, attacker: int, proof: Tree) -> str:
    """Return what is wrong with a proof tree, or an empty string if it holds.

    The attacker is to move. Against a four, every legal reply that stops the five has to be in the
    tree; against any other move every legal reply, save those after which the attacker has an
    unstoppable four (and the defender no five), or else wins by fours: the way that he would if the
    defender passed, or another.
    """
    return _complaint(board, attacker, proof, is_line=False)


def _complaint(board: Board, attacker: int, proof: Tree, is_line: bool) -> str:
    if not is_legal(board, proof.move, attacker):
        return f"{proof.move} is not a legal move"
    defender = 1 - attacker
    with board.stone(proof.move, attacker):
        if is_win(board, proof.move):
            return ""
        if five_cells(board, defender):
            return f"after {proof.move} the defender makes five"
        for reply, answer in proof.replies.items():
            with board.stone(reply, defender):
                complaint = _complaint(board, attacker, answer, is_line)
            if complaint:
                return complaint
        threats: set[Cell] = set()
        plan: list[Cell] = []
        is_four = bool(five_cells(board, attacker))
        if is_four:
            others = five_stoppers(board, attacker)
        else:
            others = {cell for cell in board.empties() if is_legal(board, cell, defender)}
            threats = unstoppable_four_cells(board, attacker)
            plan = [] if threats else plan_of_fours(board, attacker)
        most = LONG_WIN if is_line else SHORT_WIN
        for reply in sorted(others - set(proof.replies)):
            if is_four and not is_line:
                return f"{reply} stops {proof.move}"
            if not _loses(board, attacker, threats, plan, reply, most):
                return f"{reply} answers {proof.move}"
    return ""


def plan_of_fours(board: Board, attacker: int) -> list[Cell]:
    """Return a line by which the attacker, if he moved again, would win by fours; or nothing.

    It goes on as long as the defender has but one answer.
    """
    try:
        found = find_vcf(board, attacker, node_limit=SHORT_WIN)
    except OutOfNodes:
        return []
    if found is None:
        return []
    move = found[1]
    with board.stone(move, attacker):
        stoppers = [] if is_win(board, move) else list(five_stoppers(board, attacker))
        if len(stoppers) != 1:
            return [move]
        with board.stone(stoppers[0], 1 - attacker):
            return [move, stoppers[0], *plan_of_fours(board, attacker)]


def plan_works(board: Board, attacker: int, plan: list[Cell]) -> bool:
    """Return whether a line of fours wins as it stands: answers forced, the last four not met."""
    if not plan:
        return False
    move = plan[0]
    if board.at(move) != EMPTY or not is_legal(board, move, attacker):
        return False
    with board.stone(move, attacker):
        if is_win(board, move):
            return True
        if five_cells(board, 1 - attacker) or not five_cells(board, attacker):
            return False
        stoppers = five_stoppers(board, attacker)
        if not stoppers:
            return True
        if len(plan) < 2 or stoppers != {plan[1]}:
            return False
        with board.stone(plan[1], 1 - attacker):
            return not is_win(board, plan[1]) and plan_works(board, attacker, plan[2:])


def _loses(
    board: Board, attacker: int, threats: set[Cell], plan: list[Cell], reply: Cell, most: int
) -> bool:
    with board.stone(reply, 1 - attacker):
        if is_win(board, reply):
            return False
        if plan_works(board, attacker, plan):
            return True
        if not five_cells(board, 1 - attacker) and any(
            board.at(cell) == EMPTY and makes_unstoppable_four(board, cell, attacker)
            for cell in threats
        ):
            return True
        try:
            return find_vcf(board, attacker, node_limit=most) is not None
        except OutOfNodes:
            return False
