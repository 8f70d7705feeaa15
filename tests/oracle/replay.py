"""Claimed wins are played through, with every legal defence tried at each threat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .rules import EMPTY, Board, Cell, is_legal, is_win
from .threats import five_cells, five_stoppers
from .vcf import OutOfNodes, find_vcf

# A reply that a proof leaves out must lose to a short run of fours; this many positions are
# looked at before the proof counts as incomplete.
REFUTATION_NODES = 20_000


@dataclass
class Proof:
    """A move of the attacker and what he answers to the replies that matter."""

    move: Cell
    replies: dict[Cell, Proof] = field(default_factory=dict)


def proof_of_line(line: Sequence[Cell]) -> Proof:
    """Return the proof that a single line of play stands for, attacker first."""
    proof = Proof(tuple(line[0]))
    if len(line) > 2:
        proof.replies[tuple(line[1])] = proof_of_line(line[2:])
    return proof


def complaint_about(board: Board, attacker: int, proof: Proof) -> str:
    """Return what is wrong with a claimed win, or an empty string if it holds.

    The attacker is to move. Replies that the proof does not mention are legal too: after
    each of them the attacker must have a win by continuous fours.
    """
    if not is_legal(board, proof.move, attacker):
        return f"{proof.move} is not a legal move"
    with board.stone(proof.move, attacker):
        if is_win(board, proof.move):
            return ""
        defender = 1 - attacker
        if five_cells(board, defender):
            return f"after {proof.move} the defender makes five"
        for reply in replies_to_try(board, attacker):
            with board.stone(reply, defender):
                complaint = _complaint_after(board, attacker, proof, reply)
            if complaint:
                return complaint
    return ""


def replies_to_try(board: Board, attacker: int) -> list[Cell]:
    """Return the legal replies; against a four only those that stop it, the rest lose."""
    if five_cells(board, attacker):
        return sorted(five_stoppers(board, attacker))
    return [cell for cell in board.empties() if is_legal(board, cell, 1 - attacker)]


def _complaint_after(board: Board, attacker: int, proof: Proof, reply: Cell) -> str:
    if reply in proof.replies:
        return complaint_about(board, attacker, proof.replies[reply])
    try:
        if find_vcf(board, attacker, node_limit=REFUTATION_NODES) is not None:
            return ""
    except OutOfNodes:
        pass
    return f"the reply {reply} to {proof.move} is not answered"


def complaint_about_line(board: Board, attacker: int, line: Sequence[Cell]) -> str:
    """Return what is wrong with a claimed line of continuous fours, or an empty string.

    Every defence that is not on the line is met by the oracle's own search. A line may end
    with the attacker's last move before a forced five, or with a block that is forbidden.
    """
    cells = [tuple(cell) for cell in line]
    occupied = [cell for cell in cells if board.at(cell) != EMPTY]
    if occupied or len(set(cells)) != len(cells):
        return f"the line uses a cell twice: {occupied or cells}"
    return complaint_about(board, attacker, proof_of_line(cells))
