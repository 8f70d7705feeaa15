"""Positions with their answers, for the rules and for the solver.

``games/puzzles.jsonl`` has positions from self-play with answers of the solver, checked by the
oracle where possible. Larger collections next to the repository are used, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
OWN = Path(__file__).parent / "games" / "puzzles.jsonl"


def puzzles(name: str, every: int = 1) -> list[dict[str, Any]]:
    """Return the project's puzzles of a kind, and every n-th of a larger collection, if any."""
    own = map(json.loads, OWN.read_text(encoding="utf-8").splitlines())
    found = [puzzle for puzzle in own if puzzle["name"] == name]
    path = DATA / f"puzzles_{name}.jsonl"
    if path.exists():
        lines = path.read_text(encoding="utf-8").splitlines()
        found += map(json.loads, lines[::every])
    return found
