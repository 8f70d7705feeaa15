"""``numoku``: the tools around the engine, one module each, loaded on demand."""

from __future__ import annotations

import sys

try:
    import os
    from collections.abc import Callable, Sequence
    from importlib import import_module
    from io import TextIOWrapper

    from . import __version__
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

COMMANDS = {  # the module whose ``main(arguments)`` runs it, and a summary
    "play": ("commands.play", "play against the engine in the terminal"),
    "demo": ("commands.demo", "watch the engine play one game against itself"),
    "analyse": ("commands.analyse", "value, best line and forced wins of a position"),
    "board": ("board.command", "play, analyse and review in the browser"),
    "review": ("commands.review", "mistakes, missed and allowed wins of a game"),
    "solve": ("commands.solve", "solve files of puzzles, with proofs"),
    "db": ("commands.db", "a database of positions and games; imports and exports RenLib"),
    "book": ("commands.book", "grow and show opening books"),
    "match": ("arena.match", "matches and tournaments between engines"),
    "report": ("arena.report", "tables and charts of recorded matches"),
    "openings": ("arena.openings", "make balanced openings for matches"),
    "datagen": ("learn.datagen", "record games of the engine against itself for learning"),
    "tune": ("tuning", "tune the search parameters by games"),
    "train": ("learn.train", "train an evaluation network on recorded games"),
    "weights": ("commands.weights", "show the contents and origin of a weight file"),
    "check": ("doctor.checks", "test the protocol of any engine"),
    "bench": ("commands.bench", "speed, and the signature of the search"),
    "build": ("native.build.compile", "compile the kernel for this machine"),
}

EXTRAS = {  # what commands need that do not say so themselves, and its packages
    "training": ("numpy", "numba"),
    "board": ("starlette", "uvicorn", "websockets"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0 on success, 1 on failure, 2 on wrong usage, 130 on an interrupt.

    If the reader of its output ends early, such as `head`, that is not a failure.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: dispatch(words))


def guarded(act: Callable[[], int | None]) -> int:
    """Run a function that prints; return its exit status, or 1 if the output cannot be written."""
    status = OK
    try:
        prepare_streams()
        try:
            status = act() or OK
        finally:
            flush_errors()
            sys.stdout.flush()  # here, so that a closed pipe is caught below
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        abandon(sys.stdout)
    except OSError as error:  # the output cannot be written
        abandon(sys.stdout)
        return complain(problem_of(error))
    return status


def prepare_streams() -> None:
    """Replace characters that streams cannot encode; open the null device for closed streams.

    Otherwise other files would get their descriptors, and `print(file=None)` means stdout.
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
    """Run the command given by the words; return the exit status."""
    if words[:1] == ["help"] and len(words) > 1:  # as git and others have it
        words = [words[1], "--help"]
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
    """Return a suggestion to replace an unknown command."""
    from difflib import get_close_matches

    names = [name for name, (module, _) in COMMANDS.items() if has(module)]
    found = get_close_matches(word.lower(), names, 1)
    if found:
        return f"did you mean `numoku {found[0]}`?"
    return "`numoku --help` lists them"


def run(module: str, arguments: list[str]) -> int:
    """Run the command of a module; turn errors into one line and an exit status."""
    try:
        return int(import_module(f".{module}", __package__).main(arguments) or OK)
    except BrokenPipeError:
        raise
    except (NumokuError, OSError) as error:
        sys.stdout.flush()  # raises again if the output itself failed
        return complain(problem_of(error), USAGE if isinstance(error, SettingsError) else FAILURE)
    except MemoryError:
        return complain("there is not enough memory")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if getattr(sys, "frozen", False):
            return complain(f"this command needs the Python package pbrain-numoku ({error})")
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
    """Return whether this program has a command; the tournament program has few."""
    from importlib.util import find_spec

    try:
        return find_spec(f".{module}", __package__) is not None
    except ModuleNotFoundError:
        return False


def version() -> str:
    """Return the versions of the package, its kernel, its weights and the platform."""
    from .commands import bench
    from .engine.engine import DEFAULT_WEIGHTS
    from .eval.weights import load_weights
    from .native.load.library import KernelError, load
    from .native.load.store import machine

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
    except ImportError:  # not installed, or a frozen program without metadata
        numba = "not installed"
    if sys.platform == "win32":  # the module `platform` would start a process
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
