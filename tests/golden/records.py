"""What the makers of recorded texts share: records, sessions, a stage, and what is printed on it.

A record holds what is asked as well as what is answered: from what the last one asks it is made
anew, and has to be the same. A module of records that is run writes them.

A session is a record of Python: a line with ``>`` is done with the names of its module, and the
lines behind it, two cells to the right, are what its expressions are worth, or its errors.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from difflib import unified_diff
from functools import partial
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


def tried(work: Callable[[], Iterable[str]], name: str = "") -> list[str]:
    """Return lines, or the error that came in place of them, with a name before it."""
    try:
        return list(work())
    except Exception as error:
        return [f"{name}{type(error).__name__}: {error}"]


def outcome(statement: ast.stmt, names: dict[str, Any]) -> Iterator[str]:
    """Do what a statement says, and yield the lines of its value."""
    if not isinstance(statement, ast.Expr):
        exec(compile(ast.Module([statement], []), "record", "exec"), names)
        return
    value = eval(compile(ast.Expression(statement.value), "record", "eval"), names)
    if isinstance(value, Iterator):
        yield from value
    elif value is not None:
        yield str(value).rstrip("\n")


def session(
    record: str, names: dict[str, Any], after: Callable[[], Iterable[str]] = tuple[()]
) -> str:
    """Return the record of a session, of which another one has what is done; ``after`` yields what
    is seen after each line."""
    lines = []
    for line in record.splitlines():
        if line.startswith("> "):
            lines.append(line)
            statements = ast.parse(line[2:]).body
            for one in statements:
                name = f"{ast.unparse(one)}: " if statements[1:] else ""
                lines += told(tried(partial(outcome, one, names), name))
            lines += told(after())
        elif line[:1].strip():  # a title
            lines.append(line)
    return "\n".join([*lines, ""])


def told(answers: Iterable[str]) -> Iterator[str]:
    """Yield the lines of answers as they are recorded."""
    for answer in answers:
        for line in answer.split("\n"):
            yield texts.brief(f"  {line}".rstrip()) or "  -"
