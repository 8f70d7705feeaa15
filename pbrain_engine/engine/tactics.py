"""The solver during a search: forced wins of the side to move, and of the enemy after its move."""

from __future__ import annotations

from ..game.game import Game, Move
from ..game.result import Result
from ..solver import Solver

FOURS_NODES = 20_000  # stones for the win by fours before the main search begins
THREES_NODES = 2_000  # and for the win by threats
RESCUE_NODES = 20_000  # for what stops the enemy's fours
FOURS_PERCENT = 100  # stones for each hundred nodes while a win by fours is open: it is rare
LEAST_NODES = 1_000  # what is not worth beginning


class Tactics:
    """Forced wins while the engine thinks: its own, and the enemy's after the move it prefers.

    All is counted in nodes, so that a search limited by depth or nodes stays the same on every
    machine: the solver may put a share of a stone on the board for each node of the main search.
    """

    def __init__(self, solver: Solver, game: Game, percent: int, hot: int) -> None:
        """Serve a think about this position with ``percent`` stones for each hundred nodes.

        ``hot``: as many more where a win by fours and threes is open.
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
        if not rescue.length or not keep:
            return ()
        return tuple(move for move in self._game.legal_moves() if move not in keep)

    def win(self, nodes: int) -> Result | None:
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
        return (self.fours(budget) if self._fours_open else None) or self.threats(budget)

    def refutes(self, move: Move, nodes: int) -> Result | None:
        """Return the enemy's win by threats after a move, or None."""
        budget = nodes * self._percent // 100 - self._spent
        tried = self._tried.get(move, 0)
        if tried < 0 or budget < max(LEAST_NODES, tried // 2):
            return None
        proof = self._solver.threats(self._game, nodes=budget, after=move)
        self._spent += proof.nodes
        self._tried[move] = tried + budget if proof.is_open else -1
        return proof if proof.wins else None

    def fours(self, nodes: int) -> Result | None:
        """Return a win by fours, or None if this many stones find none."""
        proof = self._solver.fours(self._game, nodes=nodes)
        self._fours_open = proof.is_open
        return proof if proof.wins else None

    def threats(self, nodes: int) -> Result | None:
        """Return a win by threats, or None if this many stones find none."""
        proof = self._solver.threats(self._game, nodes=nodes)
        self._hopeless = not proof.wins and not proof.is_open
        self._is_hot = proof.level == 0
        return proof if proof.wins else None
