"""A game looked through move by move: what each was worth, and which wins were missed.

The positions are searched from the last to the first, so that each search knows what came of
the next one, and a value that a later position shows to be wrong is put right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..game.game import Game, Move
from ..solver.proofs import Proof
from ..solver.solver import Solver
from ..values import WIN, WIN_BAND, chance
from .engine import Engine
from .forms import line_to_five, winner_after
from .thought import Limit, Thought

SOLVER_SHARE = 0.25  # of the time of a position, for a proof before the search
MISTAKE = 0.10  # a lost chance to win from which a move is called a mistake


Recall = Callable[[Game], Thought | None]


class Win(NamedTuple):
    """A forced win: the winner's move first, up to the five; ``proof`` is empty if by search."""

    line: tuple[Move, ...]
    proof: str

    @property
    def plies(self) -> int:
        """How many moves of both sides it takes."""
        return len(self.line)


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What was found out about a move.

    ``value`` is that of the position before it, for its side, and ``chance`` the same as a
    chance to win; ``loss`` is the chance that the move gave away, from 0 to 1. ``line`` begins
    with the ``best`` move. ``missed`` is a forced win that its side had and has no more,
    ``allowed`` one that the other side has since.
    """

    ply: int
    move: Move
    value: int
    chance: float
    best: Move
    line: tuple[Move, ...]
    loss: float
    depth: int
    missed: Win | None = None
    allowed: Win | None = None

    @property
    def is_mistake(self) -> bool:
        """Whether so much was lost that it should be shown."""
        return self.loss >= MISTAKE or self.missed is not None


class Seen(NamedTuple):
    """What a search says about one position; ``end``: the line as one that ends the game."""

    value: int
    line: tuple[Move, ...]
    depth: int
    end: Win | None = None

    @property
    def win(self) -> Win | None:
        """The forced win of the side to move."""
        return self.end if self.value >= WIN_BAND else None


class Reviewer:
    """Looks through games with an engine, which keeps what it has learned from position to next."""

    def __init__(
        self, engine: Engine, solver: Solver, seconds: float, known: Recall = lambda game: None
    ) -> None:
        """Take the seconds for each position, and what tells what is known of one already."""
        self._known = known
        self._engine = engine
        self._solver = solver
        self._seconds = seconds
        self._scale = engine.weights.scale(engine.game.rule)

    def review(
        self,
        moves: Sequence[Move],
        listener: Callable[[Reviewed], bool | None] = lambda reviewed: None,
    ) -> list[Reviewed]:
        """Review the moves that lead on from the engine's position; the listener gets each.

        It gets the last one first, and ends the review by returning True. The engine's game
        is as before in the end.

        Raises:
            IllegalMove: a move is not possible.
        """
        game = self._engine.game
        before = game.ply
        found: list[Reviewed] = []
        try:
            for move in moves:
                self._engine.play(*move)
            after = self._look(game)
            for move in reversed(moves):
                self._engine.undo()
                reviewed, after = self._judge(move, after)
                found.insert(0, reviewed)
                if listener(reviewed):
                    break
        finally:
            while game.ply > before:
                self._engine.undo()
        return found

    def _judge(self, move: Move, after: Seen) -> tuple[Reviewed, Seen]:
        """Hold a move against what its side could have had."""
        game = self._engine.game
        seen = self._look(game)
        played = one_ply_up(after.value)
        if played > seen.value:  # the search did not see so far
            end = after.end and Win((move, *after.end.line), after.end.proof)
            seen = Seen(played, (move, *after.line), seen.depth, end)
        is_best = seen.line[0] == move
        missed = seen.win if played < WIN_BAND else None
        allowed = after.win if seen.value > -WIN_BAND else None
        had = chance(seen.value, self._scale)
        gave = had - chance(played, self._scale)
        loss = 0.0 if is_best and missed is None and allowed is None else max(gave, 0.0)
        reviewed = Reviewed(
            game.ply + 1, move, seen.value, had, seen.line[0], seen.line, loss, seen.depth,
            missed, allowed,
        )  # fmt: skip
        return reviewed, seen

    def _look(self, game: Game) -> Seen:
        """Search the engine's position."""
        if game.winner is not None:
            is_won = game.winner is game.to_move
            return Seen(WIN if is_won else -WIN, (), 0, Win((), ""))
        if game.is_full:
            return Seen(0, (), 0)
        known = self._known(game)
        if known is not None and known.mate is not None:
            return self._seen(known, known.pv)
        proof = self._proof(game)
        if proof is not None:
            win = Win(proof.line, proof.claim)
            return Seen(WIN - (2 * proof.length - 1), proof.line, 0, win)
        thought = self._engine.think(Limit(time=self._seconds * (1 - SOLVER_SHARE)))
        if thought.mate is not None:
            return self._seen(thought, line_to_five(self._engine, thought))
        if known is not None and known.depth > thought.depth:
            thought = known
        return Seen(thought.value, thought.pv, thought.depth)

    def _seen(self, thought: Thought, moves: Sequence[Move]) -> Seen:
        """Return a forced win or loss; its line counts if it ends with the five."""
        line = tuple(moves)
        by_mover = thought.value > 0
        is_shown = bool(thought.proof) or self._is_won_by(line, by_mover)
        end = Win(line, thought.proof) if is_shown else None
        return Seen(thought.value, line, thought.depth, end)

    def _proof(self, game: Game) -> Proof | None:
        """Return the solver's win of the side to move."""
        proof = self._solver.fours(game, time=self._seconds * SOLVER_SHARE)
        if not proof.wins:
            proof = self._solver.threats(game, time=self._seconds * SOLVER_SHARE)
        return proof if proof.wins else None

    def _is_won_by(self, line: Sequence[Move], by_mover: bool) -> bool:
        """Say whether a line ends with a five of the side to move, or of the other."""
        game = self._engine.game
        side = game.to_move if by_mover else game.to_move.opponent
        return winner_after(game, line) is side


def one_ply_up(value: int) -> int:
    """Return the value, for the side that moved, of the position that its move led to."""
    if abs(value) < WIN_BAND:
        return -value
    return 1 - value if value > 0 else -value - 1
