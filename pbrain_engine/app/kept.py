"""How commands and the board read and feed a database; reviews as it keeps them and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from .. import __version__
from ..database.finding import SEARCH, Author, Bound, Entry, Finding, Known
from ..database.lines import add_tree, look_up
from ..database.store import Database, StoredGame
from ..engine.engine import Engine, Move, Thought
from ..engine.forms import pairs, win_form
from ..engine.review import Reviewed
from ..engine.thought import LOWER, UPPER
from ..game.game import Game
from ..game.position import Position, image_of
from ..game.record import GameRecord, tree_of

BOUNDS = {LOWER: Bound.LOWER, UPPER: Bound.UPPER}


def finding_of(thought: Thought, weights: str, tree: Any = None) -> Finding:
    """Return a thought as it is kept; ``tree`` is the JSON form of its proof."""
    return Finding.of(
        thought.value,
        thought.move,
        thought.pv,
        thought.proof,
        bound=BOUNDS.get(thought.bound, Bound.EXACT),
        depth=thought.depth,
        nodes=thought.nodes,
        tree=json.dumps(tree) if tree else "",
        author=Author(f"Numoku {__version__}", weights),
    )


def thought_of(finding: Finding) -> Thought:
    """Return a finding that has a move as a thought."""
    move = Move(*finding.moves[0])
    line = tuple(Move(x, y) for x, y in finding.line) or (move,)
    proof = "" if finding.proof == SEARCH else finding.proof
    return Thought(
        move, finding.value, finding.depth, finding.depth, finding.nodes, 0.0, line, proof=proof
    )


def certain_of(finding: Finding | None) -> Thought | None:
    """Return a forced win or loss as a thought, and None for any other finding."""
    return thought_of(finding) if finding is not None and finding.is_certain else None


class Kept:
    """An open database, as a command uses it; one that is not named does nothing."""

    def __init__(self, target: str | None) -> None:
        """Open it, made if it is not there.

        Raises:
            EngineError: it cannot be opened.
        """
        self.database = None if target is None else Database(target, create=True)

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        if self.database is not None:
            self.database.close()

    def look_up(self, game: Game) -> Entry | None:
        """Return what is known about a position."""
        return None if self.database is None else look_up(self.database, game.position)

    def finding(self, game: Game) -> Finding | None:
        """Return the value that is known of a position, with a move."""
        entry = self.look_up(game)
        finding = entry.finding if entry is not None else None
        return finding if finding is not None and finding.moves else None

    def note(self, engine: Engine, thought: Thought, tree: Any = None) -> None:
        """Keep what was found out about the engine's position, and the way to it."""
        if self.database is None or (not thought.depth and thought.mate is None):
            return
        game = engine.game
        position = game.position
        finding = finding_of(thought, engine.weights.key, tree)
        with self.database.transaction():
            self.database.add_findings([Known(image_of(position), finding)])
            if game.is_in_turn:
                first = game.history[0].side if game.ply else game.to_move
                board = game.width, game.height, game.rule
                record = GameRecord(*board, tuple(game.moves), first)
                add_tree(self.database, tree_of(record))

    def note_findings(self, findings: Iterable[tuple[Position, Finding]]) -> None:
        """Keep what was found out about positions, but not how they were reached."""
        if self.database is not None:
            known = [Known(image_of(position), finding) for position, finding in findings]
            with self.database.transaction():
                self.database.add_findings(known)

    def note_game(self, record: GameRecord) -> None:
        """Keep a game that has moves."""
        if self.database is not None and record.moves:
            with self.database.transaction():
                self.database.add_games([StoredGame(record)])


# Reviews --------------------------------------------------------------------------------


def found_of(game: GameRecord, found: Sequence[Reviewed], weights: str) -> dict[Position, Finding]:
    """Return what was found out about the positions of a game, as it is kept."""
    author = Author(f"Numoku {__version__}", weights)
    return {
        replace(game, moves=game.moves[: item.ply - 1 - len(game.placed)]).position: Finding.of(
            item.value, item.best, item.line, depth=item.depth, author=author
        )
        for item in found
    }


def known_by(finding: Callable[[Game], Finding | None]) -> Callable[[Game], Thought | None]:
    """Return what a database knows as a reviewer asks for it: exact values as thoughts."""

    def known(game: Game) -> Thought | None:
        found = finding(game)
        if found is None or not (found.is_certain or found.bound is Bound.EXACT):
            return None
        return thought_of(found)

    return known


def move_form(reviewed: Reviewed) -> dict[str, Any]:
    """Return what was found out about a move as JSON has it."""
    wins = {"missed_win": reviewed.missed, "allowed_win": reviewed.allowed}
    return {
        "ply": reviewed.ply,
        "move": list(reviewed.move),
        "foul": reviewed.is_foul,
        "value": reviewed.value,
        "chance": round(reviewed.chance, 4),
        "best": list(reviewed.best),
        "loss": round(reviewed.loss, 4),
        **{name: win and win_form(win.line, win.plies, win.claim) for name, win in wins.items()},
        "line": pairs(reviewed.line),
        "depth": reviewed.depth,
    }


def document(game: GameRecord, found: Sequence[Reviewed]) -> dict[str, Any]:
    """Return the review as one document; values are those of the side that moves."""
    *size, rule = game.board
    return {
        "rule": rule.name.lower(),
        "size": size,
        "moves": [move_form(reviewed) for reviewed in found],
    }
