"""Wins by continuous fours, found by trying every four and every reply to it."""

from __future__ import annotations

from tests.oracle.rules import Board, Cell, is_legal, is_win
from tests.oracle.threats import five_cells, five_cells_with, five_stoppers, has_own_near


class OutOfNodes(Exception):
    """The exhaustive search was stopped by its node limit, without a result."""


class _Search:
    def __init__(self, board: Board, attacker: int, node_limit: int | None) -> None:
        self.board, self.attacker, self.node_limit = board, attacker, node_limit
        self.nodes = 0
        self.known: dict[tuple[tuple[int, ...], int], Cell | None] = {}

    def winning_move(self, stones: int) -> Cell | None:
        """Return a move that wins with at most this many own stones, or None."""
        key = (self.board.state(), stones)
        if key not in self.known:
            self.nodes += 1
            if self.node_limit is not None and self.nodes > self.node_limit:
                raise OutOfNodes
            self.known[key] = self._try_moves(stones)
        return self.known[key]

    def _try_moves(self, stones: int) -> Cell | None:
        fives = five_cells(self.board, self.attacker)
        if fives and stones >= 1:
            return min(fives)
        if stones < 2:
            return None
        must_stop = bool(five_cells(self.board, 1 - self.attacker))
        for move in fours_of(self.board, self.attacker, must_stop):
            with self.board.stone(move, self.attacker):
                if self._all_replies_lose(stones - 1):
                    return move
        return None

    def _all_replies_lose(self, stones: int) -> bool:
        for reply in five_stoppers(self.board, self.attacker):
            with self.board.stone(reply, 1 - self.attacker):
                if is_win(self.board, reply) or self.winning_move(stones) is None:
                    return False
        return True


def fours_of(board: Board, side: int, must_stop_five: bool) -> list[Cell]:
    """Return the legal moves that threaten five and leave the opponent none.

    For positions in which the side cannot make five at once.
    """
    moves = []
    for cell in board.empties():
        if has_own_near(board, cell, side) and is_legal(board, cell, side):
            with board.stone(cell, side):
                four = bool(five_cells_with(board, cell))
                if four and not (must_stop_five and five_cells(board, 1 - side)):
                    moves.append(cell)
    return moves


def find_vcf(board: Board, attacker: int, node_limit: int | None = None) -> tuple[int, Cell] | None:
    """Return the least number of own stones up to the five, and a first move, or None.

    Raises:
        OutOfNodes: the limit came before the answer.
    """
    search = _Search(board, attacker, node_limit)
    room = (len(board.empties()) + 1) // 2
    for stones in range(1, room + 1):
        move = search.winning_move(stones)
        if move is not None:
            return stones, move
    return None


def has_vcf(board: Board, attacker: int, node_limit: int | None = None) -> bool:
    """Return whether the attacker, to move, wins by continuous fours of any length."""
    search = _Search(board, attacker, node_limit)
    return search.winning_move((len(board.empties()) + 1) // 2) is not None


def vcf_stoppers(board: Board, attacker: int, node_limit: int | None = None) -> set[Cell]:
    """Return every legal move of the defender, to move, after which there is no VCF."""
    defender = 1 - attacker
    stoppers = set()
    for reply in board.empties():
        if is_legal(board, reply, defender):
            with board.stone(reply, defender):
                if is_win(board, reply) or not has_vcf(board, attacker, node_limit):
                    stoppers.add(reply)
    return stoppers
