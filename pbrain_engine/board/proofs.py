"""Walking through a proof: the attacker's next move, and what each defence leads to.

Nothing of a walk is kept: each question is a position. The solver answers from what it still
knows, and searches again where it does not, so that a walk goes on after a restart, and after
a defence that the proof passes over because it loses at once. Wins that only the main search
sees are proven by a tree, which the desk keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

from ..commands.setup import Setup
from ..engine import forms
from ..engine.engine import Engine, Limit
from ..engine.foresight import place_of
from ..engine.prover import Prover
from ..game.game import Game, IllegalMove, Move
from ..position.rules import Side
from ..solver.proofs import Tree
from ..solver.solver import Solver
from ..values import WIN_BAND
from .archive import KnownWin
from .desk import DEFAULT_MEMORY, Desk, Job
from .positions import game_of, setup_of
from .refusal import Refused
from .searches import Stopped, Tell
from .shapes import FIVE, FOUR, FOUR_THREE, OPEN_FOUR, shape_of, shapes

QUICK_FOURS = 300_000  # stones for a win by fours, before one by threats is looked for
SOLVER_SHARE = 0.5  # of the time for the search by threats; the main search has the rest
OPEN, LOST, ESCAPED = "open", "lost", "escaped"
FOURS_MADE = (FIVE, OPEN_FOUR, FOUR, FOUR_THREE, "double four")
BLOCK, COUNTER_FOUR, ELSEWHERE = "block", "counter-four", "elsewhere"
QUIET_SECONDS = 1.0  # for a reply to a move that threatens nothing


class Win(NamedTuple):
    """A proven win of the side to move: by what, its move, its line, the winner's stones."""

    claim: str
    move: Move
    line: tuple[Move, ...]
    length: int


