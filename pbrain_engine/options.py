"""What all command lines share: errors in one line, numbers that make sense, and programs."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NoReturn, TypeVar

ENDLESS = 1 << 30  # the most of a span without an end

Number = TypeVar("Number", int, float)


class Parser(argparse.ArgumentParser):
    """A parser that tells what is wrong with the words in one line, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Leave with the message; where the options are listed, it says."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (see {self.prog} --help)\n")


def _check_type(
    kind: Callable[[str], Number], word: str, accepts: Callable[[Number], bool]
) -> Callable[[str], Number]:
    """Return the type of an option: a number of a kind that is accepted."""

    def parse(text: str) -> Number:
        try:
            number = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {word}") from None
        if not accepts(number):
            raise argparse.ArgumentTypeError(f"{text} is not {word}")
        return number

    return parse


positive = _check_type(int, "a whole number from 1 on", lambda n: n >= 1)
whole = _check_type(int, "a whole number from 0 on", lambda n: n >= 0)
above_zero = _check_type(float, "a number above 0", lambda x: isfinite(x) and x > 0)
not_below_zero = _check_type(float, "a number from 0 on", lambda x: isfinite(x) and x >= 0)
share = _check_type(float, "a number from 0 to 1", lambda x: 0 <= x <= 1)
number = _check_type(float, "a number", isfinite)


def span(text: str) -> tuple[int, int]:
    """Return the least and the most of ``3``, of ``3-7``, or of ``3-``, which has no end.

    Raises:
        argparse.ArgumentTypeError: it is none of these.
    """
    first, dash, last = text.partition("-")
    if first.isdecimal() and (last.isdecimal() or not last):
        least = int(first)
        most = int(last) if last else ENDLESS if dash else least
        if least <= most:
            return least, most
    raise argparse.ArgumentTypeError(f"{text!r} is nothing such as 3, 3-7 or 3-")


def add_value(
    parser: argparse._ActionsContainer,
    names: str,
    kind: Any,
    default: Any,
    metavar: Any,
    about: str,
) -> None:
    """Add an option; a default that says something ends its description.

    Its kind is what makes a value of a word, a tuple of choices, or None for a switch. A tuple of
    metavars takes as many words.
    """
    more: dict[str, Any] = {"type": kind, "metavar": metavar}
    if kind is None:
        more = {"action": "store_true"}
    elif isinstance(kind, tuple):
        more = {"choices": kind}
    elif isinstance(metavar, tuple):
        more["nargs"] = len(metavar)
    if default:
        about += f" ({default:g})" if isinstance(default, float) else f" ({default})"
    parser.add_argument(*names.split(), default=default, help=about, **more)


def problem_of(error: Exception) -> str:
    """Return what went wrong as people read it, in a line; without numbers of the system."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


WINDOWS = os.name == "nt"


def split_command(text: str, *, windows: bool = WINDOWS) -> list[str]:
    """Return the program and its arguments; the name of a file as it is needs no quotes.

    On Unix as a shell reads it, on Windows as every program there reads its own command line:
    double quotes, and a backslash is one unless it stands before a quote. So paths can be written
    as they are, and quoted where they have spaces.

    Raises:
        ValueError: a quotation has no end.
    """
    if os.path.isfile(text):
        return [text]
    if not windows:
        try:
            return shlex.split(text)
        except ValueError as error:
            raise ValueError(f"{text}: {str(error).lower()}") from None
    words: list[str] = []
    word: str | None = None  # that has begun
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
    """Return the text of a program and its arguments, which ``split_command`` reads back."""
    if not windows:
        return shlex.join(words)
    import subprocess

    return subprocess.list2cmdline(words)
