"""``pbrain-numoku``: the program that a manager starts, and its options.

``--log FILE`` (or the environment variable ``NUMOKU_LOG``) writes the dialogue and internal errors
to a file; ``--row-first`` reads and writes cells as ``row,column``, the order of Yixin-Board
(``INFO row_first 1`` does the same). Engine options are ``--NAME VALUE`` or ``NAME=VALUE``:
weights, level, book, search parameters; the arena passes those of ``numoku:weights=FILE,...``.

Nothing may ever appear on stderr, which some managers read as answers and others never drain; so
the descriptor itself is redirected, which includes C libraries.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import NumokuError
from ..search.parameters import PARAMETERS, check_search

if TYPE_CHECKING:
    from ..engine.engine import Engine

OPTIONS = ("weights", "level", "book", "search")
FILES = ("weights", "book")
NUMBERS = ("book_seed",)

STDIN, STDOUT, STDERR = 0, 1, 2
GREETING = b"MESSAGE Numoku speaks the Gomocup protocol here; try START 15, BEGIN, END\n"


def engine_arguments(options: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the Engine arguments for these options, of which others are ignored.

    ValueError if a parameter or a seed is not an integer, or there is no such search.
    """
    arguments: dict[str, Any] = {}
    parameters: dict[str, int] = {}
    for key, value in options:
        if key == "search":  # accepted for compatibility: there was a choice once
            check_search(value)
        elif key in OPTIONS:
            arguments[key] = value
        elif key in NUMBERS:
            arguments[key] = _whole(key, value)
        elif key in PARAMETERS:
            parameters[key] = _whole(key, value)
    if parameters:
        arguments["parameters"] = parameters
    return arguments


def _whole(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{key} takes a whole number, not {text[:20]!r}") from None


def read_options(words: Iterable[str]) -> dict[str, str] | None:
    """Return the options of a command line by name, or None if it has anything else."""
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if word == "--row-first":
            value = "1"
        elif name not in ("log", *OPTIONS, *NUMBERS) and not (equals and name in PARAMETERS):
            return None
        elif not equals:
            value = next(rest, "") if word.startswith("--") else ""
        if not value:
            return None
        options[name] = value
    return options


def main(options: Mapping[str, str]) -> int:
    """Talk to a manager on stdin and stdout, then end the process.

    Returns 2 if the options are invalid, else does not return.
    """
    problem = problem_of(options)
    if problem:
        return refuse(problem)
    arguments = engine_arguments(options.items())

    def make_engine(memory: int) -> Engine:
        from ..engine.engine import Engine

        return Engine(memory=memory, **arguments)

    if os.isatty(STDIN):
        os.write(STDOUT, GREETING)
    redirect_errors(options.get("log") or os.environ.get("NUMOKU_LOG"))
    try:
        from .loop import Loop

        loop = Loop(make_engine)
        loop.session.settings.row_first = "row_first" in options
        loop.run()
    except BaseException as error:
        os.write(STDERR, f"{error!r}\n".encode("utf-8", "replace"))
    finally:
        os._exit(0)  # without waiting for threads


def refuse(problem: str) -> int:
    """Say why the dialogue does not begin; return the exit status."""
    print(f"pbrain-numoku: {problem}", file=sys.stderr)
    return 2


def problem_of(options: Mapping[str, str]) -> str:
    """Return why the engine cannot start with these options, or an empty string."""
    try:
        arguments = engine_arguments(options.items())
        if "weights" in arguments:
            from ..eval.weights import load_weights

            load_weights(arguments["weights"])
        if "level" in arguments:
            from ..native.load.store import host_target

            target, level = host_target(), arguments["level"]
            if target is not None and level not in target.levels:
                return f"there is no level {level!r}, only {', '.join(target.levels)}"
        if "book" in arguments:
            from ..engine.book import Book

            Book(arguments["book"]).close()
    except ImportError:  # the program in the ZIP has no SQLite
        return "only the Python package plays from books"
    except (ValueError, NumokuError) as error:
        return str(error)
    return ""


def redirect_errors(path: str | None) -> None:
    """Redirect stderr to the end of a log file or the null device, and ignore Ctrl-C.

    A log file that cannot be opened is ignored. Consoles send Ctrl-C to all their processes, but
    only the manager should react.
    """
    for target in filter(None, (path, os.devnull)):
        try:
            os.dup2(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), STDERR)
            break
        except OSError:
            pass
    for name in ("SIGINT", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
