"""Eleven textbook methods to find a move, in plain Python, one module per method.

All modules have the same interface: ``choose(game, limit, rng)`` returns a ``Choice``. The methods
are meant to be read and played against; for strong play there is the engine, whose network
``puct`` uses. ``docs/methods.md`` leads from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from random import Random

from .board import Budget, Choice, PlainGame

__all__ = ["METHODS", "Choice", "PlainGame", "Budget", "method"]

METHODS = {  # and how they play
    "minimax": "looks at every move two plies deep",
    "alphabeta": "the same by a quicker search",
    "deepening": "searches deeper as long as it has time",
    "evaluation": "knows what rows are worth, and searches a little",
    "proofnumber": "tries to prove a win",
    "threatspace": "attacks with threats, one after the other",
    "uct": "plays many games at random, and follows the best",
    "knowledge": "plays games that are less random",
    "puct": "lets the engine's network guide its tree",
    "adp": "has learned from games against itself",
    "genetic": "breeds lines of play",
}


def method(name: str) -> Callable[[PlainGame, Budget, Random], Choice]:
    """Return the ``choose`` of a method; ValueError if there is no such method."""
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}; there are {', '.join(METHODS)}")
    choose: Callable[[PlainGame, Budget, Random], Choice] = import_module(
        f".{name}", __name__
    ).choose
    return choose
