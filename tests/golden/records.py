"""What the makers of recorded texts share: records, sessions, a stage, and what is printed on it.

A record holds what is asked as well as what is answered: from what the last one asks it is made
anew, and has to be the same. A module of records that is run writes them.

Most are sessions: ``>`` is a line of Python with the names of the module, behind which stand the
values of its expressions, or its errors, two cells to the right. ``$`` is a command with what it
prints, ``+`` a file; the lines with ``<`` behind them are typed, or what is in the file. ``§`` is a
title.
"""

from __future__ import annotations

import ast
import io
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from difflib import unified_diff
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pbrain_engine import cli
from tests.golden import texts

ASKED = re.compile(r"(?m)^([>$+§])(?: (.*))?\n((?:<(?: .*)?\n)*)")


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


def expanded(text: str) -> str:
    """Return a text in which ``⟨a×500⟩`` is 500 times a."""
    return re.sub("⟨(.+?)×(\\d+)⟩", lambda found: found[1] * int(found[2]), text)


def change(source: str, name: str, old: str, new: str) -> None:
    """Write a file that has a text in place of another one's."""
    text = Path(source).read_text(encoding="utf-8")
    assert old in text
    Path(name).write_text(text.replace(old, new), encoding="utf-8")


def shown(name: str) -> str:
    """Return what a file holds: of a page what differs from others, of a journal its beginning."""
    text = Path(name).read_text(encoding="utf-8").rstrip("\n")
    if name.endswith(".html"):
        _, title, page = re.split("(?s)(<title>.*?\n).*<main>\n", text)
        return f"{title}{texts.brief_page(page)}\n"
    lines = texts.brief(text).split("\n")
    return "\n".join([*texts.first(lines, 6 if name.endswith(".jsonl") else len(lines)), ""])


def numoku(words: str, _: str = "") -> str:
    """Return what a command prints, of which ``cat`` is one."""
    if words.startswith("cat "):
        return shown(words[4:])
    return printed(lambda: cli.main(shlex.split(words)))


def session(
    record: str,
    names: dict[str, Any],
    run: Callable[[str, str], str] = numoku,
    after: Callable[[], Iterable[str]] = tuple[()],
    short: Callable[[str], str] = texts.brief,
) -> str:
    """Return the record of a session, of which another one has what is done; ``after`` yields what
    is seen after each line of Python, and ``short`` of a line is what is recorded of it."""
    names |= {"Path": Path, "change": change}
    found = []
    for asked in ASKED.finditer(record):
        sign, words, given = asked.groups("")
        typed = re.sub("(?m)^< ?", "", given)
        found.append(asked[0])
        if sign == "+":
            Path(words).write_text(expanded(typed), encoding="utf-8")
        elif sign == "$":
            found.append(run(words, typed))
        elif sign == ">":
            statements, said = ast.parse(words).body, list[str]()
            for one in statements:
                name = f"{ast.unparse(one)}: " if statements[1:] else ""
                said += tried(partial(outcome, one, names), name)
            lines = [line for each in (*said, *after()) for line in each.split("\n")]
            found += [(short(f"  {line}".rstrip()) or "  -") + "\n" for line in lines]
    return "".join(found)
