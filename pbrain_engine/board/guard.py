"""Who may ask: a page that this server has served itself, or a program that knows the token.

A page of another site cannot read the token, but a browser would let it connect; so the
``Origin`` of a request has to be this server, and the ``Host`` a name of this machine, which
also keeps out names that have been bent to 127.0.0.1.
"""

from __future__ import annotations

import hmac
import os
import secrets
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..files import state_folder
from .messages import FORBIDDEN, UNAUTHORISED, Refused

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

LOCAL_NAMES = ("127.0.0.1", "localhost", "[::1]", "::1")
TOKEN_BYTES = 18
ENVIRONMENT = "NUMOKU_BOARD_TOKEN"


class Guard:
    """The token of a server, and the names under which it may be reached."""

    def __init__(self, token: str, names: tuple[str, ...] = LOCAL_NAMES) -> None:
        """Take the token, and the names of the host; no names: any."""
        self.token = token
        self._names = names

    def check(self, request: HTTPConnection) -> None:
        """Refuse a request from another site, to another name, or without the token."""
        headers = request.headers
        host = headers.get("host", "")
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        if self._names and name not in self._names:
            raise Refused("this server has another name", FORBIDDEN)
        origin = headers.get("origin")
        if origin is not None and not comes_from(origin, host):
            raise Refused("the request comes from a foreign page", FORBIDDEN)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        word = (
            given.strip() if scheme.lower() == "bearer" else request.query_params.get("token", "")
        )
        if not hmac.compare_digest(word.encode(), self.token.encode()):
            raise Refused("the token is missing or wrong; open the address that was printed",
                          UNAUTHORISED)  # fmt: skip


def comes_from(origin: str, host: str) -> bool:
    """Return whether an ``Origin`` is a page of this host."""
    try:
        return urlsplit(origin).netloc == host
    except ValueError:  # it is no address
        return False


def lasting_token() -> str:
    """Return the token of this user, so that pages find the server again after a restart.

    It is kept in a file that no other user may read; where there can be none, it is a new one.
    """
    if os.environ.get(ENVIRONMENT):
        return os.environ[ENVIRONMENT]
    path = state_folder() / "board-token"
    try:
        kept = path.read_text(encoding="ascii").strip()
        if len(kept) >= TOKEN_BYTES:
            return kept
    except (OSError, ValueError):
        pass
    token = secrets.token_urlsafe(TOKEN_BYTES)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(token + "\n")
    except OSError:
        pass
    return token
