"""The database behind the board, one for all tabs, and the saved games.

A thread writes what engines find out, so that no search waits for the disk; what a person stores is
confirmed once it is on disk.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator, Mapping

from ..app.kept import OptionalDatabase
from ..app.saved import SavedGames
from ..database.lines import list_next_moves, look_up, replace_comment
from ..database.sources import Item, add_items, add_result
from ..database.store import Database, StoredGame
from ..engine.engine import EngineError
from ..errors import Refused
from ..files import Document
from ..game.documents import author_of, entry_document, following_document
from ..game.game import Game
from ..game.position import Position
from ..game.record import GameRecord
from ..game.result import Result
from ..game.tree import GameTree, main_line

LAST_WRITES = 70.0  # seconds that what waits has at the end, longer than another writer may take
MOST_TREE = 2000  # moves of the winner in a proof that is kept as a whole


class Archive:
    """A database that is open, or none: then nothing is known, and nothing is kept."""

    def __init__(self, target: str | None = None, shelf: SavedGames | None = None) -> None:
        """Open it, made if it is not there; EngineError if it cannot be opened."""
        self.name = target
        self.shelf = shelf or SavedGames()
        self.trouble = ""  # why something could not be kept
        self._writer = OptionalDatabase(target)
        self._reader = OptionalDatabase(target)
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: deque[Mapping[Position, Result]] = deque()
        self._thread: threading.Thread | None = None  # that writes, while something waits
        self._guard = threading.Lock()

    def _work(self) -> None:
        """Write what waits."""
        while True:
            with self._guard:
                if not self._waiting:
                    self._thread = None
                    return
                found = self._waiting.popleft()
            try:
                with self._writing:
                    self._writer.note_findings(found.items())
                self.trouble = ""
            except EngineError as error:
                self.trouble = str(error)

    def close(self) -> None:
        """Write what still waits, and close the database."""
        if (thread := self._thread) is not None:
            thread.join(LAST_WRITES)
        with self._writing, self._reading:
            for kept in (self._writer, self._reader):
                kept.__exit__()
        self.shelf.close()

    # What is known --------------------------------------------------------------------

    def document(self, setup: GameRecord) -> Document:
        """Return everything about a position, and about what follows it; raises Refused."""
        with self._open_kept(self._reader, self._reading) as database:
            found = entry_document(setup, look_up(database, setup.position))
            found["next"] = following_document(list_next_moves(database, setup.position))
        return {**found, "trouble": self.trouble}

    def finding(self, game: Game) -> Result | None:
        """Return the value that is known of a position, with a move."""
        try:
            with self._reading:
                return self._reader.finding(game)
        except EngineError as error:
            self.trouble = str(error)
            return None

    # What is kept ---------------------------------------------------------------------

    def note(self, setup: GameRecord, thought: Result, weights: str) -> None:
        """Keep what a search says about a position."""
        if self.name is not None and (thought.depth or thought.mate is not None):
            known = thought._replace(author=author_of(weights))
            self.note_findings({setup.position: known})

    def note_win(self, game: Game, win: Result, weights: str = "") -> None:
        """Keep a win, and its proof as a whole, if that is not too large."""
        if self.name is None:
            return
        is_kept = win.tree is not None and win.tree.count() <= MOST_TREE
        kept = Result(
            win.value, win.line, claim=win.claim, tree=win.tree if is_kept else None,
            author=author_of(weights),
        )  # fmt: skip
        self.note_findings({game.position: kept})

    def note_findings(self, found: Mapping[Position, Result]) -> None:
        """Keep values of positions, after what waits to be written already."""
        if self.name is None or not found:
            return
        with self._guard:
            self._waiting.append(found)
            if self._thread is not None:
                return
            self._thread = thread = threading.Thread(target=self._work, daemon=True)
        thread.start()

    def store_tree(self, tree: GameTree) -> dict[str, int]:
        """Store a game with its variations and comments; return how much came of it."""
        game = add_result(main_line(tree))
        bare = game._replace(comment="")  # the same game, however commented
        items: list[Item] = [StoredGame(bare)] if game.moves else []
        if not tree.is_plain():
            items.append(tree)
        with self._open_kept(self._writer, self._writing) as database:
            done = add_items(database, items)
        return {"games": done.games, "moves": done.nodes, "known_games": done.known_games}

    def store_comment(self, setup: GameRecord, before: str, after: str) -> None:
        """Store a comment about a position in the place of what it was before."""
        with self._open_kept(self._writer, self._writing) as database, database.transaction():
            replace_comment(database, setup, before, after)

    @contextlib.contextmanager
    def _open_kept(self, kept: OptionalDatabase, lock: threading.Lock) -> Iterator[Database]:
        """Yield the database; raises Refused without one, and EngineError if it fails."""
        if kept.database is None:
            raise Refused("this board has no database; start it with --db FILE")
        with lock:
            yield kept.database
