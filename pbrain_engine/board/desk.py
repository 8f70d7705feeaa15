"""A desk: the requests of one tab, the engine and solver that answer them, and what all tabs store.

Jobs run one after the other, in a thread that ends when there are no more; after a while without
work the memory is freed. Requests that need no engine are answered at once, while jobs run.

Another thread writes the findings of engines to the database, so that no search waits for the disk;
what a person stores is confirmed once it is on disk.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from functools import cache
from math import isfinite, prod
from time import monotonic
from typing import Any

from ..app.saved import OptionalDatabase, SavedGames
from ..database.lines import list_next_moves, look_up, replace_comment
from ..database.rescue import damage_told
from ..database.sources import Item, add_items, add_result
from ..database.store import Database, StoredGame
from ..engine.engine import DEFAULT_WEIGHTS, Engine, EngineError
from ..errors import Refused
from ..eval.weights import load_weights
from ..files import Document, Json
from ..game.documents import author_of, entry_document, following_document, read_setup
from ..game.game import Game
from ..game.position import Position
from ..game.record import GameRecord
from ..game.result import Result, Tree
from ..game.tree import GameTree, main_line
from ..options import MEGABYTE
from ..position.rules import Rule
from ..solver import Solver
from ..threads import start_deep
from ..values import scale_at
from .messages import MOST_CHARACTERS, Operation, coded_document, operation_of, parse, refusal_of

LAST_WRITES = 70.0  # seconds for pending writes at the end, more than the wait for another writer
MOST_TREE = 2000  # winner's moves in a proof that is stored as a whole


class Archive:
    """An optional database, and the saved games; without one it finds and stores no positions."""

    def __init__(self, target: str | None = None, shelf: SavedGames | None = None) -> None:
        """Open the database, creating it if missing; EngineError if that fails."""
        self.name = target
        self.shelf = shelf or SavedGames()
        self.trouble = ""  # the error of the last failed read or write
        self._writer = OptionalDatabase(target)
        self._reader = OptionalDatabase(target)
        self._waiting: deque[Mapping[Position, Result]] = deque()
        self._thread: threading.Thread | None = None  # the writer, while something waits
        self._guard = threading.Lock()

    def _work(self) -> None:
        """Write all waiting findings."""
        while True:
            with self._guard:
                if not self._waiting:
                    self._thread = None
                    return
                found = self._waiting.popleft()
            with self._writer.lock:
                self._writer.note_findings(found)
            self.trouble = str(self._writer.trouble or "")

    def close(self) -> None:
        """Write all waiting findings, and close the database."""
        if (thread := self._thread) is not None:
            thread.join(LAST_WRITES)
        with self._writer.lock, self._reader.lock:
            self._writer.close()
            self._reader.close()
        self.shelf.close()

    # Reading --------------------------------------------------------------------------

    def document(self, setup: GameRecord) -> Document:
        """Return everything known about a position and its next moves; raises Refused."""
        with self._open_kept(self._reader) as database:
            found = entry_document(setup, look_up(database, setup.position))
            found["next"] = following_document(list_next_moves(database, setup.position))
        return {**found, "trouble": self.trouble}

    def finding(self, game: Game) -> Result | None:
        """Return the finding about a game's position, None without one that has a move."""
        try:
            with self._reader.lock:
                return self._reader.finding(game)
        except EngineError as error:
            self.trouble = str(error)
            return None

    # Writing --------------------------------------------------------------------------

    def note(self, setup: GameRecord, thought: Result, weights: str) -> None:
        """Store the result of a search."""
        if thought.depth or thought.mate is not None:
            self.note_findings({setup.position: thought._replace(author=author_of(weights))})

    def note_win(self, game: Game, win: Result, weights: str = "") -> None:
        """Store a win, with its whole proof unless that is too large."""
        tree = win.tree if win.tree is not None and win.tree.size() <= MOST_TREE else None
        author = author_of(weights)
        kept = Result(win.value, win.line, claim=win.claim, tree=tree, author=author)
        self.note_findings({game.position: kept})

    def note_findings(self, found: Mapping[Position, Result]) -> None:
        """Queue findings about positions to be written."""
        if self.name is None or not found:
            return
        with self._guard:
            self._waiting.append(found)
            if self._thread is not None:
                return
            self._thread = thread = threading.Thread(target=self._work, daemon=True)
        thread.start()

    def store_tree(self, tree: GameTree) -> dict[str, int]:
        """Store a game with its variations and comments; return the counts of new items."""
        bare = add_result(main_line(tree))._replace(comment="")  # so that it makes no second game
        items: list[Item] = [StoredGame(bare)] if bare.moves else []
        if not tree.is_plain():
            items.append(tree)
        with self._open_kept(self._writer) as database:
            done = add_items(database, items)
        return {"games": done.games, "moves": done.nodes, "known_games": done.known_games}

    def store_comment(self, setup: GameRecord, before: str, after: str) -> None:
        """Store a comment on a position, replacing its earlier text."""
        with self._open_kept(self._writer) as database, database.transaction():
            replace_comment(database, setup, before, after)

    @contextlib.contextmanager
    def _open_kept(self, kept: OptionalDatabase) -> Iterator[Database]:
        """Yield the database under its lock; raises Refused without one."""
        if kept.database is None:
            raise Refused("this board has no database; start it with --db FILE")
        with kept.lock, damage_told(kept.database):
            yield kept.database


