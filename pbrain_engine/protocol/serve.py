"""``pbrain-numoku``: the program that a manager starts.

Options: ``--log FILE`` (or the environment variable ``NUMOKU_LOG``) writes the dialogue and
internal errors to a file; ``--row-first`` reads and writes cells as ``row,column``, the
order of Yixin-Board (``INFO row_first 1`` does the same); ``--search mcts`` thinks by Monte
Carlo tree search; ``--book FILE`` plays from a book of ``numoku book build``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import streams

if TYPE_CHECKING:
    from ..engine.engine import Engine

GREETING = b"MESSAGE Numoku speaks the Gomocup protocol here; try START 15, BEGIN, END\n"


def start(arguments: dict[str, Any], log: streams.Log, row_first: bool = False) -> None:
    """Talk with an engine of these arguments; this ends the process and does not return."""

    def make_engine(memory: int) -> Engine:
        from ..engine.engine import Engine

        return Engine(memory=memory, **arguments)

    streams.silence(log)
    streams.ignore_interrupts()
    try:
        from .loop import Loop

        loop = Loop(make_engine, log=log)
        loop.settings.row_first = row_first
        loop.run()
    except BaseException as error:
        log.write("!", repr(error))
    streams.leave()


def option_of(arguments: list[str], name: str) -> str | None:
    """Return what follows an option, after a blank or ``=``; None where it is not given."""
    for index, word in enumerate(arguments):
        if word == name and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def log_path(arguments: list[str]) -> str | None:
    """Return the file that the arguments or the environment name."""
    return option_of(arguments, "--log") or os.environ.get("NUMOKU_LOG")


def main(arguments: list[str] | None = None) -> int:
    """Talk to a manager on stdin and stdout; this ends the process and does not return."""
    words = sys.argv[1:] if arguments is None else arguments
    options = {name: option_of(words, f"--{name}") for name in CHECKS}
    given = {name: value for name, value in options.items() if value is not None}
    if not all(CHECKS[name](value) for name, value in given.items()):
        return 2
    if os.isatty(streams.STDIN):
        os.write(streams.STDOUT, GREETING)
    start(given, streams.Log(log_path(words)), "--row-first" in words)
    return 0


def is_search(name: str) -> bool:
    """Say whether there is a search of this name, and if not, tell a person which there are."""
    from ..engine.engine import SEARCHES

    if name not in SEARCHES:
        known = " and ".join(SEARCHES)
        print(f"pbrain-numoku: unknown search {name!r}; there are {known}", file=sys.stderr)
    return name in SEARCHES


def is_book(path: str) -> bool:
    """Say whether a file is a book, and if not, tell a person why."""
    try:
        from ..engine.book import Book, BookError
    except ImportError:  # the program in the ZIP has no SQLite
        print("pbrain-numoku: only the Python package plays from books", file=sys.stderr)
        return False
    try:
        Book(path).close()
    except BookError as error:
        print(f"pbrain-numoku: {error}", file=sys.stderr)
        return False
    return True


# Options that are arguments of the engine, with what refuses a value before the dialogue begins.
CHECKS: dict[str, Callable[[str], bool]] = {"search": is_search, "book": is_book}
