"""Command lines of all tools: a table of shared options, one-line errors, and quoting."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from .errors import FileError
from .eval.weights import DEFAULT
from .position.geometry import MAX_BOARD, MIN_BOARD, is_board
from .position.rules import Rule
from .search.parameters import MAX_DEPTH, check_search

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

ENDLESS = 1 << 30  # the upper end of an open span
MEGABYTE = 1_000_000
MEGABYTES = (16, 65_536)  # limits of a process's memory
DATABASE = "NUMOKU_DB"  # environment variable with the default database

Number = TypeVar("Number", int, float)
Value = TypeVar("Value")
_SIZE = re.compile(r"([0-9]{1,4})(?:x([0-9]{1,4}))?")


class Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Exit with the message and a pointer to ``--help``."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Write a text; unlike ``argparse``, raise OSError if stdout cannot be written."""
        try:
            (file or sys.stderr).write(message)
        except OSError:
            if file is sys.stdout:
                raise


def number_type(
    kind: Callable[[str], Number], word: str, accepts: Callable[[Number], bool]
) -> Callable[[str], Number]:
    """Return the type of a number option, without underscores or surrounding spaces."""

    def parse(text: str) -> Number:
        try:
            if "_" in text or text != text.strip():
                raise ValueError
            number = kind(text)
        except ValueError:
            raise ValueError(f"{text!r} is not {word}") from None
        if not accepts(number):
            raise ValueError(f"{text} is not {word}")
        return number

    return parse


def within(least: int, most: int) -> Callable[[str], int]:
    """Return the type of an option for whole numbers from ``least`` to ``most``."""
    words = f"a whole number from {least} to {most}"
    return number_type(int, words, lambda n: least <= n <= most)


integer = number_type(int, "a whole number", lambda n: True)
positive = number_type(int, "a whole number above 0", lambda n: n >= 1)
whole = number_type(int, "a whole number of at least 0", lambda n: n >= 0)
above_zero = number_type(float, "a number above 0", lambda x: isfinite(x) and x > 0)
not_below_zero = number_type(float, "a number of at least 0", lambda x: isfinite(x) and x >= 0)
share = number_type(float, "a number from 0 to 1", lambda x: 0 <= x <= 1)
number = number_type(float, "a number", isfinite)


def span(text: str) -> tuple[int, int]:
    """Return the ends of a span such as ``3``, ``3-7`` or ``3-`` (open); raises ValueError."""
    first, dash, last = text.partition("-")
    if first.isdecimal() and (last.isdecimal() or not last):
        least = int(first)
        most = int(last) if last else ENDLESS if dash else least
        if least <= most:
            return least, most
    raise ValueError(f"{text!r} is not a span such as 3, 3-7 or 3-")


def board_size(text: str) -> tuple[int, int]:
    """Return width and height of a size such as ``15`` or ``15x20``; raises ValueError."""
    words = _SIZE.fullmatch(text.lower())
    if not words:
        raise ValueError(f"{text!r} is not a board size such as 15 or 15x20")
    width, height = int(words[1]), int(words[2] or words[1])
    if not is_board(width, height):
        raise ValueError(f"boards are {MIN_BOARD} to {MAX_BOARD} wide and high")
    return width, height


def search(name: str) -> str:
    """Return the name of the search; ValueError if there is no such search."""
    check_search(name)
    return name


def list_of(kind: Callable[[str], Value]) -> Callable[[str], tuple[Value, ...]]:
    """Return the type of an option for comma-separated values."""
    return lambda text: tuple(kind(word.strip()) for word in text.split(","))


class Option(NamedTuple):
    """An option, or an argument without dashes, of a command."""

    names: str  # separated by spaces, such as "--size --board"
    # Converts a word, raising ValueError with a message; a tuple: the choices; None: a flag.
    kind: Callable[[str], object] | tuple[object, ...] | None = str
    default: object = None
    metavar: str | tuple[str, ...] | None = None  # a tuple: one per word
    about: str = ""  # a default other than None, 0 or "" is appended
    more: Mapping[str, Any] = {}  # other arguments of argparse: nargs, action, dest, required

    @property
    def dest(self) -> str:
        """The attribute for its value."""
        return self.names.split()[0].lstrip("-").replace("-", "_")

    def add_to(self, parser: argparse._ActionsContainer) -> None:
        """Add the option to a parser."""
        if self.kind is None:
            more: dict[str, Any] = {"action": "store_true"}
        elif isinstance(self.kind, tuple):
            more = {"choices": self.kind, "metavar": self.metavar}
        else:
            more = {"type": _explained(self.kind), "metavar": self.metavar}
            if isinstance(self.metavar, tuple):
                more["nargs"] = len(self.metavar)
        about, usual = self.about, self.default
        if usual and not isinstance(usual, (tuple, list)):
            about += f" ({usual:g})" if isinstance(usual, float) else f" ({usual})"
        parser.add_argument(
            *self.names.split(), help=about, **{"default": usual, **more, **self.more}
        )