DEFAULT_MEMORY = 350  # megabytes, as on the command line
REST_AFTER = 60.0  # seconds without work until the memory is freed
MOST_WAITING = 64  # jobs of a desk
EVENT_GAP = 0.1  # seconds between two events of a search


@cache
def scale_of(weights: str, rule: Rule) -> float:
    """Return the scale of weights under a rule."""
    return load_weights(weights).scale(rule)


@dataclass(eq=False)
class Job:
    """A request: an operation on checked fields, which can be stopped.

    ``name`` is repeated in its answer; ``tell`` sends intermediate results to the page.
    """

    operation: Operation
    fields: dict[str, Any] = field(default_factory=dict)
    name: Json = None
    tell: Callable[[Document], object] = lambda event: None
    is_stopped: bool = False

    @property
    def setup(self) -> GameRecord:
        """The position in the message."""
        return read_setup(self.fields["position"])

    def check(self) -> None:
        """Raise CancelledError if the job was stopped."""
        if self.is_stopped:
            raise CancelledError


class Desks:
    """The open desks of a server, and what they share."""

    def __init__(
        self,
        threads: int | None,
        archive: Archive,
        weights: str = DEFAULT_WEIGHTS,
    ) -> None:
        """Begin without a desk; ``threads``: most threads of one search, None: one per core."""
        self.weights = weights
        self.threads = threads or os.cpu_count() or 1
        self.archive = archive
        self.start: Document = {}  # the game that the page opens first, and its name
        self.open: set[Desk] = set()
        self.last_closed = monotonic()  # when a desk was last closed, or the start

    def close(self) -> None:
        """Close all desks, and wait for them."""
        for desk in list(self.open):
            desk.close()


