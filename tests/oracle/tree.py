"""Proof trees of wins by fours and threes are checked: what they leave out must lose at once."""

from __future__ import annotations

from .replay import Proof
from .rules import EMPTY, Board, Cell, is_legal, is_win
from .threats import (
    five_cells,
    five_stoppers,
    makes_unstoppable_four,
    unstoppable_four_cells,
)
from .vcf import OutOfNodes, find_vcf

SHORT_WIN = 2_000  # positions looked at for a win by fours against a reply that is left out


def complaint_about_tree(board: Board, attacker: int, proof: Proof) -> str:
    """Return what is wrong with a proof tree, or an empty string if it holds.

    The attacker is to move. Against a four, every legal reply that stops the five has to be
    in the tree; against any other move every legal reply, save those after which the attacker
    has an unstoppable four (and the defender no five), or else wins by fours: the way that he
    would if the defender passed, or another.
    """
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
                complaint = complaint_about_tree(board, attacker, answer)
            if complaint:
                return complaint
        if five_cells(board, attacker):
            missing = five_stoppers(board, attacker) - set(proof.replies)
            return f"{min(missing)} stops {proof.move}" if missing else ""
        threats = unstoppable_four_cells(board, attacker)
        plan = [] if threats else plan_of_fours(board, attacker)
        for reply in board.empties():
            if reply not in proof.replies and is_legal(board, reply, defender):
                if not _loses(board, attacker, threats, plan, reply):
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
    """Say whether a line of fours wins as it stands: each answer forced, the last four not met."""
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


def _loses(board: Board, attacker: int, threats: set[Cell], plan: list[Cell], reply: Cell) -> bool:
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
            return find_vcf(board, attacker, node_limit=SHORT_WIN) is not None
        except OutOfNodes:
            return False
