"""What can go wrong where the program itself is right; the text says it in one line."""

from __future__ import annotations


class NumokuError(Exception):
    """The base of all errors that the package raises on purpose."""


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
