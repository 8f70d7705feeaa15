"""A request that is refused, with the reason that the page shows and the status of HTTP."""

from __future__ import annotations

import sys
import traceback

BAD_REQUEST, UNAUTHORISED, FORBIDDEN, NOT_FOUND, TOO_LARGE = 400, 401, 403, 404, 413
INTERNAL = 500


class Refused(Exception):
    """What was asked cannot be done; the text says why, in one line."""

    def __init__(self, reason: str, status: int = BAD_REQUEST) -> None:
        """Take the reason, and the status that an answer by HTTP has."""
        super().__init__(reason)
        self.reason = reason
        self.status = status


def unexpected(error: Exception) -> Refused:
    """Return what is told of an error that nobody thought of; its place goes to stderr."""
    traceback.print_exception(error, file=sys.stderr)
    return Refused(f"internal error: {type(error).__name__}", INTERNAL)
