"""The memory shared by successive searches, its size, and the last forced win found."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from ..game.game import Game, Move, move_of
from ..game.position import Position
from ..game.result import Thought
from ..native.load.library import Library
from ..native.load.memory import DEFAULT_MEMORY, Block, footprint
from ..position.geometry import MAX_STONES
from ..position.rules import Side
from ..search.parameters import PARAMETERS
from ..solver import Solver
from ..threads import SearchThreads
from .alphabeta import Question, Search, Tactics
from .pacing import Limit, Pace

LARGEST, LEAST = 3 << 29, 1 << 20  # bytes of all tables
MOST_FOR_SOLVER = 16 << 20  # bytes of the solver's tables, at most
SOLVER_PART = 8  # the solver gets one part in this many of the memory for tables
PATIENT = 2.0  # seconds of a first search from which the tables get huge pages
RESERVE = 8 << 20  # for thread stacks and later allocations of Python
BUCKET_BYTES = 64
# Bytes of table per second and thread: room for all nodes of several moves. A larger table gains
# nothing, but its pages must be cleared and its lines fetched from farther: at half a second
# 300 MB cost half of the nodes of a game's first move, and more than a third of the next.
TABLE_RATE = 32 << 20
ENOUGH = 8 << 20


class ShortSearch(NamedTuple):
    """The result of a short search: the best move, its value, and the last position visited.

    ``end`` are the moves from the root to that position, an arbitrary one of the tree; None if
    the search ended before its limit. ``choices``: number of root moves.
    """

    move: Move
    value: int
    choices: int
    end: tuple[Move, ...] | None


class Searcher:
    """The memory kept between searches: table, workers and a solver of its own.

    ``memory``: bytes of the whole process, DEFAULT_MEMORY if both sizes are None; ``hash_size``:
    bytes of the tables within it, for searches of any length; ``threads``: of a search. Changes
    apply from the next search.
    """

    def __init__(self, library: Library) -> None:
        self.memory: int | None = None
        self.hash_size: int | None = None
        self.threads = 1
        self.is_stopped = False
        self.parameters = {name: p.default for name, p in PARAMETERS.items()}
        self.library = library
        self.table_bytes = 0
        self.game_memory = Block(library.sizes["worker"])  # contains the engine's game
        self.blocks: list[Block] = []  # the first contains the parameters and the stop flag
        self._solver: Solver | None = None  # created on first use, freed with the tables
        self._for_solver = 0  # bytes
        self._request: tuple[int | None, int | None, int] = (0, None, 0)
        self._enough = LARGEST  # useful bytes for the search length the tables were made for
        self._guard = threading.Lock()  # stop() writes to memory that may be replaced

    def set_parameter(self, name: str, value: int) -> None:
        """Set a search parameter."""
        self.parameters[name] = value
        if self.blocks:
            number = list(PARAMETERS).index(name)
            self.library.set_parameter(self.blocks[0].address, number, value)

    def search(self, question: Question) -> Thought | None:
        """Search until the limit; return the best thought, or None if time was too short."""
        self.prepare(question.limit)
        share, tactics = self.parameters["threat_share"], None
        if share and not question.exclude and question.multipv == 1:
            if self._solver is None:
                self._solver = Solver(self._for_solver, self.library)
            self._solver.release()
            hot = self.parameters["threat_hot"]
            tactics = Tactics(self._solver, question.game, share, hot)
        if self.is_stopped:  # stopped before the memory existed or the solver was released
            self.stop()
        shared, *others = [block.address for block in self.blocks]
        workers = [self.game_memory.address, *others]
        search = Search(self.library, workers, shared, question, tactics)
        try:
            question.pace.set_stop(self.stop)
            SearchThreads(self.stop).run(search.lead, *search.helpers)
        finally:
            question.pace.set_stop(None)
        return search.answer()

    # Memory ------------------------------------------------------------------------

    def prepare(self, limit: Limit) -> None:
        """Allocate memory of the size that settings and limit call for.

        If searches are at least twice as long as before, the tables are replaced by larger ones,
        empty.
        """
        request = (self.memory, self.hash_size, self.threads)
        seconds = limit.time if limit.optimum is None else limit.optimum
        enough = LARGEST
        if self.hash_size is None and seconds is not None:
            useful = int(min(seconds * TABLE_RATE, LARGEST)) * self.threads
            enough = min(max(ENOUGH, useful), LARGEST)
        if self.blocks and (request != self._request or enough >= 2 * self._enough):
            self.clear()
        if not self.blocks:
            self._request, self._enough = request, enough
            wanted, memory = self.hash_size, self.memory
            if wanted is None:
                wanted, memory = enough, DEFAULT_MEMORY if memory is None else memory
            if memory is not None:  # the game's worker is part of the footprint
                others = (self.threads - 1) * self.library.sizes["worker"]
                left = memory - footprint() - others - RESERVE
                wanted = min(wanted, left * 15 // 16)
            wanted = max(LEAST, min(wanted, LARGEST))
            self._for_solver = min(wanted // SOLVER_PART, MOST_FOR_SOLVER)
            length = max(wanted - self._for_solver, LEAST)
            is_patient = limit.time is None or limit.time >= PATIENT
            buckets = length // BUCKET_BYTES
            self.table_bytes = buckets * BUCKET_BYTES
            head = self.library.sizes["shared_head"]
            shared = Block(head + self.table_bytes, huge=is_patient)
            self.library.shared_new(shared.address, buckets)
            workers = [Block(self.library.sizes["worker"]) for _ in range(1, self.threads)]
            blocks = [shared, *workers]
            for number, name in enumerate(PARAMETERS):
                self.library.set_parameter(blocks[0].address, number, self.parameters[name])
            self.blocks = blocks

    def clear(self) -> None:
        """Free the tables and the solver."""
        with self._guard:
            solver, self._solver = self._solver, None
            for block in self.blocks:
                block.close()
            self.blocks, self.table_bytes = [], 0
        if solver is not None:
            solver.close()

    def stop(self) -> None:
        """Make running searches return; thread-safe."""
        self.is_stopped = True
        with self._guard:
            if self.blocks:
                self.library.shared_stop(self.blocks[0].address, True)
            if self._solver is not None:
                self._solver.stop()

    def release(self) -> None:
        """Let searches run again after a stop."""
        self.is_stopped = False
        if self.blocks:
            self.library.shared_stop(self.blocks[0].address, False)

    def forget_game(self) -> None:
        """Forget history and counter moves."""
        for worker in (self.game_memory, *self.blocks[1:]):
            self.library.worker_forget(worker.address)

    def search_nodes(self, game: Game, nodes: int) -> ShortSearch | None:
        """Search ``nodes`` on this thread, after ``prepare``; None if every move is forbidden."""
        worker, limit, start = self.game_memory.address, Limit(nodes=nodes), perf_counter()
        question = Question(game, limit, Pace.of(limit, start), start, is_short=True)
        search = Search(self.library, [worker], self.blocks[0].address, question, None)
        search.lead()
        if search.best is None:
            return None
        cells = (ctypes.c_int64 * MAX_STONES)()
        stones = self.library.worker_end(worker, ctypes.addressof(cells))
        end = tuple(map(move_of, cells[game.ply : stones])) if stones else None
        return ShortSearch(
            search.best.move, search.best.value, search.count(worker).root_moves, end
        )


class WinningMoves:
    """The winner's moves of the last forced win found, by position."""

    def __init__(self) -> None:
        self._moves: dict[Position, tuple[Move, int]] = {}

    def note(self, game: Game, line: Sequence[Move], value: int) -> None:
        """Remember a win of the side to move: its line, and the value at its start."""
        self._moves = {}
        position = game.position
        for number, move in enumerate(line):
            if number % 2 == 0:
                self._moves[position] = (move, value + number)
            position = position.after(move)

    def recall(self, game: Game) -> tuple[Move, int] | None:
        """Return the winning move and its value if the game is on the line."""
        found = self._moves.get(game.position) if self._moves else None
        if found is None or game.at(*found[0]) is not Side.EMPTY or game.is_forbidden(*found[0]):
            return None
        return found
