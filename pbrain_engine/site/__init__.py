"""The board's server in a web worker, exchanging messages with the page as text.

``worker.js`` starts it and carries the messages. If the page shares memory with its worker,
messages arrive during a search. Otherwise searches run in slices: the kernel returns, messages are
read, and the search resumes from its table.

There are no threads: ``Call`` and ``Alarm`` replace the classes of ``threading``. ``Call.start``
runs its target to the end, and timers fire when a kernel polls its host (``bits.poll_host``).
"""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Protocol

from ..app.saved import SavedGames
from ..board import files, proofs, searches  # noqa: F401 - which register their operations
from ..board.desk import EVENT_GAP, Archive, Desk, Desks
from ..commands import bench
from ..files import Document, Json
from ..native.load import library as native

STORE = Path("/numoku")  # persistent storage of the browser
DATABASE, GAMES, SETTINGS = "database.db", "games.db", "settings.json"
SLICE = 0.05  # seconds of a search before waiting messages are read
DEAF_SLICE = 2.0  # seconds of an endless search where nothing can interrupt it
# Kernel functions that run in slices, and by what factor each further slice of a search is longer:
# searches without a table start over in every slice.
SLICED = {
    "worker_iterate": 1.0, "threats_fours": 1.0, "threats_threes": 1.0, "threats_rescues": 1.5,
    "threats_replay": 2.0, "threats_line": 2.0, "threats_move": 2.0,
}  # fmt: skip

Kernel = Callable[..., int]


class Host(Protocol):
    """The services of ``worker.js``."""

    hears: bool  # whether messages arrive while Python runs
    pauses: bool  # whether ``pause`` works in this browser

    def post(self, text: str) -> None:
        """Send a message to the page."""

    def take(self) -> str | None:
        """Return the next message, or None."""

    def pause(self) -> object:
        """Return a promise that resolves once pending messages have arrived."""


class Call:
    """Replaces ``threading.Thread``: ``start`` runs the target to the end."""

    def __init__(
        self,
        target: Callable[..., object],
        args: Sequence[object] = (),
        daemon: bool | None = None,
    ) -> None:
        self._target, self._args = target, args

    def start(self) -> None:
        """Run the target."""
        self._target(*self._args)

    def join(self, timeout: float | None = None) -> None:
        """Return at once: the target has ended."""


class Alarm(Call):
    """Replaces ``threading.Timer``: ``ring_due`` runs it once its time has come."""

    waiting: list[Alarm] = []

    def __init__(self, interval: float, function: Callable[[], object]) -> None:
        super().__init__(function)
        self._interval = interval
        self.due = 0.0

    def start(self) -> None:
        """Start the timer."""
        self.due = perf_counter() + self._interval
        self.waiting.append(self)

    def cancel(self) -> None:
        """Stop the timer."""
        if self in self.waiting:
            self.waiting.remove(self)

    @classmethod
    def ring_due(cls) -> None:
        """Run all alarms whose time has come."""
        now = perf_counter()
        for alarm in [alarm for alarm in cls.waiting if alarm.due <= now]:
            alarm.cancel()
            Call.start(alarm)


class SitePage(Desk):
    """The desk of the page."""

    def __init__(self, host: Host, desks: Desks) -> None:
        super().__init__(desks, self._hold)
        self._host = host
        self._hears = host.hears
        self._in_slices = host.pauses and not host.hears
        self._is_deaf = not host.pauses and not host.hears
        self._until = inf  # the end of the slice
        self._is_cut = False  # whether the kernel was asked to return at that end
        self._event: Document | None = None  # the latest, waiting for the gap
        self._sent = 0.0  # time of the last event
        native.load().listen(self._poll)
        if self._in_slices:
            self._slice_searches()

    def serve(self) -> None:
        """Answer all waiting messages."""
        while (text := self._host.take()) is not None:
            self.take(text)

    def _hold(self, answer: Document) -> None:
        """Send an answer at once, or an event after the gap, unless a newer one replaces it."""
        if "event" in answer:
            self._event = answer
            self._send_event()
            return
        if self._event is not None and self._event["id"] == answer["id"]:
            self._event = None  # the answer makes it obsolete
        self._send(answer)

    def _send_event(self) -> None:
        if self._event is not None and perf_counter() - self._sent >= EVENT_GAP:
            self._send(self._event)
            self._event, self._sent = None, perf_counter()

    def _send(self, message: Document) -> None:
        self._host.post(json.dumps(message, separators=(",", ":")))

    def begin(self, name: Json, message: Document) -> None:
        """Begin to answer a request; ``selftest`` exists only here."""
        if message.get("do") == "selftest":
            self._until = inf  # slices would change the node count
            self.post({"id": name, "result": selftest()})
            return
        self._until = perf_counter() + SLICE
        if self._is_deaf and message.get("do") == "analyse":
            message = {"time": DEAF_SLICE, **message}
        super().begin(name, message)

    def _poll(self) -> int:
        """Run due alarms, read messages if possible; return 1 to end the kernel's slice."""
        Alarm.ring_due()
        self._send_event()
        if self._hears:
            self.serve()
        self._is_cut = self._in_slices and perf_counter() >= self._until
        return int(self._is_cut)

    def _read(self, seconds: float = SLICE) -> None:
        """Wait for pending messages, answer them, and begin a slice."""
        import_module("pyodide.ffi").run_sync(self._host.pause())
        self.serve()
        self._until = perf_counter() + seconds

    def _slice_searches(self) -> None:
        library = native.load()

        def slice_run(search: Kernel, growth: float) -> Kernel:
            def run(*arguments: int) -> int:
                if perf_counter() >= self._until:
                    self._read()
                seconds = SLICE
                while True:
                    self._is_cut = False
                    found = search(*arguments)
                    if not self._is_cut:
                        return found
                    self._read(seconds := seconds * growth)

            return run

        for name, growth in SLICED.items():
            setattr(library, name, slice_run(getattr(library, name), growth))


def selftest() -> Document:
    """Run the bench; return its signature, speed and versions."""
    said = io.StringIO()
    with redirect_stdout(said):
        bench.main(["--json"])
    figures = json.loads(said.getvalue())
    kept = ("nps", "pairs", "time", "level", "kernel", "weights")
    return {"signature": figures["nodes"], **{name: figures[name] for name in kept}}


def start(host: Host) -> SitePage:
    """Return the desk of the page, ready to serve."""
    vars(threading).update(Thread=Call, Timer=Alarm, stack_size=lambda size=0: 0)
    archive = Archive(str(STORE / DATABASE), SavedGames(STORE / GAMES))
    return SitePage(host, Desks(1, archive))


def pack(settings: str) -> bytes:
    """Return the stored files and the page's ``settings`` (JSON) as a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(SETTINGS, settings)
        for path in sorted(STORE.glob("*.db*")):
            archive.write(path, path.name)
    return file.getvalue()


def unpack(data: bytes) -> str:
    """Replace the stored files by those in a zip file of ``pack``; return the settings.

    Raises:
        ValueError: it is not a file of ``pack``.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
        settings = found.pop(SETTINGS).decode()
        json.loads(settings)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError("this file was not saved by this page") from error
    if any("/" in name or ".db" not in name for name in found):
        raise ValueError("this file was not saved by this page")
    for path in STORE.glob("*.db*"):
        path.unlink()
    for name, content in found.items():
        (STORE / name).write_bytes(content)
    return settings
