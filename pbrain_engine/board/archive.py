"""The board's database, shared by all tabs, and the saved games.

A thread writes the findings of engines, so that no search waits for the disk; what a person stores
is confirmed once it is on disk.
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
        self._reading = threading.Lock()
        self._writing = threading.Lock()
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
            with self._writing:
                self._writer.note_findings(found)
            self.trouble = str(self._writer.trouble or "")

    def close(self) -> None:
        """Write all waiting findings, and close the database."""
        if (thread := self._thread) is not None:
            thread.join(LAST_WRITES)
        with self._writing, self._reading:
            for kept in (self._writer, self._reader):
                kept.close()
        self.shelf.close()

    # Reading --------------------------------------------------------------------------

    def document(self, setup: GameRecord) -> Document:
        """Return everything known about a position and its next moves; raises Refused."""
        with self._open_kept(self._reader, self._reading) as database:
            found = entry_document(setup, look_up(database, setup.position))
            found["next"] = following_document(list_next_moves(database, setup.position))
        return {**found, "trouble": self.trouble}

    def finding(self, game: Game) -> Result | None:
        """Return the finding about a game's position, None without one that has a move."""
        try:
            with self._reading:
                return self._reader.finding(game)
        except EngineError as error:
            self.trouble = str(error)
            return None

    # Writing --------------------------------------------------------------------------

    def note(self, setup: GameRecord, thought: Result, weights: str) -> None:
        """Store the result of a search."""
        if self.name is not None and (thought.depth or thought.mate is not None):
            known = thought._replace(author=author_of(weights))
            self.note_findings({setup.position: known})

    def note_win(self, game: Game, win: Result, weights: str = "") -> None:
        """Store a win, with its whole proof unless that is too large."""
        if self.name is None:
            return
        is_kept = win.tree is not None and win.tree.size() <= MOST_TREE
        kept = Result(
            win.value, win.line, claim=win.claim, tree=win.tree if is_kept else None,
            author=author_of(weights),
        )  # fmt: skip
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
        game = add_result(main_line(tree))
        bare = game._replace(comment="")  # so that comments make no second game
        items: list[Item] = [StoredGame(bare)] if game.moves else []
        if not tree.is_plain():
            items.append(tree)
        with self._open_kept(self._writer, self._writing) as database:
            done = add_items(database, items)
        return {"games": done.games, "moves": done.nodes, "known_games": done.known_games}

    def store_comment(self, setup: GameRecord, before: str, after: str) -> None:
        """Store a comment on a position, replacing its earlier text."""
        with self._open_kept(self._writer, self._writing) as database, database.transaction():
            replace_comment(database, setup, before, after)

    @contextlib.contextmanager
    def _open_kept(self, kept: OptionalDatabase, lock: threading.Lock) -> Iterator[Database]:
        """Yield the database under its lock; raises Refused without one."""
        if kept.database is None:
            raise Refused("this board has no database; start it with --db FILE")
        with lock:
            yield kept.database
