"""Forced wins in full: lines played out to the five, and proof trees that can be checked.

A search stops once it sees the win; the line shown continues to the five. A search also prunes and
yields one line, while a proof answers every reply. The winner's moves come from the solver, or
from the engine where only it sees the win. All legal replies are tried except those that lose at
once: by the solver's account to a threat of fours, else to a short run of fours.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from ..files import Document
from ..game.documents import author_of, game_document, thought_document, win_document
from ..game.game import Game, Move
from ..game.position import Position
from ..game.result import Result, Thought, Tree
from ..position.rules import Side
from ..solver import Solver
from .engine import Engine
from .pacing import Limit

SEEN_AGAIN = 20_000  # nodes to find a win again that an earlier search has seen


def line_to_five(engine: Engine, thought: Result) -> list[Move]:
    """Return the line of a forced win up to the five.

    A search stops once it sees the win; the remaining moves are played out. If its line does not
    lead to the win that its value promises, only its first move is kept.
    """
    mate = thought.mate or 0
    winner = engine.game.to_move if mate > 0 else engine.game.to_move.opponent
    line, ends = _played_out(engine, thought.pv[: abs(mate)], winner)
    if ends:
        return line
    other, ends = _played_out(engine, thought.pv[:1], winner)
    return other if ends else line


def winner_after(game: Game, line: Sequence[Move]) -> Side | None:
    """Return the winner at the end of a line, if any."""
    with game.after(*line):
        return game.winner


def _played_out(engine: Engine, moves: Sequence[Move], winner: Side) -> tuple[list[Move], bool]:
    """Return the moves with their continuation, and whether ``winner`` wins at its end."""
    game, line = engine.game, [*moves]
    with game.after(*moves):
        while not game.is_over:
            thought = engine.think(Limit(depth=3))
            if game.to_move is winner and not thought.wins:
                thought = engine.think(Limit(nodes=SEEN_AGAIN), on_iteration=lambda seen: seen.wins)
                if not thought.wins:
                    break
            engine.play(*thought.move)
            line.append(thought.move)
        return line, game.winner is winner


def forced_end(engine: Engine, thought: Result) -> Document | None:
    """Return a thought's forced win, played out to the five, as JSON, or None."""
    if thought.mate is None:
        return None
    line = thought.pv if thought.proof else line_to_five(engine, thought)
    return win_document(line, thought.plies, thought.proof)


def analysis(engine: Engine, thoughts: Sequence[Result]) -> Document:
    """Return the engine's position and thoughts, best first, as JSON, forced wins played out."""
    lines = [thought_document(thought, forced_end(engine, thought)) for thought in thoughts]
    best, author = lines[0] if lines else {}, author_of(engine.weights.key)
    return {**game_document(engine.game), **best, "lines": lines, **author._asdict()}


# Proofs ---------------------------------------------------------------------------------

FEW_FOURS = 100  # stones to show that a reply loses at once
QUICK_THREATS = 30_000  # stones for a win by threats before the engine searches
THREAT_STONES = 30_000_000  # and after the engine has found one, or as the last resort
NODES = 2_000_000  # nodes of the engine for the next move of a win
ATTEMPTS = 3  # moves to try where the engine sees a win


class Prover:
    """Builds the proof of a win in the engine's game, from the engine's and solver's wins."""

    def __init__(self, engine: Engine, solver: Solver, seconds: float) -> None:
        """Use this engine, whose table should still contain the win, for ``seconds``."""
        self._engine = engine
        self._game: Game = engine.game
        self._solver = solver
        self._until = perf_counter() + seconds
        self._known: dict[Position, Tree | None] = {}

    @property
    def is_late(self) -> bool:
        """Whether time is up or the solver was stopped."""
        return perf_counter() >= self._until or self._solver.is_stopped

    def prove(self, thought: Thought | None = None) -> Tree | None:
        """Return a proof that the side to move wins, or None if none was found.

        ``thought``: the engine's thought about the position, if there is one. If its move cannot
        be proven to win, others are tried.
        """
        return self._win(thought) or (None if self.is_late else self._by_threats(THREAT_STONES))

    def _win(self, thought: Thought | None) -> Tree | None:
        position = self._game.position
        if position not in self._known:
            self._known[position] = self._by_threats(QUICK_THREATS) or self._by_search(thought)
        return self._known[position]

    def _by_threats(self, nodes: int) -> Tree | None:
        proof = self._solver.threats(self._game, nodes=nodes)
        return self._solver.tree(self._game) if proof.wins else None

    def _by_search(self, thought: Thought | None) -> Tree | None:
        """Try the moves that the engine considers winning, one after the other."""
        failed: list[Move] = []
        while len(failed) < ATTEMPTS and not self.is_late:
            if failed and not set(self._game.legal_moves()).difference(failed):
                return None
            if thought is None or failed:
                thought = self._engine.think(
                    Limit(nodes=NODES, time=max(self._until - perf_counter(), 0.001)),
                    on_iteration=lambda thought: thought.wins,
                    exclude=failed,
                )
            if not thought.wins:
                return None
            if thought.proof:
                return self._by_threats(THREAT_STONES)
            with self._game.after(thought.move):
                replies = self._prove_answers(thought)
            if replies is not None:
                return Tree(thought.move, replies)
            failed.append(thought.move)
        return None

    def _prove_answers(self, thought: Thought) -> dict[Move, Tree] | None:
        """Return a proof for every relevant reply, or None if one has none.

        ``thought`` is the one whose move led here; its line is reused after the reply it expects.
        """
        if self._game.is_over:
            return {} if self._game.winner is self._game.to_move.opponent else None
        line = thought.pv[1:]
        trees: dict[Move, Tree] = {}
        for reply in sorted(self._replies(), key=lambda move: move not in line[:1]):
            further = None
            if reply in line[:1] and len(line) > 1:
                further = thought._replace(value=thought.value + 2, line=line[1:])
            with self._game.after(reply):
                tree = None if self._game.is_over else self._win(further)
            if tree is None:
                return None
            trees[reply] = tree
        return trees

    def _replies(self) -> list[Move]:
        """Return the replies that do not lose at once."""
        answers = self._solver.answers(self._game)
        if answers is not None:
            return list(answers)
        replies = []
        for move in self._game.legal_moves():
            with self._game.after(move):
                hopeless = self._solver.fours(self._game, nodes=FEW_FOURS).wins
            if not hopeless:
                replies.append(move)
        return replies
