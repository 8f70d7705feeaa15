"""What can go wrong where the program itself is right; the text says it in one line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self


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
