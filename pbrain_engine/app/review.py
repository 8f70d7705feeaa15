"""Reviews as databases keep them and as JSON has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import __version__
from ..database.finding import SEARCH, Author, Bound, Finding
from ..engine.engine import Thought
from ..engine.forms import pairs
from ..engine.review import Reviewed, Win
from ..game.game import Game
from ..notation.canonical import Position
from ..values import WIN_BAND
from . import kept, setup


def found_of(game: setup.Setup, found: Sequence[Reviewed], weights: str) -> dict[Position, Finding]:
    """Return what was found out about the positions of a game, as it is kept."""
    author = Author(f"Numoku {__version__}", weights)
    findings = {}
    for reviewed in found:
        before = game._replace(moves=game.moves[: reviewed.ply - 1 - len(game.placed)])
        findings[kept.asked_of(before).position] = Finding(
            reviewed.value,
            depth=reviewed.depth,
            moves=((reviewed.best.x, reviewed.best.y),),
            line=tuple((x, y) for x, y in reviewed.line),
            proof=SEARCH if abs(reviewed.value) >= WIN_BAND else "",
            author=author,
        )
    return findings


def known_by(finding: Callable[[Game], Finding | None]) -> Callable[[Game], Thought | None]:
    """Return what a database knows as a reviewer asks for it: exact values as thoughts."""

    def known(game: Game) -> Thought | None:
        found = finding(game)
        is_told = found is not None and (found.is_certain or found.bound is Bound.EXACT)
        return kept.thought_of(found) if found is not None and is_told else None

    return known


def win_form(win: Win | None) -> dict[str, Any] | None:
    """Return a win as JSON has it, like that of `numoku analyse`."""
    if win is None:
        return None
    found: dict[str, Any] = {"plies": win.plies, "line": pairs(win.line)}
    return {**found, "proof": win.proof} if win.proof else found


def move_form(reviewed: Reviewed) -> dict[str, Any]:
    """Return what was found out about a move as JSON has it."""
    return {
        "ply": reviewed.ply,
        "move": list(reviewed.move),
        "value": reviewed.value,
        "chance": round(reviewed.chance, 4),
        "best": list(reviewed.best),
        "loss": round(reviewed.loss, 4),
        "missed_win": win_form(reviewed.missed),
        "allowed_win": win_form(reviewed.allowed),
        "line": pairs(reviewed.line),
        "depth": reviewed.depth,
    }


def document(game: setup.Setup, found: Sequence[Reviewed]) -> dict[str, Any]:
    """Return the review as one document; values are those of the side that moves."""
    return {
        "rule": game.rule.name.lower(),
        "size": [game.width, game.height],
        "moves": [move_form(reviewed) for reviewed in found],
    }
