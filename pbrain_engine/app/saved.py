"""What commands and the page store: games to be continued, and results in the user's database.

The games are in a file of the user's or, without one, in memory. Each is a document of
``documents`` with ``game`` (its name), ``began`` (seconds since 1970), ``title``, ``at`` (the move
in view, 0 before the first), ``looked`` (whether it was only looked at) and, if it is unfinished,
``match``: who plays, at which level, and the state of its opening.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from ..database.lines import look_up
from ..database.rescue import damage_told
from ..database.sources import Item, add_items
from ..database.store import Database, StoredGame
from ..engine.engine import Engine, EngineError
from ..errors import FileError, problem_of
from ..files import Document, read_object, state_folder
from ..game.cells import cell_name
from ..game.documents import author_of
from ..game.game import Game
from ..game.position import Position, image_of
from ..game.record import GameRecord
from ..game.result import Entry, Known, Result, Reviewed
from ..position.geometry import Coordinates

FILE = "board-games.db"  # in the user's folder
MOST_GAMES = 1000  # kept; the oldest makes room
PATIENCE = 10.0  # seconds to wait while another program writes
OPEN = "open"  # stands for games without a result
SCHEMA = """
    CREATE TABLE IF NOT EXISTS games (
        id TEXT PRIMARY KEY, began REAL NOT NULL, digest TEXT NOT NULL,
        summary TEXT NOT NULL, document TEXT NOT NULL)
"""


def shelf_file() -> Path:
    """Return the path of the file with this user's games."""
    return state_folder() / FILE


class SavedGames:
    """The saved games; ``trouble`` says why they are only in memory, if the file failed."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the file, creating it if missing; if that fails, keep the games in memory."""
        self.trouble = ""
        self._guard = threading.Lock()
        self._name = str(path or "the saved games")
        self._file = sqlite3.connect(":memory:", check_same_thread=False)
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                file = sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)
                file.execute(SCHEMA)
                self._file = file
            except OSError as error:
                self.trouble = problem_of(error)
            except sqlite3.Error as error:
                self.trouble = f"{path}: {error}"
        self._file.execute(SCHEMA)

    @contextlib.contextmanager
    def _held(self) -> Iterator[sqlite3.Connection]:
        """Yield the file for one thread; FileError if it is damaged or cannot be written."""
        try:
            with self._guard, self._file:
                yield self._file
        except (sqlite3.Error, TypeError, ValueError) as error:  # of the file, or of its texts
            raise FileError(f"{self._name}: {error}") from None

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._file.close()

    # Reading ------------------------------------------------------------------------

    def summaries(
        self, search: str = "", rule: str | None = None, result: str | None = None,
        with_looked_at: bool = True,
    ) -> list[Document]:  # fmt: skip
        """Return summaries of the games, newest first.

        ``search``: words that must occur in title, players, rule, result, level or date;
        ``result``: 1-0, 0-1, 1/2-1/2 or ``open``; ``with_looked_at`` includes games that were only
        looked at.
        """
        words = search.lower().split()
        return [
            game
            for game in self._read("SELECT summary FROM games ORDER BY began DESC, id")
            if (with_looked_at or game.get("played", True))
            and rule in (None, game["rule"])
            and (result is None or game["result"] == ("" if result == OPEN else result))
            and all(word in _searched(game) for word in words)
        ]

    def game(self, name: str) -> Document | None:
        """Return a saved game, None if there is none of this name."""
        found = self._read("SELECT document FROM games WHERE id = ?", name)
        return upgraded(found[0]) if found else None

    def going_on(self) -> list[Document]:
        """Return all games, unfinished ones first, each group newest first."""
        found = self._read("SELECT document FROM games ORDER BY began DESC, id")
        return sorted(map(upgraded, found), key=lambda game: not game["match"])

    # Writing ------------------------------------------------------------------------

    def keep(self, document: Document) -> None:
        """Save a game, replacing its earlier version and any identical game of another name."""
        if not document.get("title"):
            before = self.game(str(document["game"])) or {}
            document = {**document, "title": before.get("title") or ""}
        content = [document[name] for name in ("position", "tree", "names", "comment", "root")]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        texts = json.dumps(summary_of(document)), json.dumps(document)
        row = (document["game"], document["began"], digest, *texts)
        with self._held() as file:
            run = file.execute
            run("DELETE FROM games WHERE digest = ? AND id != ?", (digest, document["game"]))
            run("INSERT OR REPLACE INTO games VALUES (?, ?, ?, ?, ?)", row)
            run(
                "DELETE FROM games WHERE id NOT IN "
                "(SELECT id FROM games ORDER BY began DESC LIMIT ?)",
                (MOST_GAMES,),
            )

    def delete(self, name: str) -> bool:
        """Delete a game; return whether it existed."""
        with self._held() as file:
            return file.execute("DELETE FROM games WHERE id = ?", (name,)).rowcount > 0

    def rename(self, name: str, title: str) -> bool:
        """Give a game a title; return whether it exists."""
        document = self.game(name)
        if document is None:
            return False
        document["title"] = title
        texts = json.dumps(summary_of(document)), json.dumps(document)
        with self._held() as file:
            query = "UPDATE games SET summary = ?, document = ? WHERE id = ?"
            return file.execute(query, (*texts, name)).rowcount > 0

    def _read(self, query: str, *values: object) -> list[dict[str, Any]]:
        with self._held() as file:
            return [read_object(text) for (text,) in file.execute(query, values).fetchall()]


