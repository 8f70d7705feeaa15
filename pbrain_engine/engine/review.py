"""Reviews of games, move by move: the worth of each move, and the wins missed.

Positions are searched from the last to the first, so that each search knows the next position.
Then neighbours are reconciled: a later position corrects a value, a forced end carries over to
the positions after it, and a move is not blamed for losing if all others lose as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ..game.game import Game, Move
from ..game.result import BY_SEARCH, Result, Reviewed, Thought, win_by
from ..position.geometry import transform
from ..solver import Solver
from ..values import WIN, WIN_BAND, chance
from .ending import line_to_five, winner_after
from .engine import Engine
from .pacing import Limit

SOLVER_SHARE = 0.25  # of the time of a position, for a proof before the search
PATIENCE = 4  # times the usual time, for a win known to exist
ALTERNATIVES = 3  # other moves that may lose to threats before the search's move is accepted


Recall = Callable[[Game], Thought | None]


class Reviewer:
    """Reviews games with an engine, whose table carries over between positions."""

    def __init__(
        self, engine: Engine, solver: Solver, seconds: float, known: Recall = lambda game: None
    ) -> None:
        """Spend ``seconds`` on each position; ``known`` returns an earlier result of one."""
        self._known = known
        self._engine = engine
        self._solver = solver
        self._seconds = seconds
        self._limit = Limit(time=seconds * (1 - SOLVER_SHARE))
        self._is_stopped: Callable[[], bool] = lambda: False

    def review(
        self,
        moves: Sequence[Move],
        listener: Callable[[Reviewed], None] = lambda reviewed: None,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> list[Reviewed]:
        """Review the moves played from the engine's position, last first.

        The listener gets each reviewed move, and again those that an earlier position corrects.
        The engine's game is restored in the end. To stop a review, also stop the engine and the
        solver; moves not reviewed by then are left out. IllegalMove if a move is impossible.
        """
        played = self._engine.game.ply
        seen: dict[int, Result] = {}
        found: dict[int, Reviewed] = {}
        self._is_stopped = is_stopped
        with suppress(InterruptedError), self._engine.game.after(*moves):
            seen[len(moves)] = self._look()
            for place in reversed(range(len(moves))):
                self._engine.undo()
                seen[place] = self._look()
                for number in self._settle(moves, seen, place):
                    found[number] = self._judge(
                        played + number + 1, moves[number], seen[number], seen[number + 1]
                    )
                    listener(found[number])
        return [found[place] for place in sorted(found)]

    def _judge(self, ply: int, move: Move, here: Result, after: Result) -> Reviewed:
        """Compare a move with the best of its position."""
        played = other_side(after.value, 1)
        missed = win_of(here) if played < WIN_BAND else None
        allowed = win_of(after) if here.value > -WIN_BAND else None
        game = self._engine.game
        found, kept = (
            here._replace(scale=game.scale_at(ply - 1)),
            chance(played, game.scale_at(ply)),
        )
        loss = 0.0 if found.move == move else max(found.chance - kept, 0.0)
        is_foul = not after.line and after.value == WIN
        return Reviewed(ply, move, found, loss, missed, allowed, is_foul)

    # Reconciling neighbours --------------------------------------------------------

    def _settle(self, moves: Sequence[Move], seen: dict[int, Result], first: int) -> range:
        """Reconcile the engine's position with those after it; return the moves affected."""
        place = first
        with self._engine.game.after():
            while True:
                known = seen[place + 1]
                seen[place], seen[place + 1] = self._reconcile(seen[place], known, moves[place:])
                if seen[place + 1] == known or place + 1 == len(moves):
                    return range(first, place + 1)
                self._engine.play(*moves[place])
                place += 1

    def _reconcile(
        self, here: Result, after: Result, moves: Sequence[Move]
    ) -> tuple[Result, Result]:
        """Return consistent results before and after the first of the moves."""
        move = moves[0]
        here = self._follow(here, move)
        is_decided = not after.line or abs(after.value) >= WIN_BAND
        if here.value <= -WIN_BAND and not is_decided:
            after = self._won(here, after, moves)
        played = other_side(after.value, 1)
        if here.value >= WIN_BAND and here.line[0] == move and played < WIN_BAND:
            if not is_decided:
                return here, after_best(here, after.line)
            other = self._without(move, here, after)
            is_only = other.line[0] == move
            here = other if is_only else other._replace(value=here.value, claim="")
        elif abs(here.value) < WIN_BAND <= after.value:
            here = self._without(move, here, after)
        elif played > here.value:  # the search was too shallow
            here = before(after, move)
        return here, after

    def _follow(self, here: Result, move: Move) -> Result:
        """Return the result turned so that its line starts with a move, if symmetry allows.

        Of symmetric moves a search reports only one.
        """
        position = self._engine.game.position
        for number in position.own_symmetries():
            cells = transform(here.line, number, position.width, position.height)
            if cells[:1] == [move]:
                return here._replace(line=tuple(Move(*cell) for cell in cells))
        return here

    def _won(self, here: Result, after: Result, moves: Sequence[Move]) -> Result:
        """Return the win after a move in a lost position, if the search there missed it."""
        if here.line[0] == moves[0] and here.claim:
            return after_best(here, after.line)
        with self._engine.game.after(moves[0]):
            found = self._proven(PATIENCE * self._seconds)
            if found is None:
                limit = Limit(time=PATIENCE * self._seconds)
                thought = self._think(limit, on_iteration=lambda thought: thought.wins)
                found = self._seen(thought) if thought.wins else None
        # the win exists, but its line is unknown: the move played is not to blame
        unshown = Result(other_side(here.value, -1), tuple(moves[1:2]) or after.line, after.depth)
        return found or unshown

    def _without(self, move: Move, here: Result, after: Result) -> Result:
        """Return the result of a position without a move found to lose.

        Other moves that lose to threats are excluded, too.
        """
        losing = [move]
        while True:
            if here.line[0] in losing:
                if not set(self._engine.game.legal_moves()).difference(losing):
                    return before(after, move)
                here = self._seen(self._think(self._limit, exclude=losing))
            if here.value <= -WIN_BAND:
                return max(here, before(after, move), key=lambda seen: seen.value)
            if here.value >= WIN_BAND or len(losing) > ALTERNATIVES:
                return here
            with self._engine.game.after(here.line[0]):
                loses = self._proven(self._seconds * SOLVER_SHARE) is not None
            if not loses:
                return here
            losing.append(here.line[0])

    # Single positions --------------------------------------------------------------

    def _look(self) -> Result:
        """Search the engine's position."""
        game = self._engine.game
        if game.winner is not None:
            if game.foul is not None:  # won by the foul, without a move to show
                return Result(WIN)
            return Result(-WIN, claim=BY_SEARCH)
        if game.is_full:
            return Result()
        known = self._known(game)
        if known is not None and known.bound and not known.is_certain:
            known = None
        if known is not None and known.mate is not None:
            return self._shown(known, known.pv)
        proven = self._proven(self._seconds * SOLVER_SHARE)
        if proven is not None:
            return proven
        thought = self._think(self._limit)
        if known is not None and thought.mate is None and known.depth > thought.depth:
            thought = known
        return self._seen(thought)

    def _seen(self, thought: Thought) -> Result:
        """Return a thought as a result, with a forced end played out."""
        if thought.mate is None:
            return Result(thought.value, thought.pv, thought.depth)
        return self._shown(thought, line_to_five(self._engine, thought))

    def _shown(self, thought: Thought, moves: Sequence[Move]) -> Result:
        """Return a forced win or loss, claimed as one only if its line ends with the five."""
        game = self._engine.game
        line = tuple(moves)
        winner = game.to_move if thought.value > 0 else game.to_move.opponent
        is_shown = thought.proof or winner_after(game, line) is winner
        claim = (thought.proof or BY_SEARCH) if is_shown else ""
        return Result(thought.value, line, thought.depth, claim=claim)

    def _think(self, limit: Limit, **more: Any) -> Thought:
        self._engine.arm()  # before the check, so that no stop is lost
        self._check()
        thought = self._engine.think(limit, **more)
        self._check()
        return thought

    def _check(self) -> None:
        if self._is_stopped():
            raise InterruptedError("the review has been stopped")

    def _proven(self, seconds: float) -> Result | None:
        """Return the solver's win for the side to move, or None."""
        game = self._engine.game
        if game.is_over:
            return None
        proof = self._solver.fours(game, time=seconds)
        if not proof.wins:
            proof = self._solver.threats(game, time=seconds)
        self._check()
        return Result(proof.value, proof.line, claim=proof.claim) if proof.wins else None


def other_side(value: int, plies: int) -> int:
    """Return a value for the other side, with a forced end ``plies`` farther away."""
    if abs(value) < WIN_BAND:
        return -value
    return plies - value if value > 0 else -plies - value


def win_of(seen: Result) -> Result | None:
    """Return the forced win of the side to move, if its line is complete."""
    return win_by(seen.claim, seen.line) if seen.claim and seen.wins else None


def before(seen: Result, move: Move) -> Result:
    """Return the result of the position before ``move``, if that is its best move."""
    return seen._replace(value=other_side(seen.value, 1), line=(move, *seen.line))


def after_best(seen: Result, line: tuple[Move, ...]) -> Result:
    """Return the result of the position after the best move of a forced end.

    ``line``: the continuation if the result has no further moves.
    """
    return seen._replace(value=other_side(seen.value, -1), line=seen.line[1:] or line)
