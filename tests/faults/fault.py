"""A fault: one change of the code that a careless edit might make, and what should notice it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "pbrain_engine"


class Misplaced(Exception):
    """The code has changed, so that a fault has no place in it any more."""


class Fault(NamedTuple):
    """Text of a file that is replaced; ``tests``: what pytest is asked to run.

    ``uncompiled``: the tests run kernels as plain Python, so that no kernel is built.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    uncompiled: bool = False

    @property
    def part(self) -> str:
        """The part of the package that it is in."""
        return self.file.split("/")[0]

    def put_into(self, root: Path) -> Path:
        """Change the file below ``root``; return its path.

        Raises:
            Misplaced: the text is not there exactly once.
        """
        path = root / PACKAGE / self.file
        text = path.read_text(encoding="utf-8")
        count = text.count(self.old)
        if count != 1:
            raise Misplaced(f"{self.name}: found {count} times in {self.file}: {self.old!r}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")
        return path


def kernel(name: str, file: str, old: str, new: str, tests: str) -> Fault:
    """Return a fault of a kernel that tests of plain Python notice."""
    return Fault(name, file, old, new, tests, uncompiled=True)
