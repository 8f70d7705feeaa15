"""What the makers of recorded texts share: records, a stage, and what is printed on it.

A record holds what is asked as well as what is answered: from what the last one asks it is made
anew, and has to be the same. A module of records that is run writes them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.golden import texts


class Record:
    """A recorded text of this folder; it decorates the function that makes it from the last one."""

    make: Callable[..., str]

    def __init__(self, name: str) -> None:
        self.path = Path(__file__).with_name(f"{name}.txt")

    def __call__(self, make: Callable[..., str]) -> Record:
        self.make = make
        if make.__module__ == "__main__":
            self.write()
        return self

    def read(self) -> str:
        return texts.whole(self.path.read_text(encoding="utf-8"))

    def write(self) -> None:
        self.path.write_text(texts.kept(self.make(self.read())), encoding="utf-8")

    def check(self, *more: Any) -> None:
        """Fail with the lines that are not as recorded."""
        recorded = self.read()
        made = self.make(recorded, *more)
        both = recorded.splitlines(), made.splitlines()
        assert made == recorded, "\n".join(unified_diff(*both, "recorded", "made", "", "", 1, ""))


@contextmanager
def stage() -> Iterator[pytest.MonkeyPatch]:
    """Work in a new folder, with what is patched."""
    with TemporaryDirectory() as folder, chdir(folder), pytest.MonkeyPatch.context() as patch:
        yield patch


def printed(work: Callable[[], object]) -> str:
    """Return what is printed, and with which status it ended, if not successfully."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            status = work()
        except SystemExit as leaving:
            status = leaving.code
    return out.getvalue() + (f"status {status}\n" if status else "")