class Walk:
    """The questions of one message, within its time."""

    def __init__(self, desk: Desk, job: Job, setup: Setup, seconds: float) -> None:
        """Set the position up."""
        self.game = game_of(setup)
        self._desk = desk
        self._job = job
        self._solver: Solver = desk.solver()
        self._archive = desk.archive
        self._until = perf_counter() + seconds

    @property
    def left(self) -> float:
        """The seconds left; raises Stopped if somebody has stopped the job."""
        if self._job.is_stopped:
            raise Stopped
        return max(self._until - perf_counter(), 0.05)

    @contextmanager
    def after(self, move: Move) -> Iterator[Game]:
        """Play a move for a while."""
        self.game.play(*move)
        try:
            yield self.game
        finally:
            self.game.undo()

    def win(self, with_search: bool = True) -> Win | None:
        """Return a proven win of the side to move, or None if none is found in the time."""
        game = self.game
        if game.is_over:
            return None
        proof = self._solver.fours(game, nodes=QUICK_FOURS, time=self.left)
        tree = None if proof.wins else self._desk.known.get(place_of(game))
        if tree is not None:
            line = line_of(tree)
            return Win("win", tree.move, line, depth_of(tree))
        recalled = None if proof.wins else self._recalled()
        if recalled is not None:
            return recalled
        if not proof.wins:
            share = SOLVER_SHARE if with_search else 1.0
            proof = self._solver.threats(game, time=self.left * share)
        if proof.wins:
            self._archive.note_win(game, KnownWin(proof.claim, proof.line, proof.length))
            return Win(proof.claim, proof.line[0], proof.line, proof.length)
        return self._by_search() if with_search else None

    def _recalled(self) -> Win | None:
        """Return a win that the database knows, unless it is but a claim of the main search."""
        known = self._archive.win(self.game)
        if known is None or (known.claim == "win" and known.tree is None):
            return None
        try:
            if known.tree is not None:
                self._keep(known.tree)
            with self.after(known.line[0]):
                return Win(known.claim, known.line[0], known.line, known.length)
        except IllegalMove:  # somebody has damaged it
            return None

    def keep_whole(self, found: Win) -> None:
        """Have the database keep all of a win by threats."""
        if self._archive.name is not None and found.claim == "vct":
            known = KnownWin(found.claim, found.line, found.length, self._solver.tree(self.game))
            self._archive.note_win(self.game, known)

    def _by_search(self) -> Win | None:
        """Let the main search look for a win, and prove the one that it sees."""
        game = self.game
        engine = self._engine()
        engine.arm()
        thought = engine.think(
            Limit(time=self.left / 2), on_iteration=lambda thought: thought.value >= WIN_BAND
        )
        if thought.value < WIN_BAND or self._job.is_stopped:
            return None
        tree = Prover(engine, self._solver, self.left).prove(thought)
        if tree is None:
            return None
        self._keep(tree)
        found = KnownWin("win", line_of(tree), depth_of(tree), tree)
        self._archive.note_win(game, found, engine.weights.key)
        return Win("win", tree.move, line_of(tree), depth_of(tree))

    def _engine(self) -> Engine:
        """Return the engine with the game of this walk on its board."""
        game = self.game
        empty = Setup(game.width, game.height, game.rule)
        engine = self._desk.engine(empty, 1, DEFAULT_MEMORY)
        game.copy_to(engine.game)
        return engine

    def _keep(self, tree: Tree) -> None:
        """Remember a proof at every position of the winner that it holds."""
        self._desk.known[place_of(self.game)] = tree
        with self.after(tree.move):
            for reply, answer in tree.replies.items():
                with self.after(reply):
                    self._keep(answer)

    def defences(self) -> list[Move] | None:
        """Return the replies that stop the last move's threat; None if it threatens nothing."""
        found = self._solver.answers(self.game)
        if found is not None:
            return list(found)
        known = next(
            (tree.replies for tree in self._desk.known.values() if self._leads_here(tree)), None
        )
        return None if known is None else list(known)

    def _leads_here(self, tree: Tree) -> bool:
        """Say whether the last move is that of a proof that is kept for the position before."""
        game = self.game
        last = game.history[-1] if game.history else None
        if last is None or last.move != tree.move or last.side is game.to_move:
            return False
        here = place_of(game)
        stones = here.stones - {(last.move, last.side)}
        return self._desk.known.get(here._replace(to_move=last.side, stones=stones)) is tree

    def escapes(self) -> list[Move]:
        """Return moves that prolong a game where nothing stops the enemy: fours, and a block."""
        game = self.game
        moves = [
            move for move in game.legal_moves() if shape_of(game, *move, game.to_move) in FOURS_MADE
        ]
        quick = game.quick_move()
        if quick is not None and quick not in moves:
            moves.append(quick)
        return moves

    def kind(self, move: Move) -> str:
        """Say what a defence is: a counter-four, a block near what is there, or elsewhere."""
        game = self.game
        if shape_of(game, *move, game.to_move) in FOURS_MADE:
            return COUNTER_FOUR
        enemy = game.to_move.opponent
        return BLOCK if shape_of(game, *move, enemy) else ELSEWHERE


def line_of(tree: Tree) -> tuple[Move, ...]:
    """Return the longest line of a proof."""
    if not tree.replies:
        return (tree.move,)
    reply, answer = max(tree.replies.items(), key=lambda item: depth_of(item[1]))
    return (tree.move, reply, *line_of(answer))


def depth_of(tree: Tree) -> int:
    """Return the winner's stones in the longest line of a proof."""
    return 1 + max((depth_of(answer) for answer in tree.replies.values()), default=0)


