"""The alpha-beta as a searcher: a worker for each thread, and a table that all of them share."""

from __future__ import annotations

from ..game.game import layout_of
from ..native.load.library import Library
from ..native.load.memory import Block
from ..position.geometry import NO_CELL, cell_of
from ..search.alphabeta.params import NAMES, PARAMETERS
from .search import AlphaBetaSearch
from .searcher import Question

BUCKET_BYTES = 64
LEAST_TABLE = 1 << 20
UNLIMITED_NODES = 1 << 62
# Bytes of table for a second of a thread: room for all nodes of some moves. A larger table is not
# fuller, but its pages have to be cleared and its lines fetched from farther: at half a second
# 300 MB cost half of the nodes of a game's first move, and more than a third of the next.
TABLE_RATE = 32 << 20
ENOUGH = 8 << 20
EVERYTHING = 1 << 62  # bytes


class AlphaBeta:
    """The memory of the alpha-beta."""

    def __init__(self, library: Library) -> None:
        """Begin without a table."""
        self._library = library
        self._layout = layout_of(library)
        self._workers = [Block(self._layout.worker)]
        self._shared: Block | None = None
        self._table_bytes = 0
        self._parameters = {name: p.default for name, p in PARAMETERS.items()}

    @property
    def game_memory(self) -> Block:
        """The first worker, which begins with its game."""
        return self._workers[0]

    @property
    def table_bytes(self) -> int:
        """The size of the transposition table, or 0 while there is none."""
        return self._table_bytes if self._shared is not None else 0

    def beside(self, threads: int) -> int:
        """Return the bytes of the workers that so many threads have to be given yet."""
        return (threads - len(self._workers)) * self._layout.worker

    def enough(self, seconds: float, threads: int) -> int:
        """Return the bytes that the nodes of a few such searches fill."""
        return max(ENOUGH, int(min(seconds * TABLE_RATE, EVERYTHING)) * threads)

    def set_parameter(self, name: str, value: int) -> None:
        """Take a parameter of the alpha-beta over."""
        if name in NAMES:
            self._parameters[name] = value
            if self._shared is not None:
                self._library.shared_parameter(self._shared.address, NAMES.index(name), value)

    def forget_game(self) -> None:
        """Forget history and counter moves."""
        for worker in self._workers:
            self._library.worker_forget(worker.address)

    def prepare(self, length: int, patient: bool) -> None:
        """Take a table of so many bytes, unless there is one."""
        if self._shared is not None:
            return
        self._table_bytes = max(LEAST_TABLE, length) // BUCKET_BYTES * BUCKET_BYTES
        block = Block(self._layout.shared_head + self._table_bytes, huge=patient)
        self._library.shared_new(block.address, self._table_bytes // BUCKET_BYTES)
        for name, value in self._parameters.items():
            self._library.shared_parameter(block.address, NAMES.index(name), value)
        self._shared = block

    def clear(self) -> None:
        """Give the memory of the table and of all workers but the first back."""
        shared, self._shared = self._shared, None
        others, self._workers = self._workers[1:], self._workers[:1]
        for block in (shared, *others):
            if block is not None:
                block.close()

    def stop(self) -> None:
        """Make all threads return."""
        if self._shared is not None:
            self._library.shared_stop(self._shared.address, 1)

    def release(self) -> None:
        """Make them free to run again."""
        if self._shared is not None:
            self._library.shared_stop(self._shared.address, 0)

    def begin(self, question: Question, threads: int) -> AlphaBetaSearch:
        """Give every thread a worker with the game on it, ready to search."""
        assert self._shared is not None, "prepare comes first"
        shared = self._shared.address
        self._library.shared_age(shared)
        workers = self._prepare_workers(question, shared, threads)
        return AlphaBetaSearch(self._library, workers, shared, question)

    def _prepare_workers(self, question: Question, shared: int, threads: int) -> list[int]:
        """Return the addresses of prepared workers."""
        while len(self._workers) < threads:
            self._workers.append(Block(self._layout.worker))
        game, limit = question.game, question.limit
        for block in self._workers[1:threads]:
            game.copy_to(game.like(block))
        workers = [block.address for block in self._workers[:threads]]
        most = UNLIMITED_NODES if limit.nodes is None else min(limit.nodes, UNLIMITED_NODES)
        for number, worker in enumerate(workers):
            self._library.worker_bar(worker, NO_CELL)
            for move in question.exclude:
                self._library.worker_bar(worker, cell_of(*move))
            self._library.worker_fade(worker)
            nodes = most if number == 0 else UNLIMITED_NODES
            distinct = int(question.multipv == 1)
            self._library.worker_prepare(worker, game.tables, shared, nodes, distinct)
        return workers