def summary_of(document: Mapping[str, Any]) -> Document:
    """Return the summary of a game for a list."""
    position, names, match = document["position"], document["names"] or {}, document["match"]
    moves, last = 0, -1  # of the main line, the first child of each node
    for place, row in enumerate(document["tree"]):
        if row["parent"] == last:
            moves, last = moves + 1, place
    return {
        "game": document["game"],
        "began": document["began"],
        "title": document.get("title") or "",
        **{name: position[name] for name in ("width", "height", "rule")},
        "moves": moves,
        **{name: names.get(name) or "" for name in ("black", "white", "result")},
        "level": str(match.get("level") or "") if match else "",
        "going": bool(match),
        "played": not document.get("looked"),
    }


def way_of(document: Mapping[str, Any]) -> list[Coordinates]:
    """Return the moves up to the one in view."""
    way: list[Coordinates] = []
    rows, place = document["tree"], document["at"] - 1
    while place >= 0:
        way.insert(0, (rows[place]["x"], rows[place]["y"]))
        place = rows[place]["parent"]
    return way


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a game with swap2 stored as an opening, not as the stage that release 0.2 stored."""
    match = document["match"]
    if not match or not match.get("stage"):
        return document
    cells = [cell_name(*cell) for cell in way_of(document)]
    stage, ply = match["stage"], len(cells)
    match = {name: value for name, value in match.items() if name not in ("stage", "task", "from")}
    if ply <= 5:
        opens = {3: stage == "engine", 4: False, 5: stage == "choice"}.get(ply, stage != "engine")
        if ply > 3 or (ply == 3 and stage == "person"):
            cells.insert(3, "two")
        match["opening"] = {"rule": "swap2", "actions": " ".join(cells), "person": int(not opens)}
    return {**document, "match": match}


def _searched(game: Mapping[str, Any]) -> str:
    """Return the text of a summary that is searched for words."""
    words = [str(game.get(name, "")) for name in ("title", "black", "white", "rule", "result")]
    if game.get("level"):
        words.append(f"level {game['level']}")
    with contextlib.suppress(ValueError, OverflowError, OSError):
        words.append(date.fromtimestamp(game["began"]).isoformat())
    return " ".join(words).lower().replace("_", " ")


# Results of commands, in the database that a user names -------------------------------


def certain_of(finding: Result | None) -> Result | None:
    """Return a forced win or loss, and None for any other finding."""
    return finding if finding is not None and finding.is_certain else None


class OptionalDatabase:
    """A command's database; without a target it stores and finds nothing.

    A result that cannot be stored stops no command: at the end of the context it is an EngineError.
    """

    def __init__(self, target: str | None) -> None:
        """Open the database, creating it if missing; EngineError if that fails."""
        self.database = None if target is None else Database(target, create=True)
        self.trouble: EngineError | None = None  # the error of the last write, if it failed
        self.lock = threading.Lock()  # for threads that share it

    def __enter__(self) -> OptionalDatabase:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()
        if self.trouble is not None and kind is None:
            raise self.trouble

    def close(self) -> None:
        """Close the database."""
        if self.database is not None:
            self.database.close()

    def look_up(self, game: Game) -> Entry | None:
        """Return the entry of a game's position, or None."""
        if self.database is None:
            return None
        with damage_told(self.database):
            return look_up(self.database, game.position)

    def finding(self, game: Game) -> Result | None:
        """Return the finding about a game's position, None without one that has a move."""
        entry = self.look_up(game)
        finding = entry.finding if entry is not None else None
        return finding if finding is not None and finding.moves else None

    def note(self, engine: Engine, thought: Result) -> None:
        """Store a result for the engine's position, and the moves to it."""
        if thought.depth or thought.mate is not None:
            way = engine.game.record()
            finding = thought._replace(author=author_of(engine.weights.key))
            known = Known(image_of(way.position), finding, way if way.is_in_turn else None)
            self._store(known)

    def note_findings(self, found: Mapping[Position, Result]) -> None:
        """Store results for positions, without the moves to them."""
        self._store(*(Known(image_of(position), finding) for position, finding in found.items()))

    def note_game(self, record: GameRecord) -> None:
        """Store a game, if it has moves."""
        if record.moves:
            self._store(StoredGame(record))

    def _store(self, *items: Item) -> None:
        if self.database is not None:
            self.trouble = None
            try:
                with damage_told(self.database):
                    add_items(self.database, items)
            except EngineError as error:
                self.trouble = error


def found_of(game: GameRecord, found: Sequence[Reviewed], weights: str) -> dict[Position, Result]:
    """Return the results of a review by position, as the database stores them."""
    author = author_of(weights)
    return {
        game._replace(moves=game.moves[: item.ply - 1 - len(game.placed)]).position: Result(
            item.found.value, item.found.line, item.found.depth, author=author
        )
        for item in found
    }
