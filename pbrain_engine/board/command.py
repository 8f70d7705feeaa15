"""``numoku board``: a board in the browser."""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..app.saved import shelf_file
from ..errors import FileError, Refused
from ..eval.weights import load_weights
from ..files import Document, read_whole
from ..game.cells import NotationError
from ..options import SHARED, CommandLine, Option, integer, not_below_zero
from .files import MOST_FILE, page_document, read_trees

if TYPE_CHECKING:
    import uvicorn

    from .app import BoardServer

DEFAULT_PORT = 8421
LOCAL = "127.0.0.1"
LINGER = 300.0  # seconds without visitors until the server ends
DESCRIPTORS = 6  # files that the server and a visitor need


COMMAND = CommandLine(
    "numoku board",
    "Play, analyse and review in the browser. Prints one line, the address of the page. The "
    "server ends on Ctrl-C, or after a while without an open page, and says so.",
    (
        Option("file", metavar="FILE", about="a file of games, or a drawing",
               more={"nargs": "?"}),
        Option("--port", integer, None, "N",
               f"the port, 0 for any (default: {DEFAULT_PORT}, or a free one)"),
        Option("--host", str, LOCAL, "HOST",
               "the address to listen on; only this machine reaches 127.0.0.1"),
        Option("--no-open", None, False, None, "do not open the browser"),
        SHARED["threads"]._replace(default=None, about="most threads of a search (all)"),
        "weights", "db",
        Option("--linger", not_below_zero, LINGER, "S",
               "end after this many seconds without a visit, 0: never"),
    ),
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Serve until an interrupt, or until no visitor is left."""
    options = COMMAND.parse(arguments)
    import uvicorn
    import websockets  # noqa: F401  (uvicorn's side of the WebSocket)

    from .app import LOCAL_NAMES, MOST_BYTES, BoardServer, lasting_token

    load_weights(options.weights)  # reports faulty weights at once
    token, names = lasting_token(), LOCAL_NAMES if options.host in LOCAL_NAMES else ()
    threads, weights = options.threads, options.weights
    board = BoardServer(token, names, threads, options.db, weights, shelf_file())
    if options.file:
        board.desks.start = read_file(options.file)
    listener = listen(options.host, options.port)
    with ExitStack() as probes:  # an event loop that cannot open its own leaves a traceback
        for _ in range(DESCRIPTORS):
            probes.enter_context(socket.socket())
    config = uvicorn.Config(
        board.app, log_level="critical", lifespan="on", ws="websockets-sansio",
        ws_max_size=MOST_BYTES, timeout_graceful_shutdown=2,
    )  # fmt: skip
    server = uvicorn.Server(config)
    shown = LOCAL if options.host in ("0.0.0.0", "") else options.host
    if ":" in shown and not shown.startswith("["):
        shown = f"[{shown}]"
    address = f"http://{shown}:{listener.getsockname()[1]}/?token={quote(token)}"
    try:
        asyncio.run(serve(server, listener, board, address, options))
    except KeyboardInterrupt:
        pass
    finally:
        board.close()
        listener.close()
    return 0


def read_file(name: str) -> Document:
    """Return the game of a file as the page shows it, and its name; NotationError if it is none."""
    path = Path(name)
    try:
        data = read_whole(path, MOST_FILE)
    except FileError:
        raise NotationError(f"{path.name} is too large for a game") from None
    try:
        return {"name": path.name, **page_document(read_trees(data, name=path.name))}
    except (NotationError, Refused) as error:
        raise NotationError(f"{path.name}: {error}") from None


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket on a port; without one, on the default port or else a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), DEFAULT_PORT if port is None else port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        if port is None:
            return listen(host, 0)
        raise OSError(f"cannot listen on {host}:{port}: {error}") from None
    return listener


async def serve(
    server: uvicorn.Server, listener: socket.socket, board: BoardServer, address: str,
    options: argparse.Namespace,
) -> None:  # fmt: skip
    """Serve; print the address once ready; end some time after the last visitor has left."""
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not task.done():
        await asyncio.sleep(0.01)
    if not task.done():
        print(address, flush=True)
        if not options.no_open:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    while not task.done():
        await asyncio.wait([task], timeout=0.5)
        if options.linger > 0 and board.seconds_alone > options.linger and not server.should_exit:
            print(f"ended: no page and no program connected for {options.linger:g} s")
            server.should_exit = True
    await task
