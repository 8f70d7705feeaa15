"""``pbrain-numoku``: the program that a manager starts.

Options: ``--log FILE`` (or the environment variable ``NUMOKU_LOG``) writes the dialogue and
internal errors to a file; ``--row-first`` reads and writes cells as ``row,column``, the
order of Yixin-Board (``INFO row_first 1`` does the same).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from . import streams

if TYPE_CHECKING:
    from ..engine.engine import Engine

GREETING = b"MESSAGE Numoku speaks the Gomocup protocol here; try START 15, BEGIN, END\n"


def make_engine(memory: int) -> Engine:
    """Return the product's engine, within so many bytes."""
    from ..engine.engine import Engine

    return Engine(memory=memory)


def log_path(arguments: list[str]) -> str | None:
    """Return the file that the arguments or the environment name."""
    for index, word in enumerate(arguments):
        if word == "--log" and index + 1 < len(arguments):
            return arguments[index + 1]
        if word.startswith("--log="):
            return word.partition("=")[2]
    return os.environ.get("NUMOKU_LOG")


def main(arguments: list[str] | None = None) -> int:
    """Talk to a manager on stdin and stdout; this ends the process and does not return."""
    words = sys.argv[1:] if arguments is None else arguments
    log = streams.Log(log_path(words))
    streams.silence(log)
    streams.ignore_interrupts()
    try:
        talk(log, "--row-first" in words)
    except BaseException as error:
        log.write("!", repr(error))
    streams.leave()
    return 0


def talk(log: streams.Log, row_first: bool) -> None:
    """Run the loop with the product's engine."""
    from .loop import Loop

    if os.isatty(streams.STDIN):
        os.write(streams.STDOUT, GREETING)
    loop = Loop(make_engine, log=log)
    loop.settings.row_first = row_first
    loop.run()
