"""Positions, and keys that are the same for all symmetric images and move orders.

A key encodes everything: rule, board, side to move and stones. Of the images of a position under
the symmetries of its board, the one with the smallest bytes represents all of them.

A key is rule, width, height, side to move, the numbers of black and of white stones, then the
cells ``y * width + x`` of black, of white, and blocked ones, each list in ascending order. Each
number takes one byte, or two on boards of more than 255 cells for those after the side.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from struct import iter_unpack, pack, unpack
from typing import NamedTuple

from ..position.geometry import Coordinates, symmetries, transform
from ..position.rules import Rule, Side

BOARD = 3  # bytes for rule, width and height
HEAD = 4  # with one for the side to move
NARROW = 255  # most cells of a board whose numbers take one byte

Held = tuple[Coordinates, Side]  # a cell and its content
BookMove = tuple[Coordinates, int]  # of an opening book, with its value for the side to move


class Position(NamedTuple):
    """The stones on a board, in ascending order of cells, and the side to move."""

    rule: Rule
    width: int
    height: int
    to_move: Side
    black: tuple[Coordinates, ...]
    white: tuple[Coordinates, ...]
    walls: tuple[Coordinates, ...] = ()

    @classmethod
    def of(
        cls, rule: Rule, width: int, height: int, to_move: Side, held: Iterable[Held]
    ) -> Position:
        """Return the position with these cells and sides, given in any order."""
        stones = sorted(held)
        sides = (Side.BLACK, Side.WHITE, Side.WALL)
        cells = [tuple(cell for cell, own in stones if own is side) for side in sides]
        return cls(rule, width, height, to_move, *cells)

    @property
    def stones(self) -> int:
        """The number of stones of both sides."""
        return len(self.black) + len(self.white)

    @property
    def held(self) -> list[Held]:
        """All stones and blocked cells: black's, then white's, then blocked."""
        cells = ((Side.BLACK, self.black), (Side.WHITE, self.white), (Side.WALL, self.walls))
        return [(cell, side) for side, own in cells for cell in own]

    @property
    def empty_cells(self) -> list[Coordinates]:
        """The empty cells, row by row."""
        taken = {cell for cell, _ in self.held}
        cells = ((x, y) for y in range(self.height) for x in range(self.width))
        return [cell for cell in cells if cell not in taken]

    def after(self, cell: Coordinates | None) -> Position:
        """Return the position after a move of the side to move, or after a pass (None)."""
        held = [self.black, self.white]
        if cell is not None:
            held[self.to_move] = tuple(sorted((*held[self.to_move], cell)))
        return Position(*self[:3], self.to_move.opponent, held[0], held[1], self.walls)

    def before(self, cell: Coordinates) -> Position:
        """Return the position before a last move at ``cell`` by the side not to move."""
        held = [self.black, self.white]
        side = self.to_move.opponent
        held[side] = tuple(other for other in held[side] if other != cell)
        return Position(*self[:3], side, held[0], held[1], self.walls)

    def own_symmetries(self) -> list[int]:
        """Return the symmetries of the board that map the position to itself."""
        return own_symmetries((self.black, self.white, self.walls), self.width, self.height)

    @property
    def in_turn(self) -> list[Coordinates] | None:
        """The stones in turn, black first; None if alternate play cannot lead here."""
        early = len(self.black) - len(self.white)
        if self.walls or early not in (0, 1) or self.to_move != early:
            return None
        pairs = zip(self.black, self.white, strict=False)
        return [cell for pair in pairs for cell in pair] + list(self.black[len(self.white) :])


class Image(NamedTuple):
    """The key of a position, and the symmetry that maps the position to the key's orientation."""

    key: bytes
    number: int

    def turn(self, cells: Sequence[Coordinates]) -> list[Coordinates]:
        """Map cells of the position to the key's orientation."""
        return transform(cells, self.number, *self.key[1:3])

    def back(self, cells: Sequence[Coordinates]) -> list[Coordinates]:
        """Map cells in the key's orientation back to the position's."""
        number = self.number
        if number & 4:  # then the transposition comes first
            number = 4 | (number & 1) << 1 | (number & 2) >> 1
        return transform(cells, number, *self.key[1:3])

    def pack(self, cells: Sequence[Coordinates]) -> bytes:
        """Pack cells of the position, in order, in the key's orientation."""
        width, height = self.key[1:3]
        return _pack([y * width + x for x, y in self.turn(cells)], width * height)

    def unpack(self, packed: bytes) -> list[Coordinates]:
        """Return cells packed by :meth:`pack`, in the position's orientation."""
        width, height = self.key[1:3]
        return self.back(
            [(cell % width, cell // width) for cell in _unpack(packed, width * height)]
        )

    def unpack_book(self, packed: bytes) -> list[BookMove]:
        """Return moves packed by :func:`pack_book`, in the position's orientation."""
        pairs = list(iter_unpack(">Hh", bytes(packed)))
        cells = self.back([(cell % self.key[1], cell // self.key[1]) for cell, _ in pairs])
        return [(cell, value) for cell, (_, value) in zip(cells, pairs, strict=True)]


@cache
def _tables(width: int, height: int) -> list[list[int]]:
    """Return, for each symmetry by number, the image of each cell ``y * width + x``."""
    cells = [(x, y) for y in range(height) for x in range(width)]
    return [
        [y * width + x for x, y in transform(cells, symmetry, width, height)]
        for symmetry in range(symmetries(width, height))
    ]


def own_symmetries(sets: Iterable[Sequence[Coordinates]], width: int, height: int) -> list[int]:
    """Return the symmetries of a board that map each of these sets of cells to itself."""
    found, board = [set(cells) for cells in sets], (width, height)
    return [
        number
        for number in range(symmetries(*board))
        if all({*transform([*cells], number, *board)} == cells for cells in found)
    ]


def image_of(position: Position) -> Image:
    """Return the key of a position, with its symmetry."""
    return next(images_of(position, ()))


def images_of(position: Position, turns: Iterable[Coordinates | None]) -> Iterator[Image]:
    """Yield the image of a position, then the image after each of ``turns`` (None: a pass)."""
    rule, width, height, side, *held = position
    tables = _tables(width, height)
    # for each symmetry, the images of black, white and walls
    images = [
        [sorted([numbers[y * width + x] for x, y in cells]) for cells in held] for numbers in tables
    ]

    def least() -> Image:
        number = images.index(min(images))
        black, white, walls = images[number]
        packed = _pack([len(black), len(white), *black, *white, *walls], width * height)
        return Image(bytes((rule, width, height, side)) + packed, number)

    yield least()
    for cell in turns:
        if cell is not None:
            for numbers, image in zip(tables, images, strict=True):
                insort(image[side], numbers[cell[1] * width + cell[0]])
        side = side.opponent
        yield least()


def read_key(key: bytes) -> Position:
    """Return the position of a key; ValueError if the bytes are not a key."""
    if len(key) < HEAD:
        raise ValueError("a key that is too short")
    rule, width, height, side = key[:HEAD]
    numbers = _unpack(key[HEAD:], width * height)
    if len(numbers) < 2 or not width or not height:
        raise ValueError("a key that is too short")
    black, white, *cells = numbers
    if black + white > len(cells) or len(set(cells)) != len(cells):
        raise ValueError("a key whose stones do not agree with their number")
    if any(cell >= width * height for cell in cells):
        raise ValueError("a key with a stone off its board")
    places = [(cell % width, cell // width) for cell in cells]
    return Position(
        Rule(rule), width, height, Side(side), tuple(places[:black]),
        tuple(places[black : black + white]), tuple(places[black + white :]),
    )  # fmt: skip


def pack_book(moves: Iterable[BookMove], width: int) -> bytes:
    """Pack moves in the key's orientation, with their values, in order."""
    return b"".join(pack(">Hh", y * width + x, value) for (x, y), value in moves)


def _pack(numbers: list[int], area: int) -> bytes:
    return bytes(numbers) if area <= NARROW else pack(f">{len(numbers)}H", *numbers)


def _unpack(packed: bytes, area: int) -> list[int]:
    if area <= NARROW:
        return list(packed)
    if len(packed) % 2:
        raise ValueError("half a number at the end of a key")
    return list(unpack(f">{len(packed) // 2}H", packed))
