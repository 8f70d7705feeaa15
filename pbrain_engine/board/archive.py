"""The database behind the board: what it knows is shown, what is found out and written is kept.

One for all tabs, and beside it the games that were played. What the engines find out is written
by a thread of its own, so that no search waits for the disk; what a person stores is answered
once it is there for good.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ..app.kept import Kept
from ..database.lines import list_next_moves, look_up, replace_comment
from ..database.sources import Item, add_items, add_result
from ..database.store import Database, StoredGame
from ..engine.engine import EngineError
from ..game.documents import author_of, entry_document, following_document
from ..game.game import Game
from ..game.position import Position
from ..game.record import GameRecord, GameTree, main_line
from ..game.result import Result
from .messages import Refused

MOST_GAMES = 1000  # that are kept; the one that was begun first makes room
PATIENCE = 10.0  # seconds that another server may write
SCHEMA = """
    CREATE TABLE IF NOT EXISTS games (
        id TEXT PRIMARY KEY, began REAL NOT NULL, digest TEXT NOT NULL,
        summary TEXT NOT NULL, document TEXT NOT NULL)
"""
LAST_WRITES = 70.0  # seconds that what waits has at the end, longer than another writer may take
MOST_TREE = 2000  # moves of the winner in a proof that is kept as a whole


class Archive:
    """A database that is open, or none: then nothing is known, and nothing is kept."""

    def __init__(self, target: str | None = None, shelf: Shelf | None = None) -> None:
        """Open it, made if it is not there.

        Raises:
            EngineError: it cannot be opened.
        """
        self.name = target
        self.shelf = shelf or Shelf()
        self.trouble = ""  # why something could not be kept
        self._writer = Kept(target)
        self._reader = Kept(target)
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

    def document(self, setup: GameRecord) -> dict[str, Any]:
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

    def win(self, game: Game) -> Result | None:
        """Return a win of the side to move that is known, with its proof if that is, too."""
        finding = self.finding(game)
        return finding if finding is not None and finding.is_certain and finding.wins else None

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
        bare = replace(game, comment="")  # the same game, however commented
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
    def _open_kept(self, kept: Kept, lock: threading.Lock) -> Iterator[Database]:
        """Give the database; raises Refused if there is none, and EngineError if it fails."""
        if kept.database is None:
            raise Refused("this board has no database; start it with --db FILE")
        with lock:
            yield kept.database


class Shelf:
    """The games of the page, kept in the order of play, whether there is a database or not.

    They lie in a file of this user beside the server's token, so that a game that was replaced, or
    whose page was closed, can be taken up again; or in memory where there is no file.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open it, made if it is not there; where that fails the games are kept in memory."""
        self._guard = threading.Lock()
        self._file = sqlite3.connect(":memory:", check_same_thread=False)
        if path is not None:
            with contextlib.suppress(OSError, sqlite3.Error):
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                file = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
                file.execute(SCHEMA)
                self._file = file
        self._file.execute(SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._file.close()

    def summaries(self) -> list[dict[str, Any]]:
        """Return what the list shows of each game, the one that was begun last first."""
        return self._read("SELECT summary FROM games ORDER BY began DESC, id")

    def game(self, name: str) -> dict[str, Any]:
        """Return a game as it was kept; raises Refused if it is not there."""
        for document in self._read("SELECT document FROM games WHERE id = ?", name):
            return document
        raise Refused("this game is not kept any more", HTTPStatus.NOT_FOUND)

    def keep(self, document: Mapping[str, Any]) -> None:
        """Keep a game in the place of what it was; the same game by another name makes room."""
        position, names = document["position"], document["names"] or {}
        moves, last = 0, -1  # of the main line: the first move behind each
        for place, row in enumerate(document["tree"]):
            if row["parent"] == last:
                moves, last = moves + 1, place
        summary = {
            "game": document["game"],
            "began": document["began"],
            **{name: position[name] for name in ("width", "height", "rule")},
            "moves": moves,
            **{name: names.get(name) or "" for name in ("black", "white", "result")},
            "going": bool(document["match"]),
        }
        content = [document[name] for name in ("position", "tree", "names", "comment", "root")]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        row = document["game"], document["began"], digest, json.dumps(summary), json.dumps(document)
        with self._guard, self._file:
            run = self._file.execute
            run("DELETE FROM games WHERE digest = ? AND id != ?", (digest, document["game"]))
            run("INSERT OR REPLACE INTO games VALUES (?, ?, ?, ?, ?)", row)
            run(
                "DELETE FROM games WHERE id NOT IN "
                "(SELECT id FROM games ORDER BY began DESC LIMIT ?)",
                (MOST_GAMES,),
            )

    def _read(self, query: str, *values: object) -> list[dict[str, Any]]:
        with self._guard, self._file:
            return [json.loads(text) for (text,) in self._file.execute(query, values)]
