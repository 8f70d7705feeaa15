"""One engine's time in one game, kept as the tournament judge keeps it.

An answer is due within the smaller of the turn and what is left of the match, and is lost
only after a tolerance on top. What is left may therefore fall below zero, and is sent so.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..settings import UNLIMITED_MS, EngineSpec, MatchSettings

JUDGE_ALLOWANCE = 0.010  # the judge polls each 10 ms and gives them back


@dataclass(slots=True)
class Clock:
    """Seconds of one player; a limit of 0 means that there is none."""

    turn: float
    match: float
    increment: float
    tolerance: float
    patience: float
    allowance: float = 0.0
    left: float = 0.0

    def __post_init__(self) -> None:
        """Wind the clock up."""
        self.left = self.match

    @classmethod
    def of(cls, settings: MatchSettings, engine: EngineSpec) -> Clock:
        """Return a fresh clock for this engine."""
        return cls(
            turn=engine.number("turn", settings.turn),
            match=settings.match,
            increment=settings.increment,
            tolerance=settings.tolerance,
            patience=settings.patience,
            allowance=JUDGE_ALLOWANCE if settings.judge else 0.0,
        )

    @property
    def limit(self) -> float:
        """Seconds within which the next move is due; infinite where nothing limits it."""
        limits = []
        if self.turn:
            limits.append(self.turn)
        if self.match:
            limits.append(self.left)
        return min(limits) if limits else float("inf")

    @property
    def deadline(self) -> float:
        """Seconds after which the game is lost."""
        limit = self.limit
        return self.patience if limit == float("inf") else max(0.0, limit) + self.tolerance

    @property
    def left_ms(self) -> int:
        """What ``INFO time_left`` says."""
        return round(self.left * 1000) if self.match else UNLIMITED_MS

    @property
    def turn_ms(self) -> int:
        """What ``INFO timeout_turn`` says."""
        return round(self.turn * 1000) if self.turn else UNLIMITED_MS

    @property
    def match_ms(self) -> int:
        """What ``INFO timeout_match`` says."""
        return round(self.match * 1000) if self.match else UNLIMITED_MS

    def charge(self, seconds: float) -> None:
        """Take the time of a move off, and add the increment."""
        if self.match:
            self.left += self.increment - max(0.0, seconds - self.allowance)
