"""Puzzles for the trainer: those that are shipped, and positions that become one.

The format is that of ``numoku solve``; the shipped ones come from games of the engine against
itself, and each has been proven by the solver (``build/puzzles.py`` makes them).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..position.rules import Side
from .desk import Desk, Job
from .positions import game_of, setup_of
from .refusal import Refused
from .searches import Stopped, Tell

FILE = Path(__file__).parent / "puzzles.jsonl"
CHECK_SECONDS = 5.0


def every(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the shipped puzzles."""
    return {"puzzles": shipped()}


@cache
def shipped() -> list[dict[str, Any]]:
    """Return the puzzles of the file."""
    if not FILE.exists():
        return []
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def make(desk: Desk, job: Job, message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Return a position as a puzzle: the side to move is to win."""
    game = game_of(setup_of(message["position"]))
    if game.is_over:
        raise Refused("the game is over")
    if game.width != game.height:
        raise Refused("puzzles have square boards")
    if any(stone.side is Side.WALL for stone in game.history):
        raise Refused("puzzles have no blocked cells")
    line = [list(move) for move in message["line"]]
    kind, length = "win", (len(line) + 1) // 2
    with desk.turns.turn(1, None, lambda: job.is_stopped):
        if job.is_stopped:
            raise Stopped
        for name, search in (("vcf", desk.solver().fours), ("vct", desk.solver().threats)):
            proof = search(game, time=CHECK_SECONDS)
            if proof.wins:
                kind, length, line = name, proof.length, [list(move) for move in proof.line]
                break
    if not line or (message["check"] and kind == "win"):
        raise Refused("no forced win is proven here, so it is no puzzle")
    stones: dict[str, list[list[int]]] = {"black": [], "white": []}
    for stone in game.history:
        stones[stone.side.name.lower()].append(list(stone.move))
    return {
        "id": f"own-{abs(hash((tuple(game.moves), game.rule))) % 10**10:010d}",
        "size": game.width,
        "rule": game.rule.name.lower(),
        **stones,
        "to_move": game.to_move.name.lower(),
        "kind": kind,
        "best": [line[0]],
        "line": line,
        "own_moves": length,
    }
