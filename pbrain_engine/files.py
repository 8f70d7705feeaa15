"""Files that are whole or not there at all, and the lines of JSON in them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def state_folder() -> Path:
    """Return the user's folder for what outlives a program."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "numoku"
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "numoku"


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """Yield where to write a file that takes the place of ``path`` once it is whole.

    If that fails, ``path`` is as it was, and nothing lies beside it. What is no ordinary file,
    such as a pipe, is written to itself.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    part = path.with_name(path.name + ".part")
    try:
        yield part
        with suppress(OSError):  # there was none, or its system knows no such modes
            part.chmod(path.stat().st_mode)  # who may read it stays as it was
        part.replace(path)
    except OSError as error:
        if error.filename == str(part):  # not a name that was asked for
            error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text to a file, which is as it was if that fails.

    Raises:
        OSError: it cannot be written.
    """
    with in_place_of(path) as part:
        part.write_text(text, encoding="utf-8")


def read_object(text: str | bytes) -> dict[str, Any]:
    """Return the object that a text of JSON holds.

    Raises:
        ValueError: it holds none, or one with brackets within brackets without an end.
    """
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"this is no JSON: {error}") from None
    except RecursionError:
        raise ValueError("this has too many brackets within brackets") from None
    if not isinstance(found, dict):
        raise ValueError("this is no object of JSON, in braces")
    return found
