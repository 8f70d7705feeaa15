"""The stages of a game, by the stones on the board."""

from __future__ import annotations

from bisect import bisect

STAGES = (0, 10, 20, 40)  # stones from which each begins


def stage_of(stones: int) -> int:
    """Return the stage of a position with ``stones`` stones, from 0."""
    return bisect(STAGES, stones) - 1


def stage_name(stage: int) -> str:
    """Return the stones of a stage: ``10-19``, ``40+``."""
    first, *later = STAGES[stage:]
    return f"{first}-{later[0] - 1}" if later else f"{first}+"
