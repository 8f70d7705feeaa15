"""Forced ends played out to the five, beyond where a search stops because the win is plain."""

from __future__ import annotations

from collections.abc import Sequence

from ..files import Document
from ..game.documents import analysis_document, thought_document, win_document
from ..game.game import Game, Move
from ..game.result import Result
from ..position.rules import Side
from .engine import Engine
from .thought import Limit

LONGER = 20  # plies by which a defence may put the five off
SEEN_AGAIN = 20_000  # positions that are searched for a win that was seen before


def line_to_five(engine: Engine, thought: Result) -> list[Move]:
    """Return the line of a forced win up to the five.

    A search stops where the win is plain to see; the moves from there are played out. Its line
    may also miss the win that its value tells of: then only its first move is believed.
    """
    mate = thought.mate or 0
    winner = engine.game.to_move if mate > 0 else engine.game.to_move.opponent
    line, ends = _played_out(engine, thought.pv[: abs(mate)], winner, abs(mate))
    if ends or not mate:
        return line
    other, ends = _played_out(engine, thought.pv[:1], winner, abs(mate))
    return other if ends else line


def winner_after(game: Game, line: Sequence[Move]) -> Side | None:
    """Return who has won at the end of a line."""
    with game.after(*line):
        return game.winner


def _played_out(
    engine: Engine, moves: Sequence[Move], winner: Side, mate: int
) -> tuple[list[Move], bool]:
    """Return the moves and how the game goes on, and whether the winner wins it."""
    game, line = engine.game, [*moves]
    with game.after(*moves):
        while len(line) < mate + LONGER and not game.is_over:
            thought = engine.think(Limit(depth=3))
            if game.to_move is winner and not thought.wins:
                thought = engine.think(Limit(nodes=SEEN_AGAIN), on_iteration=lambda seen: seen.wins)
                if not thought.wins:
                    break
            engine.play(*thought.move)
            line.append(thought.move)
        return line, game.winner is winner


def forced_end(engine: Engine, thought: Result) -> Document | None:
    """Return the forced win that a thought tells of, up to the five, as JSON, or None."""
    if thought.mate is None:
        return None
    line = thought.pv if thought.proof else line_to_five(engine, thought)
    return win_document(line, thought.plies, thought.proof)


def analysis(engine: Engine, thoughts: Sequence[Result]) -> Document:
    """Return the engine's position and what it thinks of it as JSON, forced ends played out."""
    lines = [thought_document(thought, forced_end(engine, thought)) for thought in thoughts]
    return analysis_document(engine.game, lines, engine.weights.key)
