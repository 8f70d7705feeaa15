"""``numoku``: the tools around the engine, one module each, loaded only when asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper

from . import __version__

try:
    from .errors import (
        FAILURE,
        INTERRUPTED,
        OK,
        USAGE,
        NumokuError,
        SettingsError,
        WeightsError,
        abandon,
        complain,
        flush_errors,
        problem_of,
    )
except KeyboardInterrupt:  # `guarded` is not there yet
    sys.exit(130)

COMMANDS = {  # ``main(arguments)`` of a module, and what it is for
    "play": ("commands.play", "play against the engine in the terminal"),
    "demo": ("commands.demo", "watch the engine play one game against itself"),
    "analyse": ("commands.analyse", "value, best line and forced wins of a position"),
    "board": ("board.command", "play, analyse and review in the browser"),
    "review": ("commands.review", "mistakes, missed and allowed wins of a game"),
    "solve": ("commands.solve", "solve files of puzzles, with proofs"),
    "db": ("commands.db", "keep positions with what was found out, RenLib in and out"),
    "book": ("commands.book", "grow and show opening books"),
    "match": ("arena.match", "matches and tournaments between engines"),
    "report": ("arena.report", "tables and charts of recorded matches"),
    "openings": ("arena.openings", "make openings of equal chances for matches"),
    "datagen": ("learn.datagen", "record games of the engine against itself for learning"),
    "tune": ("tuning", "tune the search parameters by games"),
    "train": ("learn.train", "learn a network for the evaluation from recorded games"),
    "weights": ("commands.weights", "what a weight file holds and where it comes from"),
    "check": ("doctor.command", "test any engine's protocol, and say what is wrong"),
    "bench": ("commands.bench", "speed, and the signature of the search"),
    "build": ("native.build.compile", "compile the kernel for this machine"),
}

EXTRAS = {  # and the packages that they bring, which some commands need
    "build": ("numba", "llvmlite", "ziglang"),
    "training": ("numpy",),
    "tools": ("rich", "psutil"),
    "board": ("starlette", "uvicorn", "websockets"),
    "database": ("sqlalchemy",),
    "cluster": ("dask", "distributed"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a sub-command; return 0 if it did what was asked, 1 if not, 2 if asked wrongly.

    Where an interrupt has ended it, that is 130. A reader that has left, say `head`, ends it well,
    unless it had failed before.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: dispatch(words))


def guarded(act: Callable[[], int | None]) -> int:
    """Do something that prints; return its exit status, or 1 where its output has no room."""
    status = OK
    try:
        prepare_streams()
        try:
            status = act() or OK
        finally:
            flush_errors()
            sys.stdout.flush()  # here, where a closed pipe can still be distinguished from a fault
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        abandon(sys.stdout)
    except OSError as error:  # there is no room for the output
        abandon(sys.stdout)
        return complain(problem_of(error))
    return status


def prepare_streams() -> None:
    """Replace characters that streams cannot encode; open the null device for closed streams.

    Else other files would get their numbers, and `print` to no file is one to the output.
    """
    for name, mode, errors in (
        ("stdin", "r", "replace"), ("stdout", "w", "backslashreplace"),
        ("stderr", "w", "backslashreplace"),
    ):  # fmt: skip
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=errors)


def dispatch(words: list[str]) -> int:
    """Do what the words ask for; return the exit status."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return OK
    if words[0] in ("-V", "--version"):
        print(version())
        return OK
    if words[0] not in COMMANDS:
        return complain(f"there is no command {words[0]!r}; {nearest(words[0])}", USAGE)
    return run(COMMANDS[words[0]][0], words[1:])


def nearest(word: str) -> str:
    """Return what to type in place of a command that there is not."""
    from difflib import get_close_matches

    names = [name for name, (module, _) in COMMANDS.items() if has(module)]
    found = get_close_matches(word.lower(), names, 1)
    if found:
        return f"did you mean `numoku {found[0]}`?"
    return "`numoku --help` lists them"


def run(module: str, arguments: list[str]) -> int:
    """Run the command of a module and turn what may go wrong into one line and an exit status."""
    try:
        return int(import_module(f".{module}", __package__).main(arguments) or OK)
    except BrokenPipeError:
        raise
    except (NumokuError, OSError) as error:
        sys.stdout.flush()  # raises again where the output is what cannot be written
        return complain(problem_of(error), USAGE if isinstance(error, SettingsError) else FAILURE)
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


def usage() -> str:
    """Return the list of commands."""
    lines = [
        "usage: numoku COMMAND [options]",
        "",
        "Numoku plays five in a row: freestyle, standard, renju and caro.",
        "",
        *(f"  {name:9} {summary}" for name, (module, summary) in COMMANDS.items() if has(module)),
        "",
        "`numoku COMMAND --help` shows the options of a command, `numoku --version` the versions.",
        "Game managers start `pbrain-numoku`, which speaks the Gomocup protocol.",
    ]
    return "\n".join(lines)


def has(module: str) -> bool:
    """Return whether this program has a command: that for tournaments has few."""
    from importlib.util import find_spec

    try:
        return find_spec(f".{module}", __package__) is not None
    except ModuleNotFoundError:
        return False


def version() -> str:
    """Return the versions of the package, of its kernel and of what it runs on."""
    from .commands import bench
    from .engine.engine import DEFAULT_WEIGHTS
    from .eval.weights import load_weights
    from .native.load.library import KernelError, load
    from .native.load.targets import machine

    try:
        weights = load_weights(DEFAULT_WEIGHTS).key
    except WeightsError as error:
        weights = str(error)
    try:
        library = load()
        kernel = f"{library.about['target']} {library.level} {library.digest}"
    except KernelError as error:
        kernel = problem_of(error)
    try:
        from importlib import metadata

        numba = metadata.version("numba")  # without importing it
    except ImportError:  # there is none, or a frozen program without such knowledge
        numba = "not installed"
    if sys.platform == "win32":  # `platform` would start another program
        system = "Windows " + ".".join(map(str, sys.getwindowsversion().platform_version))
    else:
        system = f"{os.uname().sysname} {os.uname().release}"
    return "\n".join(
        [
            f"numoku {__version__}",
            f"kernel  {kernel}",
            f"weights {weights}",
            f"bench   {bench.recall(weights) or 'not measured yet, run `numoku bench`'}",
            f"numba   {numba}",
            f"Python  {sys.version.split()[0]}, {system} {machine()}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
