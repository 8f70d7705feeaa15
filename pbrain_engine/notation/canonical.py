"""A position as bytes that stay the same however it is turned, mirrored or reached.

The bytes hold everything: rule, board, side to move and stones. Of the images of a position
under the symmetries of its board, the one whose bytes are the smallest stands for all of them.

A key is rule, width, height, side to move, the numbers of black and of white stones, then the
cells ``y * width + x`` of black, of white, and blocked ones, each list in ascending order. A
number takes one byte, on boards of more than 255 cells those after the side take two.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from functools import lru_cache
from struct import pack, unpack
from typing import NamedTuple

from ..position.geometry import Coordinates, symmetries, transform
from ..position.rules import Rule, Side

HEAD = 4  # bytes for rule, width, height and side to move
NARROW = 255  # the most cells of a board whose numbers take one byte


class Position(NamedTuple):
    """What stands on a board, and who moves; cells in ascending order."""

    rule: Rule
    width: int
    height: int
    to_move: Side
    black: tuple[Coordinates, ...]
    white: tuple[Coordinates, ...]
    walls: tuple[Coordinates, ...] = ()

    @property
    def stones(self) -> int:
        """The number of stones of both sides."""
        return len(self.black) + len(self.white)

    def after(self, cell: Coordinates) -> Position:
        """Return the position after a move of the side to move."""
        if self.to_move is Side.BLACK:
            return self._replace(to_move=Side.WHITE, black=tuple(sorted((*self.black, cell))))
        return self._replace(to_move=Side.BLACK, white=tuple(sorted((*self.white, cell))))

    def before(self, cell: Coordinates) -> Position:
        """Return the position before the last move, by the side that is not to move."""
        if self.to_move is Side.BLACK:
            return self._replace(
                to_move=Side.WHITE, white=tuple(other for other in self.white if other != cell)
            )
        return self._replace(
            to_move=Side.BLACK, black=tuple(other for other in self.black if other != cell)
        )

    @property
    def in_turn(self) -> list[Coordinates] | None:
        """Its stones in turn, black first; None where no game can have led there."""
        early = len(self.black) - len(self.white)
        if self.walls or early not in (0, 1) or self.to_move != early:
            return None
        pairs = zip(self.black, self.white, strict=False)
        return [cell for pair in pairs for cell in pair] + list(self.black[len(self.white) :])


class Symmetries:
    """The symmetries of a board as tables of cell numbers."""

    def __init__(self, width: int, height: int) -> None:
        """Make the tables; ``of`` gives those that have been made already."""
        self.width = width
        self.height = height
        cells = [(x, y) for y in range(height) for x in range(width)]
        self.tables = [
            [y * width + x for x, y in transform(cells, number, width, height)]
            for number in range(symmetries(width, height))
        ]
        self.inverse = [
            next(
                other
                for other, back in enumerate(self.tables)
                if all(back[table[cell]] == cell for cell in range(width * height))
            )
            for table in self.tables
        ]

    @staticmethod
    @lru_cache
    def of(width: int, height: int) -> Symmetries:
        """Return the tables of a board."""
        return Symmetries(width, height)

    def move(self, cells: Iterable[Coordinates], number: int) -> list[Coordinates]:
        """Return cells under one symmetry."""
        table, width = self.tables[number], self.width
        moved = (table[y * width + x] for x, y in cells)
        return [(cell % width, cell // width) for cell in moved]

    def back(self, cells: Iterable[Coordinates], number: int) -> list[Coordinates]:
        """Return where cells were before a symmetry."""
        return self.move(cells, self.inverse[number])


class Image(NamedTuple):
    """The key of a position, and the symmetry that leads to the position that it holds."""

    key: bytes
    number: int

    def turn(self, cells: Iterable[Coordinates]) -> list[Coordinates]:
        """Return cells of the position in the orientation of the key."""
        return Symmetries.of(*self.key[1:3]).move(cells, self.number)

    def back(self, cells: Iterable[Coordinates]) -> list[Coordinates]:
        """Return cells in the orientation of the key as cells of the position."""
        return Symmetries.of(*self.key[1:3]).back(cells, self.number)


class Line:
    """A position that grows and shrinks by stones; it keeps all of its images sorted."""

    def __init__(self, rule: Rule, width: int, height: int, to_move: Side = Side.BLACK) -> None:
        """Begin with an empty board."""
        self.rule = rule
        self.width = width
        self.height = height
        self.to_move = to_move
        self._symmetries = Symmetries.of(width, height)
        images = len(self._symmetries.tables)
        # for each of black, white and wall, the cells of every image in ascending order
        self._cells: dict[Side, list[list[int]]] = {
            side: [[] for _ in range(images)] for side in (Side.BLACK, Side.WHITE, Side.WALL)
        }

    def put(self, x: int, y: int, side: Side) -> None:
        """Put a stone or a blocked cell; the turn stays."""
        cell = y * self.width + x
        for table, cells in zip(self._symmetries.tables, self._cells[side], strict=True):
            insort(cells, table[cell])

    def take(self, x: int, y: int, side: Side) -> None:
        """Take a stone of this side away; the turn stays."""
        cell = y * self.width + x
        for table, cells in zip(self._symmetries.tables, self._cells[side], strict=True):
            del cells[bisect_left(cells, table[cell])]

    def play(self, x: int, y: int) -> None:
        """Put a stone of the side to move and pass the turn."""
        self.put(x, y, self.to_move)
        self.to_move = self.to_move.opponent

    def undo(self, x: int, y: int) -> None:
        """Take back the stone that was played there last."""
        self.to_move = self.to_move.opponent
        self.take(x, y, self.to_move)

    def image(self) -> Image:
        """Return the key of the position as it is now."""
        pack_cells = bytes if self.width * self.height <= NARROW else _pack_wide
        black, white, walls = self._cells.values()
        if walls[0]:
            lists = [
                (pack_cells(b), pack_cells(w), pack_cells(x), number)
                for number, (b, w, x) in enumerate(zip(black, white, walls, strict=True))
            ]
        else:
            lists = [
                (pack_cells(b), pack_cells(w), b"", number)
                for number, (b, w) in enumerate(zip(black, white, strict=True))
            ]
        least = min(lists)
        head = bytes((self.rule, self.width, self.height, self.to_move))
        counts = pack_cells([len(black[0]), len(white[0])])
        return Image(head + counts + least[0] + least[1] + least[2], least[3])


def line_of(position: Position) -> Line:
    """Return a position as one that can go on."""
    line = Line(position.rule, position.width, position.height, position.to_move)
    for side, cells in (
        (Side.BLACK, position.black), (Side.WHITE, position.white), (Side.WALL, position.walls),
    ):  # fmt: skip
        for x, y in cells:
            line.put(x, y, side)
    return line


def image_of(position: Position) -> Image:
    """Return the key of a position."""
    return line_of(position).image()


def read_key(key: bytes) -> Position:
    """Return the position that a key holds; ValueError if these bytes are no key."""
    if len(key) < HEAD:
        raise ValueError("a key that is too short")
    rule, width, height, side = key[:HEAD]
    body = key[HEAD:]
    numbers = list(body) if width * height <= NARROW else _unpack_wide(body)
    if len(numbers) < 2 or not width or not height:
        raise ValueError("a key that is too short")
    black, white = numbers[:2]
    cells = numbers[2:]
    if black + white > len(cells) or len(set(cells)) != len(cells):
        raise ValueError("a key whose stones do not agree with their number")
    if any(cell >= width * height for cell in cells):
        raise ValueError("a key with a stone off its board")
    places = [(cell % width, cell // width) for cell in cells]
    return Position(
        Rule(rule), width, height, Side(side), tuple(places[:black]),
        tuple(places[black : black + white]), tuple(places[black + white :]),
    )  # fmt: skip


def pack_moves(cells: Iterable[Coordinates], width: int, height: int) -> bytes:
    """Return cells in their order as bytes, as keys have them."""
    numbers = [y * width + x for x, y in cells]
    return bytes(numbers) if width * height <= NARROW else _pack_wide(numbers)


def unpack_moves(packed: bytes, width: int, height: int) -> list[Coordinates]:
    """Return the cells that :func:`pack_moves` packed."""
    numbers = list(packed) if width * height <= NARROW else _unpack_wide(packed)
    return [(number % width, number // width) for number in numbers]


def _pack_wide(numbers: list[int]) -> bytes:
    return pack(f">{len(numbers)}H", *numbers)


def _unpack_wide(packed: bytes) -> list[int]:
    if len(packed) % 2:
        raise ValueError("half a number at the end of a key")
    return list(unpack(f">{len(packed) // 2}H", packed))
