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

from pbrain_engine.arena.guardian import Guardian
from pbrain_engine.arena.played import Played
from pbrain_engine.arena.pool import Slot
from pbrain_engine.arena.referee import GameTask
from pbrain_engine.arena.settings import MatchSettings, SettingsError

CONNECT_TIMEOUT = 15
RETRIES = 20  # workers that may die under one game before it is given up

_seats = threading.local()


class ClusterPool:
    """As many games at once as the cluster's workers have threads."""

    def __init__(self, settings: MatchSettings) -> None:
        """Connect to the scheduler.

        Raises:
            SettingsError: Dask is not installed, or the scheduler does not answer.
        """
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise SettingsError(
                "--cluster needs Dask: pip install 'pbrain-numoku[cluster]'"
            ) from None
        dask.config.set({"distributed.scheduler.allowed-failures": RETRIES})
        try:
            self._client = Client(settings.cluster, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise SettingsError(f"no cluster at {settings.cluster}: {error}") from None
        self._settings = json.dumps(settings.to_json())
        self._results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._aborted = False

    @property
    def capacity(self) -> int:
        """The threads of all workers at this moment; one more waits, so that none is idle."""
        return int(sum(self._client.nthreads().values())) + 1

    def submit(self, task: GameTask) -> None:
        """Send a game to the cluster."""
        future = self._client.submit(
            play_task,
            self._settings,
            task,
            key=f"numoku-game-{task.game}-{id(self)}",
            pure=False,
            retries=RETRIES,
        )
        self._futures[task.game] = future
        future.add_done_callback(self._results.put)

    def next_result(self, timeout: float) -> Played | None:
        """Return a finished game, or None if none finishes in time."""
        try:
            future = self._results.get(timeout=timeout)
        except queue.Empty:
            return None
        if self._aborted or future.cancelled():
            return None
        played = Played.from_json(future.result())
        self._futures.pop(played.game).release()
        return played

    def abort(self) -> None:
        """Give the running games up."""
        self._aborted = True
        self._client.cancel(list(self._futures.values()), force=True)

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
