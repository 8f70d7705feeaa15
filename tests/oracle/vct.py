"""Wins by threats of fours, found by trying every move that threatens and every reply to it."""

from __future__ import annotations

from tests.oracle.rules import Board, is_legal, is_win
from tests.oracle.threats import five_cells
from tests.oracle.vcf import OutOfNodes, has_vcf


class _Search:
    def __init__(self, board: Board, attacker: int, node_limit: int) -> None:
        self.board, self.attacker, self.nodes_left = board, attacker, node_limit
        self.known: dict[tuple[int, ...], bool] = {}
        self.fours: dict[tuple[int, ...], bool] = {}

    def has_fours(self) -> bool:
        """Return whether the attacker, if he is to move, wins by fours."""
        key = self.board.state()
        if key not in self.fours:
            self.fours[key] = has_vcf(self.board, self.attacker, self.nodes_left)
        return self.fours[key]

    def wins(self) -> bool:
        """Return whether the attacker, to move, wins by threats to win by fours."""
        key = self.board.state()
        if key not in self.known:
            self.nodes_left -= 1
            if self.nodes_left <= 0:
                raise OutOfNodes
            self.known[key] = self.has_fours() or self._threat_wins()
        return self.known[key]

    def _threat_wins(self) -> bool:
        for move in self.board.empties():
            if is_legal(self.board, move, self.attacker):
                with self.board.stone(move, self.attacker):
                    if not five_cells(self.board, 1 - self.attacker) and self.has_fours():
                        if self._all_replies_lose():
                            return True
        return False

    def _all_replies_lose(self) -> bool:
        defender = 1 - self.attacker
        for reply in self.board.empties():
            if is_legal(self.board, reply, defender):
                with self.board.stone(reply, defender):
                    if is_win(self.board, reply) or not self.wins():
                        return False
        return True


def has_vct(board: Board, attacker: int, node_limit: int) -> bool:
    """Return whether the attacker, to move, wins by threats, each of which is a win by fours.

    Raises:
        OutOfNodes: the limit came before the answer.
    """
    return _Search(board, attacker, node_limit).wins()
