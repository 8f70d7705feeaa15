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
from typing import TYPE_CHECKING

from . import streams

if TYPE_CHECKING:
    from ..engine.engine import Engine

GREETING = b"MESSAGE Numoku speaks the Gomocup protocol here; try START 15, BEGIN, END\n"


def engine_maker(search: str | None, book: str | None = None) -> Callable[[int], Engine]:
    """Return what makes the product's engine, within so many bytes."""

    def make_engine(memory: int) -> Engine:
        from ..engine.engine import ALPHABETA, Engine

        return Engine(memory=memory, search=search or ALPHABETA, book=book)

    return make_engine


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
    search = option_of(words, "--search")
    book = option_of(words, "--book")
    if (search is not None and not is_search(search)) or (book is not None and not is_book(book)):
        return 2
    log = streams.Log(log_path(words))
    streams.silence(log)
    streams.ignore_interrupts()
    try:
        talk(log, "--row-first" in words, search, book)
    except BaseException as error:
        log.write("!", repr(error))
    streams.leave()
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


def talk(
    log: streams.Log, row_first: bool, search: str | None = None, book: str | None = None
) -> None:
    """Run the loop with the product's engine."""
    from .loop import Loop

    if os.isatty(streams.STDIN):
        os.write(streams.STDOUT, GREETING)
    loop = Loop(engine_maker(search, book), log=log)
    loop.settings.row_first = row_first
    loop.run()
