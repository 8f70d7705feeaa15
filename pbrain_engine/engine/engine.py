"""The engine as the layers above see it: a game, and thinking about it."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING

from ..eval.weights import DEFAULT, Weights, load_weights
from ..game.game import Game, Move
from ..native.load.library import Library, load
from ..native.load.memory import Block
from ..position.geometry import Coordinates
from ..position.rules import Rule, Side
from ..search.parameters import PARAMETERS, check_name
from ..values import WIN_BAND, loss_in
from ..values import chance as value_chance
from .adviser import Tactics
from .alphabeta import AlphaBeta
from .crew import Deadline
from .foresight import Foresight
from .searcher import Question, Searcher
from .tables import Tables
from .thought import Limit, Listener, Thought

if TYPE_CHECKING:
    import random

    from .book import Book
    from .improve import Improved

DEFAULT_WEIGHTS = DEFAULT
ALPHABETA, MCTS = "alphabeta", "mcts"
SEARCHES = (ALPHABETA, MCTS)
GUMBEL = "gumbel"  # the usual method of ``improve``
MAX_THREADS = 64


__all__ = ["Engine", "EngineError", "Limit", "Move", "Thought"]


class EngineError(Exception):
    """The engine was asked for something that it cannot do."""


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
        memory: int | None = None,
        threads: int = 1,
        hash_size: int | None = None,
        level: str | None = None,
        weights: str = DEFAULT_WEIGHTS,
        parameters: dict[str, int] | None = None,
        search: str = ALPHABETA,
        book: str | None = None,
        book_seed: int | None = None,
    ) -> None:
        """Load the kernel and weights, and begin a 15x15 freestyle game.

        ``memory``: bytes the whole process may use (350,000,000), from which the table is sized,
        smaller where searches are short; ``hash_size``: bytes of the table, within the memory if
        that is given, however short searches are; ``level``:
        the kernel's instruction set level (default: the best of this processor); ``weights``: a
        built-in name or a file; ``parameters``: search parameters that differ from the
        defaults; ``search``: ``alphabeta``, or ``mcts`` for Monte Carlo tree search; ``book``:
        a file of ``numoku book build``, whose moves are played without a search; ``book_seed``:
        it chooses among moves that are hardly worse than the best, so that games differ.

        Raises:
            BookError: the book cannot be read; an ``OSError``.
            EngineError: there is no such search.
            KernelError: there is no compiled kernel for this machine.
            WeightsError: the weights cannot be read.
            KeyError: there is no such search parameter.
        """
        self.library: Library = load(level)
        self.weights: Weights = load_weights(weights)
        self.weights.check_networks()
        self._searcher = make_searcher(search, self.library)
        self._tables = Tables(self._searcher, self.library, memory, hash_size, limited(threads))
        self.search = search
        self._parameters = {name: p.default for name, p in PARAMETERS.items()}
        for name, value in (parameters or {}).items():
            self.set_parameter(name, value)
        self._book = open_book(book, book_seed)
        self._foresight = Foresight()
        self._deadline: Deadline | None = None
        self._armed = False
        self._stop_wanted = False
        self._busy = threading.Lock()
        self.game = self._fresh_game(15, 15, Rule.FREESTYLE, self._searcher.game_memory)

    # The game ----------------------------------------------------------------------

    def _fresh_game(self, width: int, height: int, rule: Rule, memory: Block | None = None) -> Game:
        return Game(width, height, rule, library=self.library, weights=self.weights, memory=memory)

    def new_game(
        self, width: int = 15, height: int | None = None, rule: Rule | str = Rule.FREESTYLE
    ) -> None:
        """Begin a game on an empty board; the rule may be its name.

        ``game`` is another one then; the one before stays as it was, apart from the engine.

        Raises:
            ValueError: the board is smaller than 5 or larger than 22 either way, or there is
                no such rule.
        """
        height = width if height is None else height
        rule = Rule.parse(rule)
        game = self._fresh_game(width, height, rule)
        game.exchange(self.game)
        if (width, height, rule) != (self.game.width, self.game.height, self.game.rule):
            self.clear_hash()
        self.game = game
        self._searcher.forget_game()

    def set_rule(self, rule: Rule | str) -> None:
        """Change the rule; the stones stay. ValueError if there is no such rule."""
        rule = Rule.parse(rule)
        if rule is self.game.rule:
            return
        game = self._fresh_game(self.game.width, self.game.height, rule)
        self.game.copy_to(game)
        game.exchange(self.game)
        self.game = game
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
        return self._tables.threads

    def set_threads(self, threads: int) -> None:
        """Use this many threads from the next search on, at most 64."""
        self._tables.threads = limited(threads)

    def set_memory(self, memory: int) -> None:
        """Let the whole process use this many bytes; the table takes what is left."""
        self._tables.memory = memory

    def set_hash_size(self, length: int | None) -> None:
        """Give the table this many bytes; None: what is of use, within the memory limit."""
        self._tables.hash_size = length

    def set_parameter(self, name: str, value: int) -> None:
        """Set a search parameter; KeyError if there is none of this name."""
        check_name(name)
        self._parameters[name] = value
        self._searcher.set_parameter(name, value)

    def clear_hash(self) -> None:
        """Forget what earlier searches found out."""
        self._tables.drop()
        self._searcher.forget_game()

    @property
    def table_bytes(self) -> int:
        """The size of the transposition table or the tree, or 0 while there is none."""
        return self._searcher.table_bytes

    # Thinking ----------------------------------------------------------------------

    def arm(self) -> None:
        """Announce the next ``think``: a ``stop`` from now on ends it, even before it begins."""
        self._armed = True
        self._release()

    def stop(self) -> None:
        """Make the running (or announced) think return its best move; from any thread."""
        self._stop_wanted = True
        self._tables.stop()

    def _release(self) -> None:
        self._stop_wanted = False
        self._tables.release()

    def set_deadline(self, hard: float | None, optimum: float | None = None) -> None:
        """Change the time limits of the running think, in seconds from its start."""
        deadline = self._deadline
        if deadline is not None:
            deadline.set(hard, optimum)

    @property
    def network(self) -> str | None:
        """The id of the network that plays this game's rule, None where there is none."""
        return self.weights.network_id(self.game.rule)

    def value(self) -> int:
        """Return the value of the position for the side to move, without any search."""
        from ..game.opinion import value_of  # an engine that plays does without

        return value_of(self.game)

    def policy(self) -> list[tuple[Move, float]]:
        """Return the moves that a search would list with their chances, best first.

        >>> with Engine(memory=50_000_000) as engine:
        ...     engine.play(7, 7)
        ...     chances = [chance for move, chance in engine.policy()]
        >>> round(sum(chances), 6), chances == sorted(chances, reverse=True)
        (1.0, True)
        """
        from ..game.opinion import policy_of

        return policy_of(self.game)

    def quick_move(self, exclude: Container[Move] = ()) -> Move:
        """Return a sensible legal move at once, without a search.

        In a line that is known to win it is the next move of that line. Cells that are to be left
        out are played if nothing else is left.

        Raises:
            EngineError: there is no empty cell.
        """
        foreseen = self._foresight.recall(self.game)
        if foreseen is not None and foreseen[0] not in exclude:
            return foreseen[0]
        move = self.game.quick_move()
        if move in exclude:
            others = chain((cell for cell, _ in self.policy()), self.game.legal_moves())
            move = next((cell for cell in others if cell not in exclude), move)
        if move is None:  # every empty cell is forbidden: any of them, so that play goes on
            if self.game.is_full:
                raise EngineError("the board is full")
            cells = (Move(x, y) for y in range(self.game.height) for x in range(self.game.width))
            move = next(cell for cell in cells if self.game.at(*cell) is Side.EMPTY)
        return move

    def balanced(self, stones: int) -> list[list[Coordinates]]:
        """Return positions of so many stones that the book calls nearly even, in turn."""
        return [] if self._book is None else self._book.balanced(self.game, stones)

    def think(
        self,
        limit: Limit,
        *,
        on_iteration: Listener | None = None,
        multipv: int = 1,
        exclude: Iterable[Move] = (),
    ) -> Thought:
        """Search for the best move until the limit or ``stop``; blocks the calling thread.

        ``on_iteration`` gets every finished iteration: of ``multipv`` lines those of one depth
        together, best first. If it returns True for the best line, no further iteration is
        begun. Several lines are told and returned as of the last depth that all of them
        completed. ``exclude``: cells
        not to be played, unless nothing else is left. With a time of zero or less the answer
        comes without a search. Where the position is symmetric, only one of the moves that
        are alike is searched, unless ``multipv`` asks for several lines: then each counts.

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
            left_out = list(exclude)
            if limit.time is not None and limit.time <= 0:
                move = self.quick_move(left_out)
                return Thought(move, 0, 0, 0, 0, perf_counter() - start, (move,))
            known = None
            if self._book is not None and multipv == 1 and not left_out:
                known = self._book.move(self.game, self._book.effort(limit, self.threads))
            if known is not None:
                move, value = known
                return Thought(move, value, 0, 0, 0, perf_counter() - start, (move,))
            return self._search(limit, start, on_iteration, max(1, multipv), left_out)
        finally:
            self._deadline = None
            self._busy.release()

    def _search(
        self,
        limit: Limit,
        start: float,
        listener: Listener | None,
        multipv: int,
        exclude: list[Move],
    ) -> Thought:
        """Set up the memory, search, and fall back on a quick move if there was no time at all."""
        self._tables.prepare(limit)
        tactics = self._tactics(exclude)
        if self._stop_wanted:  # it came before the memory was there
            self.stop()
        scale = self.weights.scale(self.game.rule)
        question = Question(self.game, limit, start, tactics, tuple(exclude), multipv, scale)
        search = self._searcher.begin(question, self.threads)
        self._deadline = Deadline(start, search.stop)
        thought = search.run(self._deadline, listener)
        if thought is not None and self._book is not None:
            self._book.note_speed(thought)
        if thought is None:
            move = self.quick_move(exclude)
            value = loss_in(2) if self.game.is_forbidden(*move) else 0
            thought = Thought(move, value, 0, 0, 0, perf_counter() - start, (move,))
        return thought if multipv > 1 or exclude else self._with_foresight(thought)

    def improve(self, visits: int, chance: random.Random, method: str = GUMBEL) -> Improved:
        """Spend visits of a tree search on a better policy than it began with.

        ``method`` is one of ``improve.METHODS``; ``chance`` draws the noise. For self-play: the
        move is chosen with noise, not as the best one.

        Raises:
            EngineError: the engine has no tree search, or the board is full.
        """
        from .lesson import Lesson
        from .montecarlo import MonteCarlo

        searcher = self._searcher
        if not isinstance(searcher, MonteCarlo):
            raise EngineError(f"only an engine with search={MCTS} improves a policy")
        with self._busy:
            self._release()
            self._tables.prepare(Limit())
            scale = self.weights.scale(self.game.rule)
            question = Question(self.game, Limit(), perf_counter(), self._tactics([]), scale=scale)
            own = value_chance(self.game.value(), scale)
            learned = Lesson(searcher.begin(question, 1), own, chance).learn(visits, method)
        if learned is None:
            raise EngineError("there is no legal move")
        return learned

    def _with_foresight(self, thought: Thought) -> Thought:
        """Note a forced win; where none was found but an earlier one stands, go on with that."""
        if thought.value >= WIN_BAND:
            self._foresight.note(self.game, thought.pv, thought.value)
            return thought
        foreseen = self._foresight.recall(self.game)
        if foreseen is None:
            return thought
        move, value = foreseen
        return thought._replace(move=move, value=value, pv=(move,))

    def _tactics(self, exclude: list[Move]) -> Tactics | None:
        """Return the solver's help; none where cells are excluded, or it is switched off."""
        percent = self._parameters["threat_share"]
        plain = self._parameters["plain"] != 0
        solver = self._tables.solver
        if solver is None or exclude or plain or percent == 0:
            return None
        return Tactics(solver, self.game, percent, self._parameters["threat_hot"])

    def close(self) -> None:
        """Stop a running think and give the memory of the table back."""
        self.stop()
        with self._busy:
            self._tables.drop()
            if self._book is not None:
                self._book.close()
                self._book = None

    def __enter__(self) -> Engine:
        """Return the engine itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the engine."""
        self.close()


def limited(threads: int) -> int:
    """Return the number of threads nearest to this that a search can have."""
    return max(1, min(threads, MAX_THREADS))


def open_book(path: str | None, seed: int | None) -> Book | None:
    """Return the book of a file; nothing of it is imported where there is none."""
    if path is None:
        return None
    from .book import Book

    return Book(path, seed)


def make_searcher(name: str, library: Library) -> Searcher:
    """Return a searcher by its name.

    Raises:
        EngineError: there is none of this name.
    """
    if name == ALPHABETA:
        return AlphaBeta(library)
    if name == MCTS:
        from .montecarlo import MonteCarlo  # every start would pay for it

        return MonteCarlo(library)
    raise EngineError(f"unknown search {name!r}; there are {' and '.join(SEARCHES)}")
