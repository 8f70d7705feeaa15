"""The engine as the layers above see it: a game, and thinking about it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter

from .eval.weights import Weights, load_weights
from .game import Game, Move, layout_of, move_of
from .native.footprint import footprint
from .native.library import Library, load
from .native.memory import Block
from .position.geometry import cell_of
from .position.rules import Rule, Side
from .search.params import PARAMETERS, index_of
from .values import WIN_BAND, mate_distance

DEFAULT_WEIGHTS = "hand"
DEFAULT_MEMORY = 350_000_000
MAX_THREADS = 64
MAX_DEPTH = 200
MAX_LINE = 64  # moves of a line that a thought reports
STACK_BYTES = 16 << 20
BUCKET_BYTES = 64
MAX_TABLE = 3 << 29
MIN_TABLE = 1 << 20
UNLIMITED_NODES = 1 << 62
RESERVE = 8 << 20  # for thread stacks, and what Python still allocates after the table


class EngineError(Exception):
    """The engine was asked for something that it cannot do."""


@dataclass(frozen=True, slots=True)
class Limit:
    """When to stop thinking; whatever comes first, and None means no such limit.

    ``time``: seconds after which the move must be there. ``optimum``: seconds after which
    no further iteration is begun. ``nodes``: positions searched by the first thread.
    ``depth``: plies of the last iteration.
    """

    time: float | None = None
    optimum: float | None = None
    nodes: int | None = None
    depth: int | None = None


@dataclass(frozen=True, slots=True)
class Thought:
    """What a search found out: its move, the value for the side to move, and the line.

    ``value`` is in the units of ``values.py``; ``depth`` in completed plies, ``seldepth`` the
    deepest ply reached, ``time`` in seconds, ``changes`` how often the best move changed in
    this iteration, ``multipv`` the rank of the line, 1 for the best.
    """

    move: Move | None
    value: int
    depth: int
    seldepth: int
    nodes: int
    time: float
    pv: tuple[Move, ...]
    multipv: int = 1
    changes: int = 0

    @property
    def mate(self) -> int | None:
        """Plies to the forced win, negative to the forced loss, None for an ordinary value."""
        return mate_distance(self.value)


class _Deadline:
    """A thread that sets the stop flag when the time is over; the time may change meanwhile."""

    def __init__(self, start: float, stop: Callable[[], None]) -> None:
        self.start = start
        self.hard: float | None = None
        self.optimum: float | None = None
        self._stop = stop
        self._changed = threading.Condition()
        self._over = False
        self._thread: threading.Thread | None = None

    def set(self, hard: float | None, optimum: float | None) -> None:
        """Set new limits, in seconds from the start."""
        with self._changed:
            self.hard = hard
            self.optimum = optimum
            if hard is not None and self._thread is None and not self._over:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            self._changed.notify()

    def end(self) -> None:
        """Let the thread go."""
        with self._changed:
            self._over = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._over:
                left = None if self.hard is None else self.start + self.hard - perf_counter()
                if left is not None and left <= 0:
                    self._stop()
                    return
                self._changed.wait(left)

    def is_past_optimum(self) -> bool:
        """Say whether a new iteration is not worth beginning."""
        elapsed = perf_counter() - self.start
        limits = [limit for limit in (self.hard, self.optimum) if limit is not None]
        return bool(limits) and elapsed >= min(limits)


class Engine:
    """A Gomoku engine: set up a game, think about it, several independent ones in a process.

    >>> with Engine(memory=50_000_000) as engine:
    ...     engine.new_game(15)
    ...     engine.play(7, 7)
    ...     thought = engine.think(Limit(depth=4))
    >>> thought.depth
    4
    >>> thought.move in engine.game.moves
    False
    """

    def __init__(
        self,
        *,
        memory: int = DEFAULT_MEMORY,
        threads: int = 1,
        hash_size: int | None = None,
        level: str | None = None,
        weights: str = DEFAULT_WEIGHTS,
        parameters: dict[str, int] | None = None,
    ) -> None:
        """Load the kernel and weights, and begin a 15x15 freestyle game.

        ``memory``: bytes the whole process may use, from which the table is sized;
        ``hash_size``: bytes of the table, overriding that; ``level``: the kernel's
        instruction set level (default: the best of this processor); ``weights``: a built-in
        name or a file; ``parameters``: search parameters that differ from the defaults.

        Raises:
            KernelError: there is no compiled kernel for this machine.
            WeightsError: the weights cannot be read.
            KeyError: there is no such search parameter.
        """
        self.library: Library = load(level)
        self.weights: Weights = load_weights(weights)
        self._layout = layout_of(self.library)
        self._memory = memory
        self._hash_size = hash_size
        self._threads = max(1, min(threads, MAX_THREADS))
        self._shared: Block | None = None
        self._table_bytes = 0
        self._request: tuple[int, int | None, int] = (0, None, 0)
        self._parameters = {name: p.default for name, p in PARAMETERS.items()}
        for name, value in (parameters or {}).items():
            index_of(name)
            self._parameters[name] = value
        self._workers = [Block(self._layout.worker)]
        self._deadline: _Deadline | None = None
        self._armed = False
        self._stop_wanted = False
        self._busy = threading.Lock()
        self._guard = threading.Lock()  # stop() writes to the shared block, which may be replaced
        self.game = self._fresh_game(15, 15, Rule.FREESTYLE, self._workers[0])

    # The game ----------------------------------------------------------------------

    def _fresh_game(self, width: int, height: int, rule: Rule, memory: Block) -> Game:
        return Game(
            width, height, rule, library=self.library, weights=self.weights, memory=memory
        )

    def new_game(
        self, width: int = 15, height: int | None = None, rule: Rule = Rule.FREESTYLE
    ) -> None:
        """Begin a game on an empty board.

        Raises:
            ValueError: the board is smaller than 5 or larger than 22 either way.
        """
        height = width if height is None else height
        game = self._fresh_game(width, height, rule, self._workers[0])
        if (width, height, rule) != (self.game.width, self.game.height, self.game.rule):
            self.clear_hash()
        self.game = game
        for worker in self._workers:
            self.library.worker_forget(worker.address)

    def set_rule(self, rule: Rule) -> None:
        """Change the rule; the stones stay."""
        if rule is self.game.rule:
            return
        old = self.game
        self.game = self._fresh_game(old.width, old.height, rule, self._workers[0])
        old.copy_to(self.game)
        self.clear_hash()

    def play(self, x: int, y: int) -> None:
        """Play a stone of the side to move; raises IllegalMove."""
        self.game.play(x, y)

    def place(self, x: int, y: int, side: Side) -> None:
        """Put a stone of any side, or a blocked cell, without passing the turn."""
        self.game.place(x, y, side)

    def undo(self) -> None:
        """Take the last stone back; IndexError if there is none."""
        self.game.undo()

    def set_to_move(self, side: Side) -> None:
        """Give a side the move."""
        self.game.set_to_move(side)

    # Settings ----------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """How many threads a search uses."""
        return self._threads

    def set_threads(self, threads: int) -> None:
        """Use this many threads from the next search on, at most 64."""
        self._threads = max(1, min(threads, MAX_THREADS))

    def set_memory(self, memory: int) -> None:
        """Let the whole process use this many bytes; the table takes what is left."""
        self._memory = memory

    def set_hash_size(self, length: int | None) -> None:
        """Give the table this many bytes; None: as much as the memory limit leaves."""
        self._hash_size = length

    def set_parameter(self, name: str, value: int) -> None:
        """Set a search parameter; KeyError if there is none of this name."""
        number = index_of(name)
        self._parameters[name] = value
        if self._shared is not None:
            self.library.shared_parameter(self._shared.address, number, value)

    def clear_hash(self) -> None:
        """Forget what earlier searches found out."""
        self._unshare()
        for worker in self._workers:
            self.library.worker_forget(worker.address)

    @property
    def table_bytes(self) -> int:
        """The size of the transposition table, or 0 while there is none."""
        return self._table_bytes if self._shared is not None else 0

    def _share(self) -> Block:
        """Return the shared block, with a table of the size that the settings ask for."""
        request = (self._memory, self._hash_size, self._threads)
        if self._shared is not None and request != self._request:
            self._unshare()
        if self._shared is None:
            self._request = request
            self._table_bytes = self._wanted_bytes()
            block = Block(self._layout.shared_head + self._table_bytes, huge=True)
            self.library.shared_new(block.address, self._table_bytes // BUCKET_BYTES)
            for name, value in self._parameters.items():
                self.library.shared_parameter(block.address, index_of(name), value)
            self._shared = block
        return self._shared

    def _unshare(self) -> None:
        """Give the memory of the table back."""
        with self._guard:
            shared, self._shared = self._shared, None
        if shared is not None:
            shared.close()

    def _wanted_bytes(self) -> int:
        """Return the table size: what the memory limit leaves beside everything else."""
        wanted = self._hash_size
        if wanted is None:
            more_workers = (self._threads - len(self._workers)) * self._layout.worker
            wanted = (self._memory - footprint() - more_workers - RESERVE) * 15 // 16
        return max(MIN_TABLE, min(wanted, MAX_TABLE)) // BUCKET_BYTES * BUCKET_BYTES

    # Thinking ----------------------------------------------------------------------

    def arm(self) -> None:
        """Announce the next ``think``: a ``stop`` from now on ends it, even before it begins."""
        self._armed = True
        self._release()

    def stop(self) -> None:
        """Make the running (or announced) think return its best move; from any thread."""
        self._stop_wanted = True
        with self._guard:
            if self._shared is not None:
                self.library.shared_stop(self._shared.address, 1)

    def _release(self) -> None:
        self._stop_wanted = False
        if self._shared is not None:
            self.library.shared_stop(self._shared.address, 0)

    def set_deadline(self, hard: float | None, optimum: float | None = None) -> None:
        """Change the time limits of the running think, in seconds from its start."""
        deadline = self._deadline
        if deadline is not None:
            deadline.set(hard, optimum)

    def quick_move(self) -> Move:
        """Return a sensible legal move at once, without a search.

        Raises:
            EngineError: there is no empty cell.
        """
        move = self.game.quick_move()
        if move is None:  # every empty cell is forbidden: any of them, so that play goes on
            if self.game.is_full:
                raise EngineError("the board is full")
            cells = (Move(x, y) for y in range(self.game.height) for x in range(self.game.width))
            move = next(cell for cell in cells if self.game.at(*cell) is Side.EMPTY)
        return move

    def think(
        self,
        limit: Limit,
        *,
        on_iteration: Callable[[Thought], bool | None] | None = None,
        multipv: int = 1,
        exclude: Iterable[Move] = (),
    ) -> Thought:
        """Search for the best move until the limit or ``stop``; blocks the calling thread.

        ``on_iteration`` gets every finished iteration (each of the ``multipv`` lines); if it
        returns True for the best line, no further iteration is begun. ``exclude``: cells
        not to be played, unless nothing else is left. With a time of zero or less the answer
        comes without a search.

        Raises:
            EngineError: there is no empty cell, or a think is running already.
        """
        start = perf_counter()
        if not self._busy.acquire(blocking=False):
            raise EngineError("the engine is thinking already")
        try:
            if not self._armed:
                self._release()
            self._armed = False
            if limit.time is not None and limit.time <= 0:
                move = self.quick_move()
                return Thought(move, 0, 0, 0, 0, perf_counter() - start, (move,))
            search = _Search(self, limit, start, on_iteration, max(1, multipv))
            return search.run(list(exclude))
        finally:
            self._deadline = None
            self._busy.release()

    def close(self) -> None:
        """Stop a running think and give the memory of the table back."""
        self.stop()
        with self._busy:
            self._unshare()

    def __enter__(self) -> Engine:
        """Return the engine itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the engine."""
        self.close()


class _Search:
    """One think: the worker threads, the deadline, and the thoughts as they come."""

    def __init__(
        self,
        engine: Engine,
        limit: Limit,
        start: float,
        on_iteration: Callable[[Thought], bool | None] | None,
        multipv: int,
    ) -> None:
        self.engine = engine
        self.library = engine.library
        self.limit = limit
        self.start = start
        self.on_iteration = on_iteration
        self.multipv = multipv
        self.shared = engine._share().address
        self.best: Thought | None = None
        self.error: BaseException | None = None
        self.tables = engine.game._tables.address
        self.deadline = _Deadline(start, self._stop_all)
        self._done: list[threading.Event] = []  # one a thread
        self._counters = (ctypes.c_int64 * 6)()
        self._line = (ctypes.c_int64 * (MAX_LINE + 1))()

    def run(self, exclude: list[Move]) -> Thought:
        """Search with all threads and return the last thought of the first one."""
        engine = self.engine
        if engine._stop_wanted:  # it came before the shared block was there
            self.library.shared_stop(self.shared, 1)
        self.library.shared_age(self.shared)
        workers = self._set_up_workers(exclude)
        engine._deadline = self.deadline
        self.deadline.set(self.limit.time, self.limit.optimum)
        before = threading.stack_size(STACK_BYTES)
        self._start(self._lead, workers[0])
        for number, worker in enumerate(workers[1:], 1):
            self._start(self._help, worker, number)
        threading.stack_size(before)
        try:
            self._wait()
        finally:
            self.deadline.end()
        if self.error is not None:
            raise self.error
        if self.best is None:
            move = engine.quick_move()
            return Thought(move, 0, 0, 0, 0, perf_counter() - self.start, (move,))
        return self.best

    def _stop_all(self) -> None:
        self.library.shared_stop(self.shared, 1)

    def _start(self, work: Callable[..., None], *arguments: int) -> None:
        """Run a thread's work and note when it has ended."""
        done = threading.Event()

        def run() -> None:
            try:
                work(*arguments)
            finally:
                done.set()

        self._done.append(done)
        threading.Thread(target=run, daemon=True).start()

    def _wait(self) -> None:
        """Wait for all threads; an interrupt stops them and is raised when they have ended.

        Not by ``Thread.join``: interrupted, it takes a running thread for one that has
        ended, and the memory would be taken away under a search.
        """
        interrupt: BaseException | None = None
        while True:
            try:
                for done in self._done:
                    done.wait()
                break
            except BaseException as error:
                interrupt = error
                self._stop_all()
        if interrupt is not None:
            raise interrupt

    def _set_up_workers(self, exclude: list[Move]) -> list[int]:
        """Give every thread a worker with the game on it; return their addresses."""
        engine = self.engine
        while len(engine._workers) < engine.threads:
            engine._workers.append(Block(engine._layout.worker))
        workers = [block.address for block in engine._workers[: engine.threads]]
        game = engine.game
        for block in engine._workers[1 : engine.threads]:
            copy = engine._fresh_game(game.width, game.height, game.rule, block)
            game.copy_to(copy)
        nodes = self.limit.nodes
        for number, worker in enumerate(workers):
            self.library.worker_bar(worker, 0)
            for move in exclude:
                self.library.worker_bar(worker, cell_of(*move))
            self.library.worker_fade(worker)
            limit = nodes if nodes is not None and number == 0 else UNLIMITED_NODES
            self.library.worker_prepare(worker, self.tables, self.shared, limit)
        return workers

    def _help(self, worker: int, number: int) -> None:
        """Search beside the first thread, one ply deeper every other time, until stopped."""
        depth = 1 + number % 2
        while depth <= MAX_DEPTH:
            if not self.library.worker_iterate(worker, self.tables, self.shared, depth, 0):
                return
            depth += 1

    def _lead(self, worker: int) -> None:
        """Run the iterations, report them, decide when to stop, then stop the others."""
        try:
            self._iterate(worker)
        except BaseException as error:  # it is raised again where think was called
            self.error = error
        finally:
            self._stop_all()

    def _iterate(self, worker: int) -> None:
        root_moves = self._count(worker, 5)
        if root_moves == 0:
            return
        lines = min(self.multipv, root_moves)
        last_depth = min(self.limit.depth or MAX_DEPTH, MAX_DEPTH)
        found_at = 0
        for depth in range(1, last_depth + 1):
            for line in range(lines):
                done = self.library.worker_iterate(worker, self.tables, self.shared, depth, line)
                if not done and line > 0:
                    return
                thought = self._read(worker, line, depth if done else depth - 1)
                if line == 0:
                    self.best = thought
                if not done:
                    return
                enough = self.on_iteration(thought) if self.on_iteration else False
                if line == 0 and enough:
                    return
            best = self.best
            assert best is not None
            if self._is_settled(best, depth, root_moves):
                return
            if abs(best.value) >= WIN_BAND:
                found_at = found_at or depth
                if depth >= found_at + 4 or depth >= abs(best.mate or 0):
                    return
            if self.deadline.is_past_optimum():
                return

    def _is_settled(self, best: Thought, depth: int, root_moves: int) -> bool:
        """Say whether thinking on cannot change the move: there is only one."""
        timed = self.limit.time is not None and self.limit.depth is None
        return timed and root_moves == 1 and self.multipv == 1 and depth >= 4

    def _count(self, worker: int, number: int) -> int:
        self.library.worker_counters(worker, ctypes.addressof(self._counters))
        return self._counters[number]

    def _read(self, worker: int, line: int, depth: int) -> Thought:
        """Make a thought of what the worker knows about one of its lines."""
        out = self._line
        length = self.library.worker_line(worker, line, ctypes.addressof(out), MAX_LINE)
        pv = tuple(move_of(out[i + 1]) for i in range(length))
        value = out[0]
        if value < -WIN_BAND - 2000:  # never searched: stopped at once
            value = self.best.value if self.best else 0
        self._count(worker, 0)
        nodes, seldepth, _, changes = self._counters[:4]
        seconds = perf_counter() - self.start
        return Thought(pv[0], value, depth, seldepth, nodes, seconds, pv, line + 1, changes)
