"""The threat solver: forced wins with their proofs, and the moves that stop them.

It needs only a game, no engine. Its answers are exact: a win holds against every legal reply, and
"none" means that the search was exhaustive; a search that ran out of time or nodes is reported as
open.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple

from .game.game import Game, Move, at_least_one, move_of
from .game.result import BY_FOURS, BY_THREATS, OPEN, Result, Tree, win_by
from .native.load.library import Library, load, node_limit
from .native.load.memory import Block
from .position.geometry import PADDED_CELLS, cell_of
from .threads import SearchThreads
from .values import loss_in


class SolverProgress(NamedTuple):
    """Progress of a long search: its ``level``, and the root's proof and disproof numbers."""

    nodes: int
    time: float
    level: int
    proof: int
    disproof: int


DEFAULT_MEMORY = 64_000_000
LINE_ROOM = 500
REPLAY_NODES = 50_000_000
LEAST_REPLAY = 100_000
SLICE_NODES = 10_000_000  # of a long search, between two reports
LARGE = 64_000_000  # bytes from which large pages pay off
QUICK_NODES = 2_000  # nodes that need no timer
FOURS_SHARE = 8  # the table of fours gets 1/8 of the memory


class Solver:
    """Finds forced wins in games; its tables last while board and rule stay the same.

    A game that a side has won is searched as if it went on.

    >>> from pbrain_engine.game.cells import parse_moves
    >>> game = Game(15)
    >>> for x, y in parse_moves("h8a1i8c1j8e1", 15):
    ...     game.play(x, y)
    >>> with Solver() as solver:
    ...     proof = solver.fours(game)
    >>> proof.claim, proof.length
    ('vcf', 2)
    """

    def __init__(self, memory: int = DEFAULT_MEMORY, library: Library | None = None) -> None:
        """Set the size of the tables to ``memory`` bytes.

        Raises:
            ValueError: ``memory`` is below 1.
            TypeError: ``memory`` is not a whole number.
            KernelError: there is no compiled kernel for this machine.
        """
        at_least_one(memory, "memory")
        self._library = library or load()
        self._buckets = max(memory // self._library.sizes["threats_bucket"], 64)
        self._block: Block | None = None
        self._board: tuple[object, ...] = ()
        self.is_stopped = False
        self._turn = threading.RLock()  # one thread at a time uses the block
        self._guard = threading.Lock()  # stop() writes to the block, which may be replaced

    # Memory ------------------------------------------------------------------------

    def clear(self) -> None:
        """Clear and free the tables."""
        with self._turn:
            with self._guard:
                block, self._block = self._block, None
            if block is not None:
                block.close()

    @contextmanager
    def _holding(self, game: Game) -> Iterator[tuple[int, int]]:
        """Copy the game next to the tables, cleared for a new board or rule.

        Yields the addresses of the copy and of the rule's tables. Other threads wait until
        the end of the ``with`` block.
        """
        if not isinstance(game, Game):
            raise TypeError(f"a solver is asked about a Game, not {game!r}")
        with self._turn:
            board = (game.width, game.height, game.rule, game.tables)
            if board != self._board:
                self.clear()
                self._board = board
            if self._block is None:
                sizes = self._library.sizes
                length = sizes["threats_head"] + self._buckets * sizes["threats_bucket"]
                block = Block(length, huge=length >= LARGE)
                fours = self._buckets // FOURS_SHARE
                self._library.threats_new(block.address, fours, self._buckets - fours)
                self._block = block
                self._library.threats_stop(block.address, self.is_stopped)
            address = self._block.address
            self._library.threats_copy_game(address, game.address)
            yield address, game.tables

    def _search(
        self, ask: Callable[..., int], address: int, *arguments: int, time: float | None
    ) -> int:
        """Return the result of a kernel search, stopped after a time or by an interrupt."""
        found: list[int] = []

        def halt() -> None:
            self._library.threats_stop(address, 1)

        left = threading.TIMEOUT_MAX if time is None else min(time, threading.TIMEOUT_MAX)
        timer = threading.Timer(max(0.0, left), halt)
        timer.daemon = True
        try:
            if time is not None:
                timer.start()
            SearchThreads(halt).run(lambda: found.append(ask(address, *arguments)))
        finally:
            if time is not None:
                timer.cancel()
                timer.join()
            with self._guard:
                self._library.threats_stop(address, self.is_stopped)
        return found[0]

    # Questions ---------------------------------------------------------------------

    def fours(self, game: Game, *, time: float | None = None, nodes: int | None = None) -> Result:
        """Search for a win of the side to move by continuous fours (VCF)."""
        kernel, limit = self._library, node_limit(nodes)
        budget = min(limit, QUICK_NODES)
        with self._holding(game) as (address, tables):
            start = perf_counter()
            stones = kernel.threats_fours(address, tables, budget)
            searched = kernel.threats_nodes(address)
            if stones < 0 and searched < limit and not self.is_stopped:
                budget = limit - searched
                stones = self._search(kernel.threats_fours, address, tables, budget, time=time)
                searched += kernel.threats_nodes(address)
            line = self._line_of(address, tables, stones, budget) if stones > 0 else ()
        proof = self._proof(BY_FOURS, stones, line, searched, start)
        return proof._replace(board=game.record())

    def threats(
        self,
        game: Game,
        *,
        time: float | None = None,
        nodes: int | None = None,
        after: Move | None = None,
    ) -> Result:
        """Search for a win of the side to move by fours and threats of fours (VCT).

        ``after``: a move to play first, so that the win is the opponent's.
        """
        kernel = self._library
        with self._holding(game) as (address, tables):
            start = perf_counter()
            if after is not None:
                kernel.game_play(address, tables, cell_of(*after))
            limit = node_limit(nodes)
            stones = self._search(kernel.threats_threes, address, tables, limit, time=time)
            searched, level = kernel.threats_nodes(address), kernel.threats_level(address)
            replay = min(max(4 * searched, LEAST_REPLAY), REPLAY_NODES)
            holds = stones > 0 and kernel.threats_replay(address, tables, replay)
            line = self._line_of(address, tables, 0, replay) if holds else ()
        proof = self._proof(BY_THREATS, stones, line, searched, start)
        board = game.record() if after is None else None
        return proof._replace(level=level, board=board)

    def _line_of(self, address: int, tables: int, fours: int, nodes: int) -> tuple[Move, ...]:
        out = (ctypes.c_int64 * LINE_ROOM)()
        room = ctypes.addressof(out), LINE_ROOM
        length = self._library.threats_line(address, tables, fours, nodes, *room)
        return tuple(map(move_of, out[:length]))

    def _proof(
        self, name: str, stones: int, line: tuple[Move, ...], nodes: int, start: float
    ) -> Result:
        """Return the result of a search.

        ``stones`` is 0 if there is provably no win, negative if the search was cut short.
        """
        claim = name if line else OPEN if stones else f"no-{name}"
        found = win_by(claim, line) if line else Result(claim=claim)
        return found._replace(nodes=nodes, time=perf_counter() - start)

    def prove(
        self,
        game: Game,
        *,
        time: float | None = None,
        nodes: int | None = None,
        listener: Callable[[SolverProgress], None] | None = None,
    ) -> Result:
        """Search like ``threats``, without a limit by default, reporting to the listener.

        The tables stay filled, so that another call resumes a search that was stopped.
        """
        searched, numbers = 0, (ctypes.c_int64 * 3)()
        with self._holding(game) as (address, _):
            start = perf_counter()
            while True:
                slice_nodes = SLICE_NODES if nodes is None else min(SLICE_NODES, nodes - searched)
                left = None if time is None else time - (perf_counter() - start)
                proof = self.threats(game, time=left, nodes=max(slice_nodes, 1))
                searched += proof.nodes
                seconds = perf_counter() - start
                is_spent = nodes is not None and searched >= nodes
                is_late = time is not None and seconds >= time
                if is_spent or is_late or not proof.is_open or self.is_stopped:
                    return proof._replace(nodes=searched, time=seconds)
                if listener is not None:
                    self._library.threats_progress(address, ctypes.addressof(numbers))
                    listener(SolverProgress(searched, seconds, *numbers))

    def threatens_fours(self, game: Game, *, nodes: int) -> bool:
        """Return whether the opponent is found to win by fours if the side to move passes."""
        with self._holding(game) as (address, tables):
            self._library.game_pass(address)
            return self._library.threats_fours(address, tables, nodes) > 0

    def rescues(self, game: Game, *, time: float | None = None, nodes: int | None = None) -> Result:
        """Return the defences of the side to move against the opponent's win by fours.

        ``claim`` says whether there is such a win, value and ``length`` are those of the win;
        ``moves`` are all legal moves that stop it, ``unknown`` those that were not decided.
        """
        kernel, marks = self._library, (ctypes.c_uint8 * PADDED_CELLS)()
        rest = node_limit(nodes), ctypes.addressof(marks)
        with self._holding(game) as (address, tables):
            start = perf_counter()
            stones = self._search(kernel.threats_rescues, address, tables, *rest, time=time)
            searched = kernel.threats_nodes(address)
            seconds = perf_counter() - start
        claim = BY_FOURS if stones > 0 else OPEN if stones else f"no-{BY_FOURS}"
        empty = game.empty_cells()
        return Result(
            loss_in(2 * stones) if stones > 0 else 0, nodes=searched, time=seconds, claim=claim,
            moves=tuple(move for move in empty if marks[cell_of(*move)] == 1),
            unknown=tuple(move for move in empty if marks[cell_of(*move)] == 2),
        )  # fmt: skip

    def answers(self, game: Game) -> tuple[Move, ...] | None:
        """Return all replies to the last move's threat to win by fours, None without a threat.

        Any other reply loses to these fours, or to other short ones.
        """
        with self._holding(game) as (address, tables):
            replies = self._replies(address, tables)
        return None if replies is None else tuple(map(move_of, replies))

    def tree(self, game: Game) -> Tree | None:
        """Return the whole proof of the win that ``threats`` finds in this game, or None.

        As soon as the winner can win by fours alone, the proof does so.
        """
        with self._holding(game) as (address, tables):
            return self._branch(address, tables) if self.threats(game).wins else None

    def _replies(self, address: int, tables: int) -> list[int] | None:
        """Return the cells that answer a threat of the block's game, None without a threat."""
        marks = (ctypes.c_uint8 * PADDED_CELLS)()
        is_threat = self._library.threats_replies(address, tables, ctypes.addressof(marks))
        return [cell for cell, mark in enumerate(marks) if mark] if is_threat else None

    def _branch(self, address: int, tables: int) -> Tree:
        cell = self._library.threats_move(address, tables, REPLAY_NODES)
        self._library.game_play(address, tables, cell)
        replies: dict[Move, Tree] = {}
        if not self._library.game_wins(address):
            for reply in self._replies(address, tables) or ():
                self._library.game_play(address, tables, reply)
                replies[move_of(reply)] = self._branch(address, tables)
                self._library.game_undo(address, tables)
        self._library.game_undo(address, tables)
        return Tree(move_of(cell), replies)

    # Ends --------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop the running search, and all later ones until ``release``; from any thread."""
        self.is_stopped = True
        with self._guard:
            if self._block is not None:
                self._library.threats_stop(self._block.address, 1)

    def release(self) -> None:
        """Allow searches again after ``stop``."""
        self.is_stopped = False
        if self._block is not None:
            self._library.threats_stop(self._block.address, 0)

    def close(self) -> None:
        """Stop a running search and free the memory."""
        was_stopped = self.is_stopped
        self.stop()
        self.clear()
        self.is_stopped = was_stopped

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