def prove(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Find a forced win of the side to move: the attacker's next move, and its line."""
    walk = Walk(desk, job, setup_of(message["position"]), message["seconds"])
    if walk.game.is_over:
        raise Refused("the game is over")
    with desk.turns.turn(1, None, lambda: job.is_stopped):
        found = walk.win()
        if found is not None:
            walk.keep_whole(found)
    return win_form(found)


def win_form(found: Win | None) -> dict[str, Any]:
    """Return a win as the page gets it."""
    if found is None:
        return {"claim": OPEN, "move": None, "line": [], "length": 0}
    return {
        "claim": found.claim,
        "move": list(found.move),
        "line": forms.pairs(found.line),
        "length": found.length,
    }


def branches(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """List the defences against the attacker's last move, and what each of them leads to."""
    walk = Walk(desk, job, setup_of(message["position"]), message["seconds"])
    if walk.game.is_over:
        return {"threat": True, "branches": []}
    with desk.turns.turn(1, None, lambda: job.is_stopped):
        found = walk.defences()
        rows = []
        for reply in found or []:
            kind = walk.kind(reply)
            with walk.after(reply):
                rows.append({"reply": list(reply), "kind": kind, **win_form(walk.win())})
    return {"threat": found is not None, "branches": rows}


def reply(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Defend as long as possible; say whether the attacker's last move still wins."""
    walk = Walk(desk, job, setup_of(message["position"]), message["seconds"])
    if walk.game.is_over:
        raise Refused("the game is over")
    with desk.turns.turn(1, None, lambda: job.is_stopped):
        found = walk.defences()
        if found is None:
            return _quiet(walk)
        best: tuple[int, Move] | None = None
        for move in found or walk.escapes():
            with walk.after(move) as game:
                if game.winner is not None:
                    return {"state": ESCAPED, "move": list(move), "length": 0}
                answer = walk.win()
            if answer is None:
                return {"state": ESCAPED, "move": list(move), "length": 0}
            if best is None or answer.length > best[0]:
                best = answer.length, move
    if best is None:
        raise Refused("there is no legal reply")
    return {"state": LOST, "move": list(best[1]), "length": best[0]}


def _quiet(walk: Walk) -> dict[str, Any]:
    """Answer a move that threatens nothing: what the engine plays, and whether it sees a loss."""
    engine = walk._engine()
    engine.arm()
    thought = engine.think(Limit(time=min(walk.left, QUIET_SECONDS)))
    state = LOST if thought.value <= -WIN_BAND else ESCAPED if thought.value > 0 else OPEN
    length = (abs(thought.mate) + 1) // 2 if state == LOST and thought.mate else 0
    return {"state": state, "move": list(thought.move), "length": length}


def threats(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Tell the wins by fours of both sides: the cells, and what stops the enemy's."""
    setup = setup_of(message["position"])
    walk = Walk(desk, job, setup, message["seconds"])
    game = walk.game
    made = shapes(game)
    if game.is_over:
        return {"shapes": made, "wins": [], "threatened": False, "rescues": [], "unknown": []}
    with desk.turns.turn(1, None, lambda: job.is_stopped):
        wins = winning_fours(walk)
        rescue = desk.solver().rescues(game, time=walk.left)
    return {
        "shapes": made,
        "wins": forms.pairs(wins),
        "threatened": rescue.threat.length > 0,
        "rescues": forms.pairs(rescue.moves) if rescue.threat.length > 0 else [],
        "unknown": forms.pairs(rescue.unknown) if rescue.threat.length > 0 else [],
    }


def winning_fours(walk: Walk) -> list[Move]:
    """Return the moves with which the side to move begins a win by continuous fours."""
    game = walk.game
    solver = walk._solver
    if not solver.fours(game, nodes=QUICK_FOURS, time=walk.left).wins:
        return []
    side = game.to_move
    found = []
    for move in game.legal_moves():
        if shape_of(game, *move, side) in FOURS_MADE and _wins_with(walk, move, side):
            found.append(move)
    return found


def _wins_with(walk: Walk, move: Move, side: Side) -> bool:
    """Say whether a move that makes a four or five wins by fours."""
    with walk.after(move) as game:
        if game.winner is side:
            return True
        enemy = game.to_move
        stops = list(walk._solver.answers(game) or ())
        for stop in stops:
            if shape_of(game, *stop, enemy) == FIVE:
                return False
            with walk.after(stop):
                if not walk._solver.fours(game, nodes=QUICK_FOURS, time=walk.left).wins:
                    return False
        return walk._solver.answers(game) is not None
