"""Moves from an opening book, a database made by ``numoku book build`` and only read here."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

from ..errors import FileError
from ..game.game import Game, Move
from ..game.position import Image, image_of, read_key
from ..game.result import Thought
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..values import WIN_BAND
from .pacing import Limit

PAGE = """SELECT book.moves, position.nodes FROM book
    JOIN position ON position.id = book.position WHERE position.key = ?"""
EVEN = 8  # units of value within which a move counts as equal to the best
USUAL_SPEED = 1_000_000  # nodes per second and thread, before any search
LEAST_TIMED = 0.05  # seconds of the shortest search that measures the speed
BALANCE = 60  # the largest value of a position that is nearly even
PAGES = "SELECT key, book.value FROM book JOIN position ON position.id = book.position"


BookMove = tuple[Move, int]  # with its value for the side to move


def open_unwritable(path: Path, error: sqlite3.OperationalError) -> sqlite3.Connection:
    """Open a file that SQLite refused because its directory is not writable.

    No other process can write there either. The contents of a ``-wal`` file would be missed, so
    there must be none. If it had another cause, the error is raised again.
    """
    reason = error.sqlite_errorcode & 0xFF
    wal = path.with_name(f"{path.name}-wal")
    if reason not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or wal.exists():
        raise error
    place = f"{path.absolute().as_uri()}?immutable=1"
    return sqlite3.connect(place, isolation_level=None, check_same_thread=False, uri=True)


class Book:
    """An open book."""

    def __init__(self, path: str, seed: int | None = None) -> None:
        """Open a file (FileError if it is not a book); a seed allows moves nearly as good."""
        if not Path(path).is_file():
            raise FileError(f"there is no book {path}")
        place = Path(path).absolute()
        try:
            self._file = sqlite3.connect(
                f"{place.as_uri()}?mode=ro", uri=True, check_same_thread=False
            )
            try:
                first = self._file.execute(PAGES).fetchone()
            except sqlite3.OperationalError as error:
                self._file = open_unwritable(place, error)
                first = self._file.execute(PAGES).fetchone()
        except sqlite3.Error as error:
            raise FileError(f"{path} is not a book: {error}") from None
        if first is None:
            self._file.close()
            raise FileError(f"{path} has no book positions; `numoku book build` makes them")
        self._chance = None if seed is None else Random(seed)
        self._speed = 0.0  # nodes per second of the engine's last search

    def moves(self, game: Game) -> list[BookMove]:
        """Return the book's moves and values for a position, best first; none if unknown."""
        image = image_of(game.position)
        page = self._page(image.key)
        if page is None:
            return []
        return [
            (Move(x, y), value)
            for (x, y), value in image.unpack_book(page[0])
            if game.at(x, y) is Side.EMPTY and not game.is_forbidden(x, y)
        ]

    def _page(self, key: bytes) -> tuple[bytes, int | None] | None:
        """Return the packed moves of a position and the nodes of its search if known.

        None if the position is not in the book.
        """
        try:
            found = self._file.execute(PAGE, (key,)).fetchall()
        except sqlite3.Error:  # damaged: do without
            return None
        return (bytes(found[0][0]), found[0][1]) if found else None

    def note_speed(self, thought: Thought) -> None:
        """Note the speed of a search, if it was long enough to measure."""
        if thought.time > LEAST_TIMED:
            self._speed = thought.nodes / thought.time

    def effort(self, limit: Limit, threads: int) -> int:
        """Return roughly how many nodes a search with a limit takes; 0 if unknown."""
        allowed = [] if limit.nodes is None else [limit.nodes]
        if limit.time is not None:
            allowed.append(round(limit.time * (self._speed or USUAL_SPEED * threads)))
        return min(allowed, default=0)

    def move(self, game: Game, effort: int = 0) -> BookMove | None:
        """Return the best move of a position, or None if the book does not vouch for it.

        The book vouches for a move if the searches of the position after it and of its
        continuations took at least ``effort`` nodes together; otherwise a new search would see
        more. With a seed, the move is drawn from those nearly as good that the book vouches for.
        """
        moves = self.moves(game)
        if not moves or not self._vouches(game, moves[0], effort):
            return None
        _, value = best = moves[0]
        if self._chance is None or abs(value) >= WIN_BAND:
            return best
        others = [move for move in moves[1:] if move[1] >= value - EVEN]
        vouched = [move for move in others if self._vouches(game, move, effort)]
        return self._chance.choice([best, *vouched])

    def _vouches(self, game: Game, known: BookMove, effort: int) -> bool:
        """Return whether the searches after a move took at least ``effort`` nodes."""
        waiting = [image_of(game.position.after(known[0])).key]
        seen = set(waiting)
        for key in waiting:  # grows meanwhile: breadth first
            page = self._page(key)
            if page is None:
                continue
            moves, nodes = page
            effort -= effort if nodes is None else nodes
            if effort <= 0:
                return True
            position = read_key(key)
            for move, _ in Image(key, 0).unpack_book(moves):
                child = image_of(position.after(move)).key
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
        return False

    def balanced(self, game: Game, stones: int) -> list[list[Coordinates]]:
        """Return nearly even positions with this many stones, as moves in turn.

        Rule and board are those of ``game``.
        """
        head = bytes((game.rule, game.width, game.height))
        found = []
        for key, value in self._file.execute(PAGES):
            if bytes(key)[:3] == head and abs(value) <= BALANCE:
                position = read_key(bytes(key))
                if position.stones == stones and position.in_turn is not None:
                    found.append(position.in_turn)
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()
