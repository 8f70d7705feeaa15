"""The games of the page, kept in the order of play, whether there is a database or not.

They lie in a file of this user beside the server's token, so that a game that was replaced, or
whose page was closed, can be taken up again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .messages import NOT_FOUND, Refused

MOST_GAMES = 1000  # that are kept; the one that was begun first makes room
PATIENCE = 10.0  # seconds that another server may write
SCHEMA = """
    CREATE TABLE IF NOT EXISTS games (
        id TEXT PRIMARY KEY, began REAL NOT NULL, digest TEXT NOT NULL,
        summary TEXT NOT NULL, document TEXT NOT NULL)
"""


class Shelf:
    """The games in their file, or in memory where there is none."""

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
        with self._guard, self._file:
            self._file.execute(SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._guard:
            self._file.close()

    def summaries(self) -> list[dict[str, Any]]:
        """Return what the list shows of each game, the one that was begun last first."""
        rows = self._do("SELECT summary FROM games ORDER BY began DESC, id")
        return [json.loads(summary) for (summary,) in rows]

    def game(self, name: str) -> dict[str, Any]:
        """Return a game as it was kept; raises Refused if it is not there."""
        rows = self._do("SELECT document FROM games WHERE id = ?", name)
        if not rows:
            raise Refused("this game is not kept any more", NOT_FOUND)
        document: dict[str, Any] = json.loads(rows[0][0])
        return document

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

    def _do(self, command: str, *values: object) -> list[Any]:
        with self._guard, self._file:
            return self._file.execute(command, values).fetchall()
