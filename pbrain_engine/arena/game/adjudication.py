"""Ending a game early where both engines have long agreed on its outcome (off by default)."""

from __future__ import annotations

from ..settings import Adjudication
from .played import BLACK, DRAW, WHITE, Played


def agreed_result(played: Played, terms: Adjudication) -> str | None:
    """Return the outcome on which the last values agree, or None."""
    return _agreed_win(played, terms) or _agreed_draw(played, terms)


def black_values(played: Played, count: int) -> list[int] | None:
    """Return the last values from black's side, or None if some are missing."""
    if len(played.value) < count:
        return None
    start = len(played.opening) + len(played.value) - count
    values: list[int] = []
    for ply, value in enumerate(played.value[-count:], start):
        if value is None:
            return None
        values.append(-value if ply % 2 else value)
    return values


def _agreed_win(played: Played, terms: Adjudication) -> str | None:
    values = black_values(played, terms.win_moves) if terms.win_value > 0 else None
    if values is None:
        return None
    if all(value >= terms.win_value for value in values):
        return BLACK
    if all(value <= -terms.win_value for value in values):
        return WHITE
    return None


def _agreed_draw(played: Played, terms: Adjudication) -> str | None:
    if terms.draw_value < 0 or len(played.opening) + len(played.moves) < terms.draw_from:
        return None
    values = black_values(played, terms.draw_moves)
    if values is not None and all(abs(value) <= terms.draw_value for value in values):
        return DRAW
    return None
