"""Files that are whole or not there at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_place_of(path: Path) -> Iterator[Path]:
    """Yield where to write a file that takes the place of ``path`` once it is whole.

    If that fails, ``path`` is as it was, and nothing lies beside it. What is no ordinary file,
    such as a pipe, is written to itself.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        yield path
        return
    part = path.with_name(path.name + ".part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
