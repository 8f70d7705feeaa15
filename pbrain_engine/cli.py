"""``numoku``: the tools around the engine, one module each, loaded only when asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import NamedTuple, TextIO

from . import __version__

OK, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130


class Command(NamedTuple):
    """A sub-command: ``main(arguments)`` of a module, and what it is for."""

    module: str
    summary: str


COMMANDS = {
    "play": Command("commands.play", "play against the engine in the terminal"),
    "demo": Command("commands.demo", "watch the engine play one game against itself"),
    "analyse": Command("commands.analyse", "value, best line and forced wins of a position"),
    "board": Command("board.command", "play, analyse and review in the browser"),
    "review": Command("commands.review", "mistakes, missed and allowed wins of a game"),
    "solve": Command("commands.solve", "solve files of puzzles, with proofs"),
    "db": Command("commands.db", "keep positions with what was found out, RenLib in and out"),
    "book": Command("commands.book", "grow and show opening books"),
    "match": Command("arena.commands.match", "matches and tournaments between engines"),
    "selfplay": Command("arena.commands.selfplay", "record games of the engine against itself"),
    "report": Command("arena.commands.report", "tables and charts of recorded matches"),
    "openings": Command("arena.commands.openings", "make openings of equal chances for matches"),
    "datagen": Command("learn.datagen", "record games of the engine against itself for learning"),
    "tune": Command("tuning.command", "tune the search parameters by games"),
    "ablate": Command("tuning.ablation", "what each item of the search is worth"),
    "fit": Command("learn.fit", "learn the weights of the evaluation from recorded games"),
    "train": Command("learn.train", "learn a network for the evaluation from recorded games"),
    "weights": Command("commands.weights", "what a weight file holds and where it comes from"),
    "check": Command("doctor", "test any engine's protocol, and say what is wrong"),
    "fuzz": Command("doctor.fuzz", "feed an engine random protocol input"),
    "bench": Command("commands.bench", "speed, and the signature of the search"),
    "build": Command("native.build.compile", "compile the kernel for this machine"),
}

_PACKAGE = __package__
EXTRAS = {  # and the packages that they bring, which some commands need
    "build": ("numba", "llvmlite", "ziglang"),
    "training": ("numpy",),
    "tools": ("rich",),
    "network": ("torch",),
    "board": ("starlette", "uvicorn", "websockets"),
    "database": ("sqlalchemy",),
    "cluster": ("dask", "distributed"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; return 0 if it did what was asked, 1 if not, 2 if asked wrongly.

    Where an interrupt has ended it, that is 130.
    """
    try:
        open_missing_streams()
        bear_any_text()
        try:
            return dispatch(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            flush_errors()
            sys.stdout.flush()  # here, where a closed pipe can still be told from a fault
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        abandon(sys.stdout)
        return OK
    except OSError as error:  # there is no room for the output
        abandon(sys.stdout)
        return complain(told(error))


def open_missing_streams() -> None:
    """Open the null device in place of standard streams that are closed.

    Else other files would get their numbers, and `print` to no file is one to the output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))


def bear_any_text() -> None:
    """Let signs that a standard stream cannot read or write be replaced."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)


def abandon(stream: TextIO) -> None:
    """Let go nowhere what a stream still holds and cannot write."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def flush_errors() -> None:
    """Write what stderr still holds, if that can be: there is nobody else to be told."""
    try:
        sys.stderr.flush()
    except OSError:
        abandon(sys.stderr)


def dispatch(words: list[str]) -> int:
    """Do what the words ask for; return the exit status."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return OK
    if words[0] in ("-V", "--version"):
        print(version())
        return OK
    command = COMMANDS.get(words[0])
    if command is None:
        return complain(f"there is no command {words[0]!r}; `numoku --help` lists them", USAGE)
    return run(command, words[1:])


def run(command: Command, arguments: list[str]) -> int:
    """Run a command and turn what may go wrong into one line and an exit status."""
    from .engine.engine import EngineError
    from .eval.weights import WeightsError
    from .native.load.library import KernelError
    from .notation.cells import NotationError

    try:
        return int(import_module(f"{_PACKAGE}.{command.module}").main(arguments) or OK)
    except BrokenPipeError:
        raise
    except OSError as error:
        sys.stdout.flush()  # raises again where the output is what cannot be written
        return complain(told(error))
    except (EngineError, KernelError, NotationError, WeightsError) as error:
        return complain(told(error))
    except MemoryError:
        return complain("there is not enough memory")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if getattr(sys, "frozen", False):
            return complain(f"only the Python package pbrain-numoku has this command ({error})")
        extra = next((name for name, brought in EXTRAS.items() if missing in brought), None)
        if extra is None:
            raise
        package = f"pip install 'pbrain-numoku[{extra}]'"
        return complain(f"this command needs {missing}: {package}")


def told(error: Exception) -> str:
    """Return what went wrong in a line."""
    from .options import problem_of

    return problem_of(error)


def complain(text: str, status: int = FAILURE) -> int:
    """Say on stderr what is wrong; return the exit status."""
    with suppress(OSError):
        print(f"numoku: {text}", file=sys.stderr)
    flush_errors()
    return status


def usage() -> str:
    """Return the list of commands."""
    lines = [
        "usage: numoku COMMAND [options]",
        "",
        "Numoku plays five in a row: freestyle, standard, renju and caro.",
        "",
        *(f"  {name:9} {command.summary}" for name, command in COMMANDS.items() if has(command)),
        "",
        "`numoku COMMAND --help` shows the options of a command, `numoku --version` the versions.",
        "Game managers start `pbrain-numoku`, which speaks the Gomocup protocol.",
    ]
    return "\n".join(lines)


def has(command: Command) -> bool:
    """Say whether the command is there: the program for tournaments has few of them."""
    from importlib.util import find_spec

    try:
        return find_spec(f"{_PACKAGE}.{command.module}") is not None
    except ModuleNotFoundError:
        return False


def version() -> str:
    """Return the versions of the package, of its kernel and of what it runs on."""
    from .commands import signature
    from .engine.engine import DEFAULT_WEIGHTS
    from .eval.weights import WeightsError, load_weights
    from .native.load.library import KernelError, load

    nodes = None
    try:
        weights = load_weights(DEFAULT_WEIGHTS).key
        nodes = signature.recall(weights)
    except WeightsError as error:
        weights = str(error)
    try:
        library = load()
        kernel = f"{library.about['target']} {library.level} {library.digest}"
    except KernelError as error:
        kernel = told(error)
    return "\n".join(
        [
            f"numoku {__version__}",
            f"kernel  {kernel}",
            f"weights {weights}",
            f"bench   {nodes or 'not measured yet, run `numoku bench`'}",
            f"numba   {numba_version()}",
            f"Python  {sys.version.split()[0]}, {system()}",
        ]
    )


def system() -> str:
    """Return the system and its version; `platform` would start another program for it."""
    from .native.load.targets import machine

    if sys.platform == "win32":
        release = ".".join(map(str, sys.getwindowsversion().platform_version))
        return f"Windows {release} {machine()}"
    facts = os.uname()
    return f"{facts.sysname} {facts.release} {machine()}"


def numba_version() -> str:
    """Return the version of the compiler that is installed, without importing it."""
    try:
        from importlib.metadata import version as version_of

        return version_of("numba")
    except ImportError:  # no numba, or a frozen program without such knowledge
        return "not installed"


if __name__ == "__main__":
    sys.exit(main())
