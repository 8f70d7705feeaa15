"""What can go wrong where the program itself is right; the text says it in one line, on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Self, TextIO

OK, FAILURE, USAGE, INTERRUPTED = 0, 1, 2, 130  # the exit status of a command


class NumokuError(Exception):
    """The base of all errors that the package raises on purpose.

    Those that people often see on the page have a ``code``, by which it says them in other
    languages, with ``values`` for its words.
    """

    code = ""
    values: Mapping[str, str | int] = MappingProxyType({})

    def coded(self, code: str, **values: str | int) -> Self:
        """Return the error with its code, and what its words name."""
        self.code, self.values = code, values
        return self


class SettingsError(NumokuError):
    """Arguments that make no sense, or not together: what was asked for cannot be begun."""


class FileError(NumokuError, OSError):
    """A file that cannot be read or written, or that holds something else than it should."""


class Refused(NumokuError):
    """What was asked cannot be done."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class BuildError(NumokuError):
    """The kernel could not be built, or must not be shipped."""


class WeightsError(NumokuError):
    """A weight file is missing, damaged or of another kind."""


def problem_of(error: Exception) -> str:
    """Return what went wrong as people read it, in a line; without numbers of the system."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


def complain(text: str, status: int = FAILURE) -> int:
    """Say on stderr, if possible, what is wrong with a command; return the exit status."""
    with suppress(OSError):
        print(f"numoku: {text}", file=sys.stderr)
    flush_errors()
    return status


def flush_errors() -> None:
    """Write what stderr still holds, if possible: there is no other place to report to."""
    try:
        sys.stderr.flush()
    except OSError:
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Redirect a broken stream to the null device."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
