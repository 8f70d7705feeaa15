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


class Subcommand(NamedTuple):
    """A sub-command: ``main(arguments)`` of a module, and what it is for."""

    module: str
    summary: str


COMMANDS = {
    "play": Subcommand("commands.play", "play against the engine in the terminal"),
    "demo": Subcommand("commands.demo", "watch the engine play one game against itself"),
    "analyse": Subcommand("commands.analyse", "value, best line and forced wins of a position"),
    "board": Subcommand("board.command", "play, analyse and review in the browser"),
    "review": Subcommand("commands.review", "mistakes, missed and allowed wins of a game"),
    "solve": Subcommand("commands.solve", "solve files of puzzles, with proofs"),
    "db": Subcommand("commands.db", "keep positions with what was found out, RenLib in and out"),
    "book": Subcommand("commands.book", "grow and show opening books"),
    "match": Subcommand("arena.match", "matches and tournaments between engines"),
    "report": Subcommand("arena.report", "tables and charts of recorded matches"),
    "openings": Subcommand("arena.openings", "make openings of equal chances for matches"),
    "datagen": Subcommand(
        "learn.datagen", "record games of the engine against itself for learning"
    ),
    "tune": Subcommand("tuning.command", "tune the search parameters by games"),
    "fit": Subcommand("learn.fit", "learn the weights of the evaluation from recorded games"),
    "train": Subcommand("learn.train", "learn a network for the evaluation from recorded games"),
    "weights": Subcommand("commands.weights", "what a weight file holds and where it comes from"),
    "check": Subcommand("doctor.command", "test any engine's protocol, and say what is wrong"),
    "bench": Subcommand("commands.bench", "speed, and the signature of the search"),
    "build": Subcommand("native.build.compile", "compile the kernel for this machine"),
}

_PACKAGE = __package__
EXTRAS = {  # and the packages that they bring, which some commands need
    "build": ("numba", "llvmlite", "lief", "ziglang"),
    "training": ("numpy", "scipy"),
    "tools": ("rich",),
    "board": ("starlette", "uvicorn", "websockets"),
    "database": ("sqlalchemy",),
    "cluster": ("dask", "distributed"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; return 0 if it did what was asked, 1 if not, 2 if asked wrongly.

    Where an interrupt has ended it, that is 130. A reader that has left, say `head`, ends it well,
    unless it had failed before.
    """
    status = OK
    try:
        open_missing_streams()
        replace_unencodable()
        try:
            status = dispatch(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            flush_errors()
            sys.stdout.flush()  # here, where a closed pipe can still be distinguished from a fault
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        abandon(sys.stdout)
    except OSError as error:  # there is no room for the output
        abandon(sys.stdout)
        return complain(message_of(error))
    return status


def open_missing_streams() -> None:
    """Open the null device in place of standard streams that are closed.

    Else other files would get their numbers, and `print` to no file is one to the output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8"))


def replace_unencodable() -> None:
    """Let characters that a standard stream cannot read or write be replaced."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)


def abandon(stream: TextIO) -> None:
    """Redirect a broken stream to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def flush_errors() -> None:
    """Write what stderr still holds, if possible: there is no other place to report to."""
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


def run(command: Subcommand, arguments: list[str]) -> int:
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
        return complain(message_of(error))
    except (EngineError, KernelError, NotationError, WeightsError) as error:
        return complain(message_of(error))
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


def message_of(error: Exception) -> str:
    """Return what went wrong in a line."""
    from .options import problem_of  # here, where an interrupt of its import is heard

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


def has(command: Subcommand) -> bool:
    """Return whether the command is there: the program for tournaments has few of them."""
    from importlib.util import find_spec

    try:
        return find_spec(f"{_PACKAGE}.{command.module}") is not None
    except ModuleNotFoundError:
        return False


def version() -> str:
    """Return the versions of the package, of its kernel and of what it runs on."""
    from .commands import bench
    from .engine.engine import DEFAULT_WEIGHTS
    from .eval.weights import WeightsError, load_weights
    from .native.load.library import KernelError, load

    nodes = None
    try:
        weights = load_weights(DEFAULT_WEIGHTS).key
        nodes = bench.recall(weights)
    except WeightsError as error:
        weights = str(error)
    try:
        library = load()
        kernel = f"{library.about['target']} {library.level} {library.digest}"
    except KernelError as error:
        kernel = message_of(error)
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
