"""Forced wins while the engine thinks: its own, and the enemy's after the move it prefers.

All is counted in nodes, so that a search limited by depth or nodes stays the same on every
machine: the solver may put a share of a stone on the board for each node of the main search.
What a win tells of the positions to come is kept, so that haste cannot throw it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..game.game import Game, Move
from ..position.rules import Side
from ..solver.solver import Proof, Solver

if TYPE_CHECKING:
    from ..notation.canonical import Position

FOURS_NODES = 20_000  # stones for the win by fours before the main search begins
THREES_NODES = 2_000  # and for the win by threats
RESCUE_NODES = 20_000  # for what stops the enemy's fours
SHARE_PERCENT = 10  # stones for each hundred nodes of the main search
FOURS_PERCENT = 100  # stones for each hundred nodes while a win by fours is open: it is rare
LEAST_NODES = 1_000  # what is not worth beginning


class Tactics:
    """What the solver knows and finds out about one position, for a share of the work."""

    def __init__(
        self, solver: Solver, game: Game, percent: int = SHARE_PERCENT, hot: int = 0
    ) -> None:
        """Serve a think about this position; with no ``percent`` only what comes before it.

        ``hot``: stones more for each hundred nodes, where a win by fours and threes is open.
        """
        self._solver = solver
        self._game = game
        self._percent = percent
        self._hot = hot
        self._spent = 0  # stones of the share
        self._sought = 0  # and of those more, for the win
        self._fours_open = True  # it is not known whether there is a win by fours
        self._hopeless = False  # there is no win by threats here
        self._is_hot = True  # fours and threes alone may win
        self._tried: dict[Move, int] = {}  # move -> stones spent on refuting it

    def losing_moves(self) -> tuple[Move, ...]:
        """Return the moves that lose to the enemy's fours, if there is any that does not."""
        if not self._solver.threatens_fours(self._game, nodes=RESCUE_NODES):
            return ()
        rescue = self._solver.rescues(self._game, nodes=RESCUE_NODES)
        keep = {*rescue.moves, *rescue.unknown}
        if not rescue.threat.length or not keep:
            return ()
        return tuple(move for move in self._game.legal_moves() if move not in keep)

    def first_win(self) -> Proof | None:
        """Return a win that a short search finds before the main one begins, or None."""
        return self._fours(FOURS_NODES) or self._threats(THREES_NODES)

    def win(self, nodes: int) -> Proof | None:
        """Return a win, or None; ``nodes``: of the main search so far.

        Where even the fours are not settled they come first.
        """
        if self._hopeless:
            return None
        budget = max(nodes * self._percent // 100 - self._spent, 0) // 2
        eagerness = max(  # stones more for each hundred nodes, where a win is likelier
            self._hot if self._is_hot else 0, FOURS_PERCENT if self._fours_open else 0
        )
        more = max(nodes * eagerness // 100 - self._sought, 0)
        if budget + more < LEAST_NODES:
            return None
        self._spent += budget
        self._sought += more
        budget += more
        return (self._fours(budget) if self._fours_open else None) or self._threats(budget)

    def refutes(self, move: Move, nodes: int) -> Proof | None:
        """Return the enemy's win by threats after a move, or None."""
        budget = nodes * self._percent // 100 - self._spent
        tried = self._tried.get(move, 0)
        if tried < 0 or budget < max(LEAST_NODES, tried // 2):
            return None
        proof = self._solver.threats(self._game, nodes=budget, after=move)
        self._spent += proof.nodes
        self._tried[move] = tried + budget if proof.is_open else -1
        return proof if proof.wins else None

    def _fours(self, nodes: int) -> Proof | None:
        proof = self._solver.fours(self._game, nodes=nodes)
        self._fours_open = proof.is_open
        return proof if proof.wins else None

    def _threats(self, nodes: int) -> Proof | None:
        proof = self._solver.threats(self._game, nodes=nodes)
        self._hopeless = not proof.wins and not proof.is_open
        self._is_hot = proof.level == 0
        return proof if proof.wins else None


class Foresight:
    """The winner's moves of the last forced win that was found, by the position they answer."""

    def __init__(self) -> None:
        """Know of nothing."""
        self._moves: dict[Position, tuple[Move, int]] = {}

    def note(self, game: Game, line: Sequence[Move], value: int) -> None:
        """Remember a win for the side to move: its line, and its value at the start."""
        self._moves = {}
        position = game.position
        for number, move in enumerate(line):
            if number % 2 == 0:
                self._moves[position] = (move, value + number)
            position = position.after(move)

    def recall(self, game: Game) -> tuple[Move, int] | None:
        """Return the winning move and its value if the enemy has followed the line."""
        found = self._moves.get(game.position) if self._moves else None
        if found is None or game.at(*found[0]) is not Side.EMPTY or game.is_forbidden(*found[0]):
            return None
        return found
