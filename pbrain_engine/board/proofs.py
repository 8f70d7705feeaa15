"""Proofs to walk through: the attacker's next move and the result of each defence; and puzzles.

Each request is a position and no walk is stored: the solver answers from its tables or searches
again, so a walk survives a restart, and defences that the proof leaves out because they lose at
once. Wins that only the main search sees are proven by a tree, which the desk keeps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from ..app.saved import certain_of
from ..app.view import DOUBLE_FOUR, FIVE, FOUR, FOUR_THREE, OPEN_FOUR, consequence, shape_of, shapes
from ..engine.ending import Prover
from ..engine.engine import Engine, Limit, Thought
from ..errors import Refused
from ..files import Document
from ..game.cells import IllegalMove
from ..game.documents import DEFEND, pairs, win_document
from ..game.game import Game, Move
from ..game.record import GameRecord
from ..game.result import BY_FOURS, BY_SEARCH, BY_THREATS, OPEN, Result, Tree, win_by
from ..position.rules import Side
from ..solver import Solver
from ..values import WIN_BAND
from .desk import Desk, Job, refuse_if_over
from .messages import POSITION, operation, seconds

QUICK_FOURS = 300_000  # node limit of the search for a win by fours, before that by threats
SOLVER_SHARE = 0.5  # of the time for the search by threats; the main search has the rest
LOST, ESCAPED = "lost", "escaped"
FOURS_MADE = (FIVE, OPEN_FOUR, FOUR, FOUR_THREE, DOUBLE_FOUR)
QUIET_SECONDS = 0.7  # for a reply to a quiet move
PUZZLES = Path(__file__).parent / "puzzles.jsonl"  # of ``build/puzzles.py``


class Walk:
    """A position and its time limit, with the searches that a request needs."""

    def __init__(self, desk: Desk, job: Job) -> None:
        self.game = Game.of(job.setup)
        self.after = self.game.after
        self._desk = desk
        self._job = job
        self.solver: Solver = desk.solver()
        self._until: float = perf_counter() + job.fields["seconds"]

    @property
    def left(self) -> float:
        """The seconds left; raises CancelledError if the job was stopped."""
        self._job.check()
        return max(self._until - perf_counter(), 0.05)

    def win(self) -> Result | None:
        """Return a proven win of the side to move, or None if none is found in time."""
        game = self.game
        if game.is_over:
            return None
        proof = self.solver.fours(game, nodes=QUICK_FOURS, time=self.left)
        if not proof.wins:
            known = self._recall_win()
            if known is not None:
                return known
            proof = self.solver.threats(game, time=self.left * SOLVER_SHARE)
        if not proof.wins:
            return self._by_search()
        self._desk.archive.note_win(game, proof)
        return proof

    def _recall_win(self) -> Result | None:
        """Return a win with a proof from the desk or the database, or None."""
        tree = self._desk.known.get(self.game.position)
        if tree is not None:
            return win_of(tree)
        known = certain_of(self._desk.archive.finding(self.game))
        if known is None or not known.wins or not (known.proof or known.tree):
            return None
        try:
            if known.tree is not None:
                self._keep(known.tree)
            with self.after(known.move):
                return known
        except IllegalMove:  # the entry is damaged
            return None

    def _by_search(self) -> Result | None:
        """Look for a win with the main search, and prove it."""
        engine = self._engine()
        thought = engine.think(Limit(time=self.left / 2), on_iteration=lambda thought: thought.wins)
        if not thought.wins or self._job.is_stopped:
            return None
        tree = Prover(engine, self.solver, self.left).prove(thought)
        if tree is None:
            return None
        self._keep(tree)
        found = win_of(tree)
        self._desk.archive.note_win(self.game, found, engine.weights.key)
        return found

    def _engine(self) -> Engine:
        """Return the engine with the game of this walk on its board."""
        game = self.game
        engine = self._desk.engine(GameRecord(game.width, game.height, game.rule))
        engine.game.set_up(game.history, game.to_move)
        return engine

    def quick_thought(self) -> Thought:
        """Return the result of a short main search."""
        return self._engine().think(Limit(time=min(self.left, QUIET_SECONDS)))

    def _keep(self, tree: Tree) -> None:
        """Remember a proof under each of its positions with the winner to move."""
        self._desk.known[self.game.position] = tree
        with self.after(tree.move):
            for reply, answer in tree.replies.items():
                with self.after(reply):
                    self._keep(answer)

    def defences(self) -> list[Move] | None:
        """Return the replies that stop the last move's threat; None if it threatens nothing."""
        game = self.game
        found = self.solver.answers(game)
        if found is None and game.history and game.history[-1].side is not game.to_move:
            last = game.history[-1].move
            tree = self._desk.known.get(game.position.before(last))
            if tree is not None and tree.move == last:  # a move of a known proof
                return list(tree.replies)
        return None if found is None else list(found)

    @property
    def fours(self) -> list[Move]:
        """Legal moves that make a four or a five."""
        game, side = self.game, self.game.to_move
        return [m for m in game.legal_moves() if shape_of(game, *m, side) in FOURS_MADE]

    def kind(self, move: Move) -> str:
        """Return the kind of a defence: ``counter-four``, ``block`` or ``elsewhere``."""
        game = self.game
        if shape_of(game, *move, game.to_move) in FOURS_MADE:
            return "counter-four"
        return "block" if shape_of(game, *move, game.to_move.opponent) else "elsewhere"


def win_of(tree: Tree) -> Result:
    """Return the win of a proof, with its longest line."""
    return win_by(BY_SEARCH, tree.longest(), tree)


