"""Thoughts, wins and proofs as plain dictionaries: what JSON output and the board's page hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import __version__
from ..game.game import Game, Move
from ..game.opening_names import Opening, name_opening
from ..game.position import Position
from ..position.rules import Rule, Side
from ..solver.solver import BY_FOURS, BY_THREATS, Tree
from ..values import WIN_BAND
from .engine import Engine, Limit, Thought

Pair = tuple[int, int]

LONGER = 20  # plies by which a defence may put the five off
SEEN_AGAIN = 20_000  # positions that are searched for a win that was seen before


def pairs(moves: Sequence[Pair]) -> list[list[int]]:
    """Return moves as JSON has them."""
    return [*map(list, moves)]


def opening_of(game: Game) -> Opening | None:
    """Return which of renju's openings a game of renju began with, None if it is none of them."""
    if game.rule is not Rule.RENJU:
        return None
    first = [(stone.move, stone.side) for stone in game.history[:3]]
    sides = [side for _, side in first]
    if sides != [Side.BLACK, Side.WHITE, Side.BLACK]:  # stones that were set up come in any order
        return None
    return name_opening(Position.of(game.rule, game.width, game.height, Side.WHITE, first))


def game_form(game: Game) -> dict[str, Any]:
    """Return what is plain to see of a game; ``played`` in order, where the sides took turns."""
    is_played = game.is_in_turn and (not game.ply or game.history[0].side is Side.BLACK)
    opening = opening_of(game)
    cells = {
        side: pairs([stone.move for stone in game.history if stone.side is side]) for side in Side
    }
    return {
        "rule": game.rule.name.lower(),
        "size": [game.width, game.height],
        "stones": game.ply,
        "black": cells[Side.BLACK],
        "white": cells[Side.WHITE],
        "walls": cells[Side.WALL],
        "played": pairs(game.moves) if is_played else None,
        "opening": None if opening is None else str(opening),
        "to_move": game.to_move.name.lower(),
        "winner": None if game.winner is None else game.winner.name.lower(),
        "forbidden": pairs(game.forbidden()),
    }


def thought_form(thought: Thought, win: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a thought, with the forced win that ``end_form`` made of it; the value is the mover's.

    The time is in seconds.
    """
    return {
        "move": list(thought.move),
        "value": thought.value,
        "chance": round(thought.chance, 4),
        "bound": thought.bound,
        "mate": thought.mate,
        "depth": thought.depth,
        "seldepth": thought.seldepth,
        "pv": pairs(thought.pv),
        "win": win,
        "nodes": thought.nodes,
        "visits": thought.visits,
        "time": round(thought.time, 4),
    }


def win_form(line: Sequence[Move], plies: int, claim: str) -> dict[str, Any]:
    """Return a forced win of either side, with the ``proof`` if it is one by threats."""
    found: dict[str, Any] = {"plies": max(plies, len(line)), "line": pairs(line)}
    return {**found, "proof": claim} if claim in (BY_FOURS, BY_THREATS) else found


def end_form(engine: Engine, thought: Thought) -> dict[str, Any] | None:
    """Return the forced win that a thought tells of, up to the five, or None."""
    if thought.mate is None:
        return None
    line = thought.pv if thought.proof else line_to_five(engine, thought)
    return win_form(line, abs(thought.mate), thought.proof)


def analysis_form(engine: Engine, thoughts: Sequence[Thought]) -> dict[str, Any]:
    """Return a position and what was thought of it, the best line first and in the open."""
    lines = [thought_form(thought, end_form(engine, thought)) for thought in thoughts]
    author = {"version": f"Numoku {__version__}", "weights": engine.weights.key}
    return {**game_form(engine.game), **(lines[0] if lines else {}), "lines": lines, **author}


def tree_form(tree: Tree | None) -> dict[str, Any] | None:
    """Return a proof: a move and, by name of the answer, what follows it."""
    if tree is None:
        return None
    answers = [
        {"reply": list(reply), **(tree_form(answer) or {})}
        for reply, answer in tree.replies.items()
    ]
    return {"move": list(tree.move), "answers": answers}


def read_tree(form: Mapping[str, Any]) -> Tree:
    """Return the proof that ``tree_form`` wrote down."""
    answers = {Move(*answer["reply"]): read_tree(answer) for answer in form["answers"]}
    return Tree(Move(*form["move"]), answers)


def line_to_five(engine: Engine, thought: Thought) -> list[Move]:
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

    def is_won(thought: Thought) -> bool:
        return thought.value >= WIN_BAND

    with game.after(*moves):
        while len(line) < mate + LONGER and not game.is_over:
            thought = engine.think(Limit(depth=3))
            if game.to_move is winner and thought.value < WIN_BAND:
                thought = engine.think(Limit(nodes=SEEN_AGAIN), on_iteration=is_won)
                if thought.value < WIN_BAND:
                    break
            engine.play(*thought.move)
            line.append(thought.move)
        return line, game.winner is winner
