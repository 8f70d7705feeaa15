"""Errors that are not bugs, each with a message of one line; remarks; exit statuses; stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Self, TextIO

OK, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130  # the exit status of a command


class Coded:
    """A message that people often see on the page, which translates ``code`` with ``values``."""

    code = ""
    values: Mapping[str, str | int] = MappingProxyType({})

    def coded(self, code: str, **values: str | int) -> Self:
        """Return the message itself, with a code and the values to fill in."""
        self.code, self.values = code, values
        return self


class NumokuError(Coded, Exception):
    """The base of all errors that the package raises on purpose."""


class Remark(Coded, str):
    """A message about what a file leaves out."""

    def __new__(cls, text: str, code: str = "", **values: str | int) -> Self:
        """Return the message, with a code and the values to fill in if the page translates it."""
        return super().__new__(cls, text).coded(code, **values)


class SettingsError(NumokuError):
    """Invalid or contradictory arguments."""


class FileError(NumokuError, OSError):
    """A file that cannot be read or written, or has the wrong contents."""


class Refused(NumokuError):
    """A request of a page that cannot be fulfilled; ``status`` is that of HTTP."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class BuildError(NumokuError):
    """The kernel could not be built, or must not be shipped."""


class WeightsError(NumokuError):
    """A weight file is missing, damaged or of the wrong kind."""


def problem_of(error: Exception) -> str:
    """Return the message of an error in one line, without the error number of the system."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return one_line(f"{error.filename or repr('')}: {error.strerror}")
    return reason_of(error)


def reason_of(error: Exception) -> str:
    """Return the message of an error in one line, without the file that it is about."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return one_line(str(error)) or type(error).__name__


def one_line(text: str) -> str:
    """Return a text without line breaks and what terminals obey, which files and names may have."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Return a text with an escape for each character that cannot be printed."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 move`` or ``1,200 moves``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def say(text: str, file: TextIO | None = None, end: str = "\n") -> None:
    """Print a message in one line, on stdout unless there is another file."""
    print(one_line(text), file=file, end=end, flush=True)


def complain(text: str, status: int = FAILURE) -> int:
    """Print an error message on stderr, if possible; return the exit status."""
    with suppress(OSError):
        say(f"numoku: {text}", sys.stderr)
    flush_errors()
    return status


def flush_errors() -> None:
    """Flush stderr, ignoring errors: there is nowhere else to report them."""
    try:
        sys.stderr.flush()
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Redirect a broken stream to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
