"""Who searches for a book: processes of this machine, or the workers of a Dask cluster.

Either may die: what it was searching is given to another one, and a result that has arrived is
never asked for again.
"""

from __future__ import annotations

import queue
from abc import ABC, abstractmethod
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from ...arena.match.cluster import ATTEMPTS, answers, connect, is_lost
from ...arena.settings import SettingsError
from ...helpers import CHECK_SECONDS, dismiss, start_helpers
from ..connection import DatabaseError
from .search import Job, Result, search_position


class Workers(ABC):
    """Searches under way."""

    def __init__(self) -> None:
        """Begin with none."""
        self._results: queue.SimpleQueue[tuple[Job, int, Any]] = queue.SimpleQueue()
        self._attempts: dict[bytes, int] = {}
        self.running: set[bytes] = set()  # keys of positions

    @property
    @abstractmethod
    def capacity(self) -> int:
        """How many searches are under way at best."""

    def submit(self, job: Job) -> None:
        """Give a position to somebody."""
        self.running.add(job.key)
        attempt = self._attempts.setdefault(job.key, 0)
        future = self._start(job, attempt)
        future.add_done_callback(lambda done: self._results.put((job, attempt, done)))

    @abstractmethod
    def _start(self, job: Job, attempt: int) -> Any:
        """Begin a search; return its future."""

    def next(self) -> Result:
        """Wait for a search to end and return what it found.

        A search whose worker has died is given to another one.
        """
        while True:
            try:
                job, attempt, future = self._results.get(timeout=CHECK_SECONDS)
            except queue.Empty:
                self._check()
                continue
            if self._attempts.get(job.key) != attempt:
                continue  # begun again in the meantime
            try:
                result: Result = future.result()
            except BaseException as error:
                if not self._is_lost(error) or attempt >= ATTEMPTS:
                    raise
                self._attempts[job.key] = attempt + 1
                self.submit(job)
                continue
            self.running.discard(job.key)
            del self._attempts[job.key]
            return result

    def _check(self) -> None:  # noqa: B027
        """Raise DatabaseError if no search can end any more."""

    @abstractmethod
    def _is_lost(self, error: BaseException) -> bool:
        """Say whether a search ended because its worker did."""

    @abstractmethod
    def close(self) -> None:
        """Give up what is under way."""


class LocalWorkers(Workers):
    """Processes of this machine."""

    def __init__(self, processes: int) -> None:
        """Begin; the processes are started when they are needed."""
        super().__init__()
        self._processes = processes
        self._executor = start_helpers(processes)

    @property
    def capacity(self) -> int:
        """How many searches are under way at best."""
        return self._processes

    def _start(self, job: Job, attempt: int) -> Future[Result]:
        try:
            return self._executor.submit(search_position, job)
        except BrokenProcessPool:
            self._executor = start_helpers(self._processes)
            return self._executor.submit(search_position, job)

    def _is_lost(self, error: BaseException) -> bool:
        return isinstance(error, BrokenProcessPool)

    def close(self) -> None:
        """Give up what is under way."""
        dismiss(self._executor)


class ClusterWorkers(Workers):
    """The workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            DatabaseError: Dask is not installed, or the scheduler does not answer.
        """
        super().__init__()
        try:
            self._client = connect(address)
        except SettingsError as error:
            raise DatabaseError(str(error)) from None
        self._futures: dict[bytes, Any] = {}

    @property
    def capacity(self) -> int:
        """The threads of all workers at this moment; one more waits, so that none is idle."""
        return int(sum(self._client.nthreads().values())) + 1

    def _start(self, job: Job, attempt: int) -> Any:
        name = f"numoku-{id(self)}-{job.key.hex()}-{attempt}"
        future = self._client.submit(search_position, job, key=name, pure=False)
        self._futures[job.key] = future  # which Dask forgets otherwise
        return future

    def _is_lost(self, error: BaseException) -> bool:
        return is_lost(error)

    def _check(self) -> None:
        if not answers(self._client):
            raise DatabaseError("the cluster does not answer any more; the same command goes on")

    def close(self) -> None:
        """Give up what is under way."""
        self._client.cancel(list(self._futures.values()), force=True)
        self._client.close()
