"""The public engine: a game, and searches of its position."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from math import exp
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ..errors import NumokuError
from ..eval.weights import DEFAULT, Weights, load_weights
from ..game.game import Game, Move, at_least_one, move_of, whole
from ..game.result import Listener, Thought
from ..native.load.library import Library, load
from ..native.load.memory import Block
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..search.parameters import PARAMETERS
from ..values import chance, loss_in
from .alphabeta import Question
from .pacing import UNLIMITED, Limit, Pace
from .searcher import Searcher, ShortSearch, WinningMoves

if TYPE_CHECKING:
    from .book import Book

DEFAULT_WEIGHTS = DEFAULT
MAX_THREADS = 64
LOGIT_UNIT = 256


__all__ = ["Engine", "EngineError", "Limit", "Move", "Thought"]


class Evaluation(NamedTuple):
    """A static evaluation: the winning chance of the side to move, 0 to 1, and its moves.

    ``moves``: the moves a search would list with their probabilities, best first, summing to 1;
    empty if the game is over or every move is forbidden.
    """

    chance: float
    moves: list[tuple[Move, float]]


class EngineError(NumokuError):
    """The engine cannot do what was asked."""


class Engine:
    """A Gomoku engine with a game of its own; engines in one process are independent.

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
        memory: int | None = None,
        threads: int = 1,
        hash_size: int | None = None,
        level: str | None = None,
        weights: str = DEFAULT_WEIGHTS,
        parameters: dict[str, int] | None = None,
        book: str | None = None,
        book_seed: int | None = None,
    ) -> None:
        """Load the kernel and weights, and start a 15x15 freestyle game.

        ``memory``: bytes for the whole process (350,000,000); the table takes what is left, less
        if searches are short; ``hash_size``: bytes of the table for searches of any length, capped
        by ``memory`` if given; ``level``: the kernel's instruction set level (default: the best of
        this processor); ``weights``: a built-in name or id, or a file; ``parameters``: search
        parameters that differ from the defaults; ``book``: a file made by ``numoku book build``,
        whose moves are played without a search; ``book_seed``: choose among moves nearly as good
        as the best with this seed, so that games differ.

        Raises:
            FileError: the book cannot be read; an ``OSError``.
            KernelError: there is no compiled kernel for this machine.
            WeightsError: the weights cannot be read.
            KeyError: there is no such search parameter.
            ValueError: ``threads``, ``memory`` or ``hash_size`` is below 1.
            TypeError: an argument is not a number, or the weights are no name.
        """
        if not isinstance(weights, str | PathLike):  # a number would open a file descriptor
            raise TypeError(f"weights are a name or a file, not {weights!r}")
        self.library: Library = load(level)
        self.weights: Weights = load_weights(weights)
        self._searcher = Searcher(self.library)
        if memory is not None:
            self.set_memory(memory)
        self.set_hash_size(hash_size)
        self.set_threads(threads)
        for name, value in dict(parameters or {}).items():
            self.set_parameter(name, value)
        self._book: Book | None = None
        if book is not None:
            from .book import Book

            self._book = Book(book, book_seed)
        self._winning_moves = WinningMoves()
        self._armed = False
        self._busy = threading.Lock()
        self._listening: int | None = None  # the thread in which a search calls its listener
        self.game = self._game(15, 15, Rule.FREESTYLE)
        self.game.move(self._searcher.game_memory)

    # The game ----------------------------------------------------------------------

    def _game(self, width: int, height: int | None, rule: Rule | str) -> Game:
        return Game(width, height, rule, library=self.library, weights=self.weights)

    def _change_to(self, game: Game) -> None:
        """Switch to another game; the previous one is detached and keeps its state."""
        self.game.move(Block(self.library.sizes["game"]))
        game.move(self._searcher.game_memory)
        self.game = game

    def new_game(
        self, width: int = 15, height: int | None = None, rule: Rule | str = Rule.FREESTYLE
    ) -> None:
        """Start a game on an empty board; the rule may be its name.

        ``game`` is replaced; the previous one is detached from the engine and keeps its state.

        Raises:
            ValueError: a side of the board is not 5 to 22, or there is no such rule.
            TypeError: a side is not an integer.
        """
        before, game = self.game, self._game(width, height, rule)
        with self._idle():
            if (game.width, game.height, game.rule) != (before.width, before.height, before.rule):
                self._searcher.clear()
            self._searcher.forget_game()
            self._change_to(game)

    def set_rule(self, rule: Rule | str) -> None:
        """Change the rule; the stones stay. ValueError if there is no such rule."""
        rule = Rule.parse(rule)
        if rule is not self.game.rule:
            game = self._game(self.game.width, self.game.height, rule)
            game.set_up(self.game.history, self.game.to_move)
            with self._idle():
                self._change_to(game)
            self.clear_hash()

    def play(self, x: int | str | Coordinates, y: int | None = None) -> None:
        """Play a stone of the side to move, at ``7, 7``, ``"h8"`` or a ``Move``; see ``Game``."""
        self.game.play(x, y)

    def place(self, x: int, y: int, side: Side) -> None:
        """Put a stone of any side, or a blocked cell, without passing the turn."""
        self.game.place(x, y, side)

    def undo(self) -> None:
        """Take back the last stone; IllegalMove if there is none."""
        self.game.undo()

    def set_to_move(self, side: Side) -> None:
        """Give a side the move."""
        self.game.set_to_move(side)

    def __str__(self) -> str:
        return str(self.game)

    def _repr_svg_(self) -> str:
        """Return the board as SVG, for notebooks."""
        return self.game._repr_svg_()

    # Settings ----------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """The number of search threads."""
        return self._searcher.threads

    def set_threads(self, threads: int) -> None:
        """Set the threads of the next search, capped at 64; ValueError below 1."""
        at_least_one(threads, "threads")
        self._searcher.threads = min(threads, MAX_THREADS)

    def set_memory(self, memory: int) -> None:
        """Set the bytes for the whole process; the table takes what is left."""
        at_least_one(memory, "memory")
        self._searcher.memory = memory

    def set_hash_size(self, length: int | None) -> None:
        """Set the bytes of the table; None: as many as searches can use, within the memory."""
        if length is not None:
            at_least_one(length, "hash_size")
        self._searcher.hash_size = length

    def set_parameter(self, name: str, value: int) -> None:
        """Set a search parameter; KeyError if there is no such parameter."""
        if name not in PARAMETERS:
            raise KeyError(f"unknown search parameter {name!r}; there are {', '.join(PARAMETERS)}")
        self._searcher.set_parameter(name, whole(value, name))

    def clear_hash(self) -> None:
        """Forget all results of earlier searches."""
        with self._idle():
            self._winning_moves = WinningMoves()
            self._searcher.clear()
            self._searcher.forget_game()

    @property
    def table_bytes(self) -> int:
        """The size of the transposition table in bytes, 0 before it is allocated."""
        return self._searcher.table_bytes

    # Thinking ----------------------------------------------------------------------

    @contextmanager
    def _idle(self) -> Iterator[None]:
        """Wait until no search runs; EngineError in its listener, for which it waits itself."""
        if self._listening == threading.get_ident():
            raise EngineError("the engine is thinking; a listener may only stop it")
        with self._busy:
            yield

    def _heard(self, listener: Listener) -> Listener:
        """Return a listener that notes in which thread it is called."""

        def listen(thought: Thought) -> bool | None:
            self._listening = threading.get_ident()
            try:
                return listener(thought)
            finally:
                self._listening = None

        return listen

    def arm(self) -> None:
        """Announce the next ``think``: a ``stop`` from now on ends it, even before it starts."""
        self._armed = True
        self._searcher.release()

    def stop(self) -> None:
        """Make the running or announced ``think`` return its best move; thread-safe."""
        self._searcher.stop()

    @property
    def network(self) -> str | None:
        """The id of the network for this game's rule, or None."""
        has_network = self.game.rule.traits.family in self.weights.streams
        return self.weights.id if has_network else None

    def value(self) -> int:
        """Return the static evaluation of the position for the side to move.

        The network's if the rule has one, else the linear one (``Game.value``).
        """
        return self.library.worker_value(self.game.address, self.game.tables)

    def logits(self) -> dict[Move, int]:
        """Return the moves a search would list with their policy logits, in units of 1/256.

        Logits come from the network or, without one, from the learned move scores. Empty if the
        game is over or every move is forbidden. Not to be called while a search runs.
        """
        game = self.game
        if game.is_over:
            return {}
        room = game.width * game.height
        out = (ctypes.c_int64 * (2 * room))()
        at = ctypes.addressof(out)
        count = self.library.worker_policy(game.address, game.tables, at, room)
        return {move_of(out[2 * i]): out[2 * i + 1] for i in range(count)}

    def evaluate(self) -> Evaluation:
        """Return the static evaluation and the policy of the position.

        >>> with Engine(memory=50_000_000) as engine:
        ...     engine.play(7, 7)
        ...     seen = engine.evaluate()
        >>> 0 < seen.chance < 1, len(seen.moves) == len(engine.policy())
        (True, True)
        """
        return Evaluation(chance(self.value(), self.game.scale), self.policy())

    def policy(self) -> list[tuple[Move, float]]:
        """Return the moves a search would list with their probabilities, best first.

        >>> with Engine(memory=50_000_000) as engine:
        ...     engine.play(7, 7)
        ...     chances = [chance for move, chance in engine.policy()]
        >>> round(sum(chances), 6), chances == sorted(chances, reverse=True)
        (1.0, True)
        """
        logits = self.logits()
        highest = max(logits.values(), default=0)
        weights = {move: exp((logit - highest) / LOGIT_UNIT) for move, logit in logits.items()}
        total = sum(weights.values())
        chances = [(move, weight / total) for move, weight in weights.items()]
        return sorted(chances, key=lambda entry: -entry[1])

    def quick_move(self, exclude: Container[Move] = ()) -> Move:
        """Return a sensible legal move at once, without a search.

        On a line known to win, this is its next move. Excluded cells are played only if no other
        is left.

        Raises:
            EngineError: there is no empty cell.
        """
        foreseen = self._winning_moves.recall(self.game)
        if foreseen is not None and foreseen[0] not in exclude:
            return foreseen[0]
        move = self.game.quick_move()
        if move in exclude:
            game = self.game
            others = chain(
                (cell for cell, _ in self.policy()), game.legal_moves(), game.empty_cells()
            )
            move = next((cell for cell in others if cell not in exclude), move)
        if move is None:  # every empty cell is forbidden: take any, so that play continues
            if self.game.is_full:
                raise EngineError("the board is full")
            move = self.game.empty_cells()[0]
        return move

    def balanced(self, stones: int) -> list[list[Coordinates]]:
        """Return the book's nearly even positions with this many stones, as moves in turn."""
        return [] if self._book is None else self._book.balanced(self.game, stones)

    def think(
        self,
        limit: Limit,
        *,
        pace: Pace | None = None,
        on_iteration: Listener | None = None,
        multipv: int = 1,
        exclude: Iterable[str | Coordinates] = (),
    ) -> Thought:
        """Search for the best move until the limit or ``stop``; blocks the calling thread.

        ``pace`` replaces the limit's times, for a caller that changes them during the search.
        ``on_iteration`` gets every completed iteration; with ``multipv``, all lines of a depth
        together, best first. If it returns True for the best line, the search ends. Several lines
        are reported and returned from the last depth that all of them completed. ``exclude``:
        cells not to play. With a time of zero or less, the answer comes without a search. Of moves
        equivalent by symmetry only one is searched, unless ``multipv`` asks for several lines.
        A game that a side has won is searched as if it went on, as managers may ask for that.

        Raises:
            EngineError: the board is full, or a search is already running.
            ValueError: ``multipv`` is below 1, or ``exclude`` has a cell off the board or every
                empty cell.
            TypeError: ``limit`` is not a Limit, or an excluded cell is not a cell.
        """
        start = perf_counter()
        if not isinstance(limit, Limit):
            raise TypeError(f"the limit is a Limit such as Limit(time=1.0), not {limit!r}")
        at_least_one(multipv, "multipv")
        left_out = [Move(*self.game.cell(cell)) for cell in exclude] if exclude else []
        for x, y in left_out:
            if not self.game.on_board(x, y):
                raise ValueError(f"{x},{y} is off the {self.game.width}x{self.game.height} board")
        if left_out and all(cell in left_out for cell in self.game.empty_cells()):
            if not self.game.is_full:
                raise ValueError("every empty cell is excluded")
        if not self._busy.acquire(blocking=False):
            raise EngineError("the engine is already thinking")
        try:
            if not self._armed:
                self._searcher.release()
            self._armed = False
            if pace is None:
                pace = Pace.of(limit, start)
            left = pace.deadline - start
            limit = limit._replace(time=None if left == UNLIMITED else left)
            known: tuple[Move, int] | None = None
            if left <= 0:
                known = self.quick_move(left_out), 0
            elif self._book is not None and multipv == 1 and not left_out:
                known = self._book.move(self.game, self._book.effort(limit, self.threads))
            if known is not None:
                move, value = known
                return Thought(value, (move,), time=perf_counter() - start)
            board = self.game.record()
            if on_iteration is not None:
                on_iteration = self._heard(on_iteration)
            return self._search(
                Question(self.game, limit, pace, start, board, on_iteration, multipv, left_out)
            )
        finally:
            self._busy.release()

    def think_lines(
        self,
        limit: Limit,
        multipv: int,
        *,
        on_iteration: Listener | None = None,
        exclude: Iterable[str | Coordinates] = (),
    ) -> list[Thought]:
        """Search like ``think``, but return all ``multipv`` lines, best first."""
        lines: dict[int, Thought] = {}

        def note(thought: Thought) -> bool | None:
            if thought.multipv == 1:  # the first line of the next depth
                lines.clear()
            lines[thought.multipv] = thought
            return on_iteration and on_iteration(thought)

        best = self.think(limit, on_iteration=note, multipv=multipv, exclude=exclude)
        return list({**lines, 1: best}.values())

    def _search(self, question: Question) -> Thought:
        """Search, or fall back on a quick move if there was no time for an iteration."""
        exclude = question.exclude
        thought = self._searcher.search(question)
        if thought is not None and self._book is not None:
            self._book.note_speed(thought)
        # Under a threat of five the root lists only the moves that stop it, even excluded ones.
        leaves_five = thought is not None and thought.move in exclude
        if thought is None or leaves_five:
            move = self.quick_move(exclude)
            is_lost = leaves_five or self.game.is_forbidden(*move)
            value = loss_in(2) if is_lost and move not in exclude else 0
            seconds, board = perf_counter() - question.start, question.board
            thought = Thought(value, (move,), time=seconds, board=board)
        if question.multipv > 1 or exclude:
            return thought
        if thought.wins:
            self._winning_moves.note(self.game, thought.pv, thought.value)
        elif (foreseen := self._winning_moves.recall(self.game)) is not None:  # it stands
            move, value = foreseen
            return thought._replace(value=value, line=(move,))
        return thought

    def search_nodes(self, nodes: int) -> ShortSearch | None:
        """Search ``nodes`` on the calling thread; None if all moves are forbidden.

        For self-play: without the solver, and only a few plies deep if there is an only move.

        Raises:
            EngineError: the board is full.
        """
        if self.game.is_full:
            raise EngineError("the board is full")
        with self._idle():
            self._searcher.prepare(Limit())
            return self._searcher.search_nodes(self.game, nodes)

    def close(self) -> None:
        """Stop a running search and release the table's memory."""
        self.stop()
        with self._idle():
            self._searcher.clear()
            if self._book is not None:
                self._book.close()
                self._book = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
