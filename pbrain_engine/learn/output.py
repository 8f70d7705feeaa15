"""The weight file that learning ends with: checked before the work, put in place when whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from ..eval.weights import FAMILIES, load_weights, weights_path
from ..files import in_place_of
from .records import GamesError


def name_of(out: Path, name: str | None) -> str:
    """Return what the weights of a file that is to be written are called.

    Raises:
        GamesError: such a file could not be written, or not loaded by its name.
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


def by_family_named(words: Iterable[str], option: str) -> dict[str, str]:
    """Return what an option of the form FAMILY=FILE was given, by family.

    Raises:
        GamesError: nothing is given, or there is no such family.
    """
    found = {}
    for word in words:
        family, _, what = word.partition("=")
        if not what or family not in FAMILIES:
            raise GamesError(f"{option} {word}: it takes FAMILY=FILE, one of {', '.join(FAMILIES)}")
        found[family] = what
    return found