@operation(position=POSITION, seconds=seconds(10.0))
def prove(desk: Desk, job: Job) -> Document:
    """Prove a win of the side to move: its next move and its line."""
    walk = Walk(desk, job)
    refuse_if_over(walk.game)
    found = walk.win()
    if found is not None and found.claim == BY_THREATS and desk.archive.name is not None:
        tree = desk.known.get(walk.game.position) or walk.solver.tree(walk.game)
        desk.archive.note_win(walk.game, found._replace(tree=tree))  # as a whole
    return _proof_form(found)


def _proof_form(found: Result | None) -> Document:
    if found is None:
        return {"claim": OPEN, "move": None, "line": [], "length": 0}
    form = win_document(found.pv, found.plies, found.claim)
    return {"claim": found.claim, "move": list(found.pv[0]), "length": found.length, **form}


@operation(position=POSITION, seconds=seconds(20.0))
def branches(desk: Desk, job: Job) -> Document:
    """List the defences against the attacker's last move, and the win after each."""
    walk = Walk(desk, job)
    if walk.game.is_over:
        return {"threat": True, "branches": [], "fives": [], "fours": []}
    found = walk.defences()
    rows = []
    for reply in found or []:
        kind = walk.kind(reply)
        with walk.after(reply):
            rows.append({"reply": list(reply), "kind": kind, **_proof_form(walk.win())})
    fives, fours = consequence(walk.game, walk.solver)
    return {
        "threat": found is not None,
        "branches": rows,
        "fives": pairs(fives),  # after any other answer
        "fours": pairs(fours),
    }


@operation(position=POSITION, seconds=seconds(20.0))
def reply(desk: Desk, job: Job) -> Document:
    """Defend as long as possible; report whether the attacker's last move still wins.

    If it does not, ``line`` begins with the defence and shows a likely continuation.
    """
    walk = Walk(desk, job)
    refuse_if_over(walk.game)
    found = walk.defences()
    if found is None:  # the engine's move, and whether it sees a loss
        thought = walk.quick_thought()
        state = LOST if thought.value <= -WIN_BAND else ESCAPED if thought.value > 0 else OPEN
        length = (abs(thought.mate) + 1) // 2 if state == LOST and thought.mate else 0
        return _reply_form(state, length, thought.pv)
    if not found:  # nothing stops the opponent: fours or a block prolong the game
        quick = walk.game.quick_move()
        found = list(dict.fromkeys([*walk.fours, *([] if quick is None else [quick])]))
    best: tuple[int, Move, tuple[Move, ...]] | None = None
    for move in found:
        with walk.after(move) as game:
            if game.winner is not None:
                return _reply_form(ESCAPED, 0, (move,))
            answer = walk.win()
            if answer is None:
                return _reply_form(ESCAPED, 0, (move, *walk.quick_thought().pv))
        if best is None or answer.length > best[0]:
            best = answer.length, move, answer.line
    if best is None:
        raise Refused("there is no legal reply").coded("over")
    length, move, line = best
    return _reply_form(LOST, length, (move, *line))


def _reply_form(state: str, length: int, line: Sequence[Move]) -> Document:
    """Return a defence and its continuation as the page expects them."""
    return {"state": state, "move": list(line[0]), "length": length, "line": pairs(line)}


@operation(position=POSITION, seconds=seconds(5.0))
def threats(desk: Desk, job: Job) -> Document:
    """List the shapes that each cell makes, the wins by fours, and the defences against one."""
    walk = Walk(desk, job)
    game = walk.game
    found: Document = {"shapes": shapes(game), "threatened": False}
    found |= {"wins": [], "rescues": [], "unknown": []}
    if game.is_over:
        return found
    if walk.solver.fours(game, nodes=QUICK_FOURS, time=walk.left).wins:
        side = game.to_move
        found["wins"] = pairs([move for move in walk.fours if _wins_with(walk, move, side)])
    rescue = walk.solver.rescues(game, time=walk.left)
    if rescue.length > 0:
        moves, unknown = pairs(rescue.moves), pairs(rescue.unknown)
        found |= {"threatened": True, "rescues": moves, "unknown": unknown}
    return found


def _wins_with(walk: Walk, move: Move, side: Side) -> bool:
    """Return whether a move that makes a four or a five wins by fours."""
    with walk.after(move) as game:
        if game.winner is side:
            return True
        stops = walk.solver.answers(game)
        for stop in stops or ():
            if shape_of(game, *stop, game.to_move) == FIVE:
                return False
            with walk.after(stop):
                if not walk.solver.fours(game, nodes=QUICK_FOURS, time=walk.left).wins:
                    return False
        return stops is not None


# Puzzles ------------------------------------------------------------------------------


@operation(at_once=True)
def puzzles(desk: Desk, job: Job) -> Document:
    """Return the puzzles of the trainer, wins and defences, easiest first."""
    lines = PUZZLES.read_text(encoding="utf-8").splitlines()
    found = sorted(map(json.loads, lines), key=difficulty_of)
    return {"puzzles": [{**puzzle, "difficulty": difficulty_of(puzzle)} for puzzle in found]}


def difficulty_of(puzzle: Mapping[str, Any]) -> int:
    """Return the difficulty of a puzzle, from 1: its length, plus 2 for a win with quiet moves.

    For a defence: the length of the win to stop, plus 2 if fewer than three moves stop it, else 1.
    """
    own: int = puzzle["own_moves"]
    if puzzle["kind"] == DEFEND:
        return own + (2 if len(puzzle["best"]) < 3 else 1)
    return own + (2 if puzzle["kind"] != BY_FOURS else 0)
