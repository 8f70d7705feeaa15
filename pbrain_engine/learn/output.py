"""The weight file that learning ends with: checked before the work, put in place when whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ..eval.weights import load_weights, weights_path
from ..files import in_place_of
from .records import GamesError


def name_of(out: Path, name: str | None) -> str:
    """Return what the weights of a file that is to be written are called.

    Raises:
        GamesError: such a file could not be written, or nobody could name it.
        OSError: its folder cannot be made.
    """
    name = name or out.stem
    if not name.isascii() or not name.isprintable():
        raise GamesError(f"weights cannot be called {name!r}; --id takes a name in ASCII")
    if weights_path(str(out)) != str(out):
        raise GamesError(f"--out {out}: built-in weights have this name")
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.is_dir() or not os.access(out.parent, os.W_OK):
        raise GamesError(f"--out {out}: no file can be written there")
    return name


def put(out: Path, write: Callable[[str], None]) -> None:
    """Let weights be written, and put them in their place when they are whole."""
    with in_place_of(out) as part:
        write(str(part))
        load_weights(str(part))