def _explained(kind: Callable[[str], object]) -> Callable[[str], object]:
    """Return a converter whose error messages argparse shows unchanged; classes stay."""

    def convert(text: str) -> object:
        try:
            return kind(text)
        except (FileError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return kind if isinstance(kind, type) else convert


SHARED = {  # options of several commands
    option.names.split()[0].strip("-"): option
    for option in (
        Option("position", str, None, "POSITION", "moves such as h8i9, a file, or -"),
        Option("--rule", Rule.parse, None, "R",
               "freestyle, standard, renju, caro, caro-exact, or the protocol's code "
               "(default: what the file says, else freestyle)"),
        Option("--size --board", board_size, None, "N",
               f"side of the board, {MIN_BOARD} to {MAX_BOARD}, or WxH "
               "(default: what the file says, else 15)"),
        Option("--from-below", None, False, None,
               "rows of plain moves such as h8 count from the bottom, as in RenLib"),
        Option("--time", above_zero, None, "S", "seconds to think"),
        Option("--turn", not_below_zero, 0.0, "S", "seconds per move"),
        Option("--depth", within(1, MAX_DEPTH), None, "N",
               f"depth limit in plies, 1 to {MAX_DEPTH}"),
        Option("--nodes", positive, None, "N", "positions to search"),
        Option("--tree", None, False, None, "show the whole proof of a forced win"),
        Option("--threads", positive, 1, "N", "threads to search with"),
        Option("--memory", within(*MEGABYTES), 350, "MB", "memory to use, 16 to 65536"),
        Option("--weights", str, DEFAULT, "W", "built-in name or file"),
        Option("--search", search, None, None, argparse.SUPPRESS),  # for old command lines
        Option("--db", str, None, "FILE",
               f"a database to store results in and look them up (${DATABASE})"),
        Option("--json", None, False, None, "one JSON document on stdout"),
        Option("--stones", span, "3-7", "N-M", "number of stones of an opening"),
        Option("--balance", whole, 60, "V", "largest value for either side"),
        Option("--seed", integer, 1, "N", "seed of all random choices"),
        Option("--concurrency", positive, 1, "N", "games at the same time"),
        Option("--processes", positive, None, "N", "games at the same time (one per core)"),
        Option("--cluster", str, None, "ADDRESS",
               "use the workers of a Dask cluster, such as tcp://host:8786"),
    )
}  # fmt: skip
POSITION = ("rule", "size", "from-below")  # options that describe a position
JSON_LINES = SHARED["json"]._replace(about="one JSON object per line on stdout")

Options = Iterable[str | Option]  # strings name shared options


class Action(NamedTuple):
    """An action of a command: ``numoku COMMAND ACTION``."""

    run: Callable[..., int]  # of the database and the options
    about: str
    options: Options


class CommandLine(NamedTuple):
    """A command with its options or actions; ``TITLE:`` among the options begins a group."""

    prog: str
    about: str
    options: Options = ()
    epilog: str = ""
    actions: Mapping[str, Action] = {}

    def parser(self) -> Parser:
        """Return the parser of the command line.

        If there are actions, parsing sets ``action`` (its name) and ``run``.
        """
        kind = argparse.HelpFormatter
        if "\n" in self.epilog:
            kind = argparse.RawDescriptionHelpFormatter
        parser = Parser(
            prog=self.prog, description=self.about, epilog=self.epilog or None, formatter_class=kind
        )
        add_options(parser, self.options)
        if self.actions:
            below = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
            for name, action in self.actions.items():
                about = f"{action.about[0].upper()}{action.about[1:]}."
                made = below.add_parser(name, help=action.about, description=about)
                made.set_defaults(run=action.run)
                add_options(made, action.options)
        return parser

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """Return the options of a command line; exit with a message if it is wrong."""
        return self.parser().parse_args(arguments)


def add_options(parser: argparse.ArgumentParser, options: Options) -> None:
    """Add options to a parser."""
    group: argparse._ActionsContainer = parser
    for option in options:
        if isinstance(option, str):
            if option.endswith(":"):
                group = parser.add_argument_group(option[:-1])
                continue
            option = SHARED[option]
        option.add_to(group)
        if option is SHARED["db"]:
            parser.set_defaults(db=os.environ.get(DATABASE) or None)


WINDOWS = os.name == "nt"


def split_command(text: str, *, windows: bool = WINDOWS) -> list[str]:
    """Return the words of a command; the name of an existing file is a single word.

    Unix: the words as a shell splits them. Windows: as programs there split their command line,
    with double quotes, and backslashes that are special only before a quote; so paths need quotes
    only for spaces. ValueError if a closing quotation mark is missing.
    """
    if os.path.isfile(text):
        return [text]
    if not windows:
        try:
            return shlex.split(text)
        except ValueError as error:
            raise ValueError(f"{text}: {str(error).lower()}") from None
    words: list[str] = []
    word: str | None = None  # the current word
    quoted = False
    for part in re.findall(r'\\*"|\\+|[ \t]+|[^\\" \t]+', text + " "):
        if part.endswith('"'):
            backslashes = len(part) - 1
            word = (word or "") + "\\" * (backslashes // 2) + '"' * (backslashes % 2)
            quoted ^= backslashes % 2 == 0
        elif quoted or part.strip(" \t"):
            word = (word or "") + part
        elif word is not None:
            words.append(word)
            word = None
    if quoted:
        raise ValueError(f"{text}: no closing quotation")
    return words


def join_command(words: Sequence[str], *, windows: bool = WINDOWS) -> str:
    """Return the command line that ``split_command`` splits into these words."""
    if not windows:
        return shlex.join(words)
    import subprocess

    return subprocess.list2cmdline(words)
