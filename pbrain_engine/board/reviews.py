"""The review of a game for the page: each move as soon as it has been looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..commands.review import document, found_of, known_by, move_form
from ..engine.review import Reviewed, Reviewer
from ..game.game import Move
from .desk import DEFAULT_MEMORY, Desk, Job
from .positions import game_of, setup_of
from .refusal import Refused
from .searches import Stopped, Tell


def review_moves(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Review the moves of a position, the last one first."""
    setup = setup_of(message["position"])
    if not setup.moves:
        raise Refused("there are no moves to review")
    game_of(setup)
    engine = desk.engine(setup._replace(moves=()), 1, DEFAULT_MEMORY)

    found: list[dict[str, Any]] = []

    def listen(reviewed: Reviewed) -> bool:
        found.insert(0, move_form(reviewed))
        tell({"moves": found})
        return job.is_stopped

    with desk.turns.turn(1, None, lambda: job.is_stopped):
        if job.is_stopped:
            raise Stopped
        engine.arm()
        known = desk.archive.finding
        reviewer = Reviewer(engine, desk.solver(), message["seconds"], known_by(known))
        moves = reviewer.review([Move(*move) for move in setup.moves], listen)
    if job.is_stopped:
        raise Stopped
    desk.archive.note_findings(found_of(setup, moves, engine.weights.key))
    return document(setup, moves)
