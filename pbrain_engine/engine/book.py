"""Moves from an opening book: a database that ``numoku book build`` has made, only read here."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random
from struct import iter_unpack
from typing import NamedTuple

from ..game.game import Game, Move
from ..notation.canonical import Line, Symmetries, read_key
from ..position.geometry import Coordinates
from ..position.rules import Side
from ..values import WIN_BAND

PAGE = """SELECT book.moves FROM book JOIN position ON position.id = book.position
    WHERE position.key = ?"""
EVEN = 8  # units of value by which a move may be worse and still be as good as the best
BALANCE = 60  # the largest value of a position that is nearly even
HEADS = """SELECT DISTINCT SUBSTR(key, 1, 3) FROM book
    JOIN position ON position.id = book.position"""  # rule, width and height
PAGES = "SELECT key, book.value FROM book JOIN position ON position.id = book.position"


class BookError(OSError):
    """A file is no book, or cannot be read."""


class BookMove(NamedTuple):
    """A move of the book, with its value for the side to move."""

    move: Move
    value: int


class Book:
    """An open book."""

    def __init__(self, path: str, seed: int | None = None) -> None:
        """Open a file; with a seed moves that are nearly the best are played, too.

        Raises:
            BookError: it is not there or holds no book.
        """
        if not Path(path).is_file():
            raise BookError(f"there is no book {path}")
        try:
            place = Path(path).absolute().as_uri()
            self._file = sqlite3.connect(f"{place}?mode=ro", uri=True, check_same_thread=False)
            heads = self._file.execute(HEADS).fetchall()
        except sqlite3.Error as error:
            raise BookError(f"{path} is no book: {error}") from None
        self._heads = {bytes(head) for (head,) in heads}
        self._chance = None if seed is None else Random(seed)

    def moves(self, game: Game) -> list[BookMove]:
        """Return the moves of a position with their values, best first; none if it is not there."""
        head = bytes((game.rule, game.width, game.height))
        if head not in self._heads:
            return []
        key, number = self._line(game).image()
        page = self._page(key)
        if page is None:
            return []
        pairs = [
            ((cell % game.width, cell // game.width), value)
            for cell, value in iter_unpack(">Hh", page)
        ]
        board = Symmetries.of(game.width, game.height)
        cells = board.back([cell for cell, _ in pairs], number)
        return [
            BookMove(Move(x, y), value)
            for (x, y), (_, value) in zip(cells, pairs, strict=True)
            if game.at(x, y) is Side.EMPTY and not game.is_forbidden(x, y)
        ]

    def _line(self, game: Game) -> Line:
        line = Line(game.rule, game.width, game.height, game.to_move)
        for stone in game.history:
            line.put(*stone.move, stone.side)
        return line

    def _page(self, key: bytes) -> bytes | None:
        """Return what the book has about a position, as it is stored."""
        try:
            found = self._file.execute(PAGE, (key,)).fetchall()
        except sqlite3.Error:  # damaged: then without
            return None
        return bytes(found[0][0]) if found else None

    def move(self, game: Game) -> BookMove | None:
        """Return the best move of a position, or None if the book does not vouch for it.

        It does where it holds the position after that move, too: at the edge of a book a move
        rests on one search for the book alone, and a search of one's own may see more. With a
        seed it is one of those that the book vouches for and that are hardly worse.
        """
        moves = self.moves(game)
        if not moves or not self._vouches(game, moves[0]):
            return None
        best = moves[0]
        if self._chance is None or abs(best.value) >= WIN_BAND:
            return best
        others = [move for move in moves[1:] if move.value >= best.value - EVEN]
        return self._chance.choice([best, *(m for m in others if self._vouches(game, m))])

    def _vouches(self, game: Game, known: BookMove) -> bool:
        """Say whether the position after a move is in the book."""
        line = self._line(game)
        line.play(*known.move)
        return self._page(line.image().key) is not None

    def balanced(self, game: Game, stones: int, balance: int = BALANCE) -> list[list[Coordinates]]:
        """Return positions of so many stones, in turn, that are nearly even.

        They are of the rule and board of a game.
        """
        head = bytes((game.rule, game.width, game.height))
        found = []
        for key, value in self._file.execute(PAGES):
            if bytes(key)[:3] == head and abs(value) <= balance:
                position = read_key(bytes(key))
                if position.stones == stones:
                    pairs = zip(position.black, position.white, strict=False)
                    cells = [cell for pair in pairs for cell in pair]
                    found.append([*cells, *position.black[len(position.white) :]])
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()
