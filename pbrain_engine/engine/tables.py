"""What searches remember from one to the next: how large that memory is, and until when."""

from __future__ import annotations

import threading

from ..native.load.footprint import DEFAULT_MEMORY, footprint
from ..native.load.library import Library
from ..solver.solver import Solver
from .searcher import Searcher
from .thought import Limit

LARGEST, LEAST = 3 << 29, 1 << 20  # bytes of all tables
MOST_FOR_SOLVER = 16 << 20  # bytes of the tables of the threat searches
SOLVER_PART = 8  # which get one part in so many of what there is for tables
PATIENT = 2.0  # seconds of a first search from which the tables get large pages
RESERVE = 8 << 20  # for thread stacks, and what Python still allocates after the table


class Tables:
    """The tables of a searcher and the solver beside it, which are there from the first search on.

    ``memory``: bytes of the whole process, DEFAULT_MEMORY where nothing is said about either;
    ``hash_size``: bytes of the tables within that, however short the searches are; ``threads``:
    of a search. A change counts from the next search on.
    """

    def __init__(
        self,
        searcher: Searcher,
        library: Library,
        memory: int | None,
        hash_size: int | None,
        threads: int,
    ) -> None:
        """Begin without any table."""
        self.memory = memory
        self.hash_size = hash_size
        self.threads = threads
        self.solver: Solver | None = None
        self._searcher = searcher
        self._library = library
        self._request: tuple[int | None, int | None, int] = (0, None, 0)
        self._enough = LARGEST  # for searches as long as those that the tables were made for
        self._guard = threading.Lock()  # stop() writes to memory that may be replaced

    def prepare(self, limit: Limit) -> None:
        """Make sure that the searcher has memory of the size that settings and limit ask for.

        It grows, and what it holds is lost, where searches are twice as long as before.
        """
        request = (self.memory, self.hash_size, self.threads)
        enough = LARGEST if self.hash_size is not None else self._enough_for(limit)
        if self.solver is not None and (request != self._request or enough >= 2 * self._enough):
            self.drop()
        if self.solver is None:
            self._request, self._enough = request, enough
            wanted = self._wanted(enough)
            patient = limit.time is None or limit.time >= PATIENT
            for_solver = min(wanted // SOLVER_PART, MOST_FOR_SOLVER)
            self._searcher.prepare(wanted - for_solver, patient)
            self.solver = Solver(for_solver, self._library)

    def drop(self) -> None:
        """Give the memory of the searcher and the solver back."""
        with self._guard:
            solver, self.solver = self.solver, None
            self._searcher.clear()
        if solver is not None:
            solver.close()

    def stop(self) -> None:
        """Make running searches return; from any thread."""
        with self._guard:
            self._searcher.stop()
            if self.solver is not None:
                self.solver.stop()

    def release(self) -> None:
        """Make searches free to run again."""
        self._searcher.release()
        if self.solver is not None:
            self.solver.release()

    def _enough_for(self, limit: Limit) -> int:
        """Return the bytes that are of use in searches of this length."""
        seconds = limit.time if limit.optimum is None else limit.optimum
        if seconds is None:
            return LARGEST
        return min(self._searcher.enough(seconds, self.threads), LARGEST)

    def _wanted(self, enough: int) -> int:
        """Return the size of all tables: what is of use, where the memory limit leaves as much."""
        wanted, memory = self.hash_size, self.memory
        if wanted is None:
            wanted, memory = enough, DEFAULT_MEMORY if memory is None else memory
        if memory is not None:
            beside = self._searcher.beside(self.threads)
            wanted = min(wanted, (memory - footprint() - beside - RESERVE) * 15 // 16)
        return max(LEAST, min(wanted, LARGEST))
