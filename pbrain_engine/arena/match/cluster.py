"""Games on a cluster: the same tasks, played by the workers of a Dask scheduler.

A game's number is its key, and only a game whose result has arrived is written down; so a
worker that dies takes no finished game with it, its running games are begun again elsewhere,
and none is counted twice. Engines must be installed under the same paths on every worker.
"""

from __future__ import annotations

import json
import queue
import threading
from typing import Any

from ..game.played import Played
from ..game.referee import GameTask
from ..players.guardian import Guardian
from ..settings import MatchSettings, SettingsError
from .pool import Slot

CONNECT_TIMEOUT = 15
LOST = ("KilledWorker", "CancelledError", "FutureCancelledError")  # errors, by name
ATTEMPTS = 20  # of one task; Dask itself gives it up when it has seen a few workers die

_seats = threading.local()


def is_lost(error: BaseException) -> bool:
    """Say whether a task was lost on its way, with a worker or the scheduler; nothing is wrong."""
    return type(error).__name__ in LOST


def connect(address: str) -> Any:
    """Return a client of the Dask scheduler there.

    Raises:
        SettingsError: Dask is not installed, or the scheduler does not answer.
    """
    try:
        from distributed import Client
    except ImportError:
        raise SettingsError("--cluster needs Dask: pip install 'pbrain-numoku[cluster]'") from None
    client: Any = Client  # Dask has no annotations
    try:
        return client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SettingsError(f"no cluster at {address}: {error}") from None


def answers(client: Any) -> bool:
    """Say whether a client's scheduler is still there.

    Of a task that is sent while the connection breaks Dask never says that it is lost.
    """
    try:
        client.nthreads()
    except Exception:  # whatever it is, there is no answer
        return False
    return True


class ClusterPool:
    """As many games at once as the cluster's workers have threads."""

    def __init__(self, settings: MatchSettings) -> None:
        """Connect to the scheduler.

        Raises:
            SettingsError: Dask is not installed, or the scheduler does not answer.
        """
        self._client = connect(settings.cluster)
        self._settings = json.dumps(settings.to_json())
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._running: dict[str, tuple[GameTask, int, Any]] = {}  # by key
        self._aborted = False

    @property
    def capacity(self) -> int:
        """The threads of all workers at this moment; one more waits, so that none is idle."""
        return int(sum(self._client.nthreads().values())) + 1

    def submit(self, task: GameTask) -> None:
        """Send a game to the cluster."""
        self._submit(task, 0)

    def _submit(self, task: GameTask, attempt: int) -> None:
        key = f"numoku-{id(self)}-{task.game}-{attempt}"
        future: Any = self._client.submit(play_task, self._settings, task, key=key, pure=False)
        self._running[key] = task, attempt, future
        future.add_done_callback(self._results.put)

    def next_result(self, timeout: float) -> Played | None:
        """Return a finished game, or None if none finishes in time.

        A game whose workers died too often is sent once more.
        """
        try:
            future = self._results.get(timeout=timeout)
        except queue.Empty:
            return None
        task, attempt, _ = self._running.pop(future.key)
        if self._aborted:
            return None
        try:
            played = Played.from_json(future.result())
        except BaseException as error:
            if not is_lost(error) or attempt >= ATTEMPTS:
                raise
            self._submit(task, attempt + 1)
            return None
        future.release()
        return played

    def abort(self) -> None:
        """Give the running games up."""
        self._aborted = True
        self._client.cancel([future for _, _, future in self._running.values()], force=True)

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close()


def play_task(settings_text: str, task: GameTask) -> dict[str, Any]:
    """Play one game on a worker; its engines are its own processes there."""
    settings = MatchSettings.from_json(json.loads(settings_text))
    seat = getattr(_seats, "slot", None)
    if seat is None or _seats.settings != settings_text:
        if seat is not None:
            seat.close()
        guardian = None if settings.in_process else Guardian()
        seat = _seats.slot = Slot(settings, 0, guardian)
        _seats.settings = settings_text
    played: Played = seat.play(task)
    return played.to_json()
