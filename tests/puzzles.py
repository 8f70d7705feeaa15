"""Puzzle files that lie beside the repository; tests that need them are skipped without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def puzzles(name: str, every: int = 1) -> list[dict[str, Any]]:
    """Return every so many puzzles of a file, or skip the test where there is no data."""
    path = DATA / f"puzzles_{name}.jsonl"
    if not path.exists():
        pytest.skip(f"no puzzles at {path}")
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for number, line in enumerate(file) if number % every == 0]
