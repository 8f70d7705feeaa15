"""Numoku: a Gomoku engine in Python whose hot core is compiled ahead of time.

>>> from pbrain_engine import Engine, Limit
>>> with Engine(memory=50_000_000) as engine:
...     engine.new_game(15)
...     thought = engine.think(Limit(depth=2))
>>> thought.move
Move(x=7, y=7)
"""

from __future__ import annotations

__version__ = "0.3.0"

TYPE_CHECKING = False  # that of `typing` costs a start milliseconds
if TYPE_CHECKING:
    from .engine.engine import Engine, EngineError
    from .engine.pacing import Limit
    from .errors import NumokuError, WeightsError
    from .game.cells import IllegalMove, NotationError
    from .game.game import Game, Move
    from .game.result import Result, Thought, Tree
    from .native.load.library import KernelError
    from .position.rules import Rule, Side
    from .solver import Solver

_MODULES = {  # loaded on first use, so that the protocol starts faster
    "engine.engine": ("Engine", "EngineError"),
    "engine.pacing": ("Limit",),
    "errors": ("NumokuError", "WeightsError"),
    "game.cells": ("IllegalMove", "NotationError"),
    "game.game": ("Game", "Move"),
    "native.load.library": ("KernelError",),
    "position.rules": ("Rule", "Side"),
    "game.result": ("Result", "Thought", "Tree"),
    "solver": ("Solver",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Engine", "EngineError", "Game", "IllegalMove", "KernelError", "Limit", "Move",
    "NotationError", "NumokuError", "Result", "Rule", "Side", "Solver", "Thought", "Tree",
    "WeightsError", "__version__",
]  # fmt: skip


def __dir__() -> list[str]:
    """List all public names, including those not loaded yet."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    """Load a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