class Desk:
    """One tab's requests, and its engine and solver, used by one thread at a time."""

    def __init__(
        self, desks: Desks, post: Callable[[Document], object] = lambda answer: None
    ) -> None:
        """Open the desk; ``post`` sends answers and events to the page, from any thread."""
        self.desks = desks
        desks.open.add(self)
        self.post = post
        self.archive = desks.archive
        self.known: dict[Position, Tree] = {}  # proofs that only the main search has found
        self._engine: Engine | None = None
        self._solver: Solver | None = None
        self.jobs: deque[Job] = deque()  # the first is running
        self._guard = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None  # the last one that worked
        self._pause: threading.Timer | None = None

    # For the server's thread -------------------------------------------------------

    def take(self, text: str) -> None:
        """Begin to answer a message; answer a faulty one with its error."""
        name: Json = None
        try:
            message = parse(text)
            name = scalar(message, "id")
            if len(text) > MOST_CHARACTERS:
                raise Refused("the message is too large")
            self.begin(name, message)
        except Exception as error:  # keep serving the page, whatever happened
            self.post({"id": name, **coded_document("error", refusal_of(error))})

    def begin(self, name: Json, message: Document) -> None:
        """Begin to answer a request; raises Refused."""
        if message.get("do") == "stop":
            self.stop(scalar(message, "target"))
            self.post({"id": name, "result": {}})
            return
        operation = operation_of(message.get("do"))
        fields = operation.read(message)
        job = Job(operation, fields, name, lambda event: self.post({"id": name, "event": event}))
        if operation.at_once:
            self.look_up(job)
        elif len(self.jobs) < MOST_WAITING:
            self.submit(job)
        else:
            raise Refused("too many questions at once").coded("busy")

    def look_up(self, job: Job) -> None:
        """Run a job that needs no engine."""
        self.run(job)

    @property
    def has_engine(self) -> bool:
        """Whether the engine is loaded."""
        return self._engine is not None

    def submit(self, job: Job) -> None:
        """Queue a job; stop endless jobs before it."""
        with self._guard:
            if self._closed:
                return
            for before in self.jobs:
                if before.operation.endless:
                    self._stop(before)
            self.jobs.append(job)
            if self._pause is not None:
                self._pause.cancel()
            if len(self.jobs) > 1:
                return
        try:
            (self._thread,) = start_deep([self._work])
        except MemoryError:  # the next job starts a thread again
            self.jobs.clear()
            raise

    def stop(self, name: Json = None) -> None:
        """Stop the job of this name, running or waiting; without a name, all jobs."""
        with self._guard:
            for job in self.jobs:
                if name in (None, job.name):
                    self._stop(job)

    def _stop(self, job: Job) -> None:
        job.is_stopped = True
        if self.jobs and self.jobs[0] is job:
            for tool in (self._engine, self._solver):
                if tool is not None:
                    tool.stop()

    def close(self, wait: float = 5.0) -> None:
        """Stop all jobs and free the memory."""
        self.stop()
        with self._guard:
            self._closed = True
            if self._pause is not None:
                self._pause.cancel()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(wait)
        self.rest()
        self.desks.open.discard(self)
        self.desks.last_closed = monotonic()

    # For the desk's own thread -----------------------------------------------------

    def _work(self) -> None:
        """Run all jobs; then free the memory after a while, or at once if the desk is closed."""
        is_more = True
        while is_more:
            with self._guard:
                if self._solver is not None:
                    self._solver.release()
                if self._engine is not None:
                    self._engine.arm()
                job = self.jobs[0]
            self.run(job)
            with self._guard:
                self.jobs.popleft()
                is_more = bool(self.jobs)
                if not is_more and not self._closed:
                    self._pause = threading.Timer(REST_AFTER, self.rest)
                    self._pause.daemon = True
                    self._pause.start()
        if self._closed:
            self.rest()

    def run(self, job: Job) -> None:
        """Run a job's operation, and post its result or error."""
        try:
            job.check()
            answer: Document = {"result": job.operation.do(self, job)}
        except CancelledError:
            answer = {"error": "stopped", "stopped": True}
        except Exception as error:  # keep the server running, whatever happened
            refused = refusal_of(error)
            answer = {**coded_document("error", refused), "status": refused.status}
        self.post({"id": job.name, **answer})

    def rest(self) -> None:
        """Free all memory, unless there are jobs again."""
        with self._guard:
            if self.jobs:
                return
            tools = self._engine, self._solver
            self._engine = self._solver = None
        for tool in tools:
            if tool is not None:
                tool.close()

    def engine(
        self,
        setup: GameRecord,
        threads: int = 1,
        memory: int = DEFAULT_MEMORY,
        fresh: bool = False,
    ) -> Engine:
        """Return the engine with a position on its board; ``memory`` in megabytes.

        ``fresh`` clears its tables, so that node counts are reproducible. NotationError if the
        position cannot arise in a game, CancelledError if the job was stopped.
        """
        engine = self._engine = self._engine or Engine(weights=self.desks.weights)
        engine.set_memory(memory * MEGABYTE)
        engine.set_threads(min(threads, self.desks.threads))
        game = engine.game
        if (game.width, game.height, game.rule) != setup.board:
            engine.new_game(*setup.board)
        if fresh:
            engine.clear_hash()
        engine.game.become_checked(setup)
        engine.arm()  # before checking whether the job was stopped, so that no stop gets lost
        if self.jobs:
            self.jobs[0].check()
        return engine

    def scale(self, setup: GameRecord) -> float:
        """Return how many value units make one logistic unit of chance in a position."""
        *size, rule = setup.board
        return scale_at(scale_of(self.desks.weights, rule), len(setup.stones), prod(size))

    def solver(self) -> Solver:
        """Return the solver."""
        self._solver = self._solver or Solver()
        return self._solver


def refuse_if_over(game: Game) -> None:
    """Raise Refused if the game is over."""
    if game.is_over:
        raise Refused("the game is over").coded("over")


def scalar(message: Document, name: str) -> Json:
    """Return a field that identifies a request; raises Refused."""
    value = message.get(name)
    if isinstance(value, dict | list) or (isinstance(value, float) and not isfinite(value)):
        raise Refused(f"the {name} is neither a number nor a text")
    return value
