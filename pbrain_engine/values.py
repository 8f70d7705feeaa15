"""The value scale: integers from the view of the side to move.

A forced win in ``n`` plies is ``WIN - n``, a forced loss its negative; all other values stay
within ``+-EVAL_LIMIT``. The number of units per logistic unit of the winning chance differs between
families of weights (``Weights.scale``) and changes in the course of a game (``scale_at``).
"""

from __future__ import annotations

from math import exp

WIN = 30000
MAX_PLY = 500  # no forced win is longer than this, so the bands never meet
WIN_BAND = WIN - MAX_PLY  # a value of at least this is a forced win
DRAW = 0
EVAL_LIMIT = 6000
INFINITE = 32000
NO_VALUE = -32700
MOST_ODDS = 40.0  # logistic units beyond which a chance is practically certain


def win_in(ply: int) -> int:
    """Return the value of winning with the last of ``ply`` moves."""
    return WIN - ply


def loss_in(ply: int) -> int:
    """Return the value of losing to the last of ``ply`` moves."""
    return ply - WIN


def mate_distance(value: int) -> int | None:
    """Return the plies to a forced win (negative: loss), or None for an ordinary value."""
    if value >= WIN_BAND:
        return WIN - value
    if value <= -WIN_BAND:
        return -(WIN + value)
    return None


def scale_at(scale: float, stones: int, cells: int) -> float:
    """Return the units that are one logistic unit with so many stones on a board of ``cells``.

    ``scale``: those of the weights. A lead decides more games early than late, and hardly any on a
    board that is half full. Fitted to 9,000 games of self-play on 15x15 and 20x20
    (``docs/lab/strength.md``).
    """
    early = 0.7 + 0.9 * exp(-stones / 29)
    late = 1.6 - 3 * stones / cells
    return scale / max(min(early, late), 0.1)


def chance(value: int, scale: float) -> float:
    """Return the winning chance, 0 to 1, of a value; 1 for a forced win, 0 for a forced loss.

    ``scale``: units per logistic unit. A draw counts as half a win.
    """
    if abs(value) >= WIN_BAND:
        return 1.0 if value > 0 else 0.0
    odds = max(-MOST_ODDS, min(MOST_ODDS, value / scale))
    return 1 / (1 + exp(-odds))


def format_value(value: int) -> str:
    """Return a value as text: ``+35``, ``+M9`` (forced win in nine plies), ``-M8`` (loss)."""
    plies = mate_distance(value)
    return f"{value:+d}" if plies is None else f"{'+' if plies > 0 else '-'}M{abs(plies)}"
