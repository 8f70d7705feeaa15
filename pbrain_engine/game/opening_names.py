"""The 26 openings of renju by name: black in the centre, white next to it, black's second stone.

White is next to the centre either straight (direct, D) or diagonally (indirect, I); up to symmetry
there are 13 cells for the third stone in each case. Names and numbers are those of the Renju
International Federation. Openings are looked up by the keys of their positions.
"""

from __future__ import annotations

from functools import cache, reduce
from typing import NamedTuple

from ..position.geometry import Coordinates, transform
from ..position.rules import Rule, Side
from .position import Position, image_of
from .record import GameRecord

SIZE = 15
CENTRE = (7, 7)
SIDES = {"D": (0, 1), "I": (1, 1)}  # white from the centre, right and up

# By number: the name, and the third stone from the centre, right and up.
THIRDS = {
    "D": (
        ("Kansei", 0, 2), ("Keigetsu", 1, 2), ("Sosei", 2, 2), ("Kagetsu", 1, 1),
        ("Zangetsu", 2, 1), ("Ugetsu", 1, 0), ("Kinsei", 2, 0), ("Shogetsu", 0, -1),
        ("Kyugetsu", 1, -1), ("Shingetsu", 2, -1), ("Zuisei", 0, -2), ("Sangetsu", 1, -2),
        ("Yusei", 2, -2),
    ),
    "I": (
        ("Chosei", 2, 2), ("Kyogetsu", 2, 1), ("Kosei", 2, 0), ("Suigetsu", 2, -1),
        ("Ryusei", 2, -2), ("Ungetsu", 1, 0), ("Hogetsu", 1, -1), ("Rangetsu", 1, -2),
        ("Gingetsu", 0, -1), ("Myojo", 0, -2), ("Shagetsu", -1, -1), ("Meigetsu", -1, -2),
        ("Suisei", -2, -2),
    ),
}  # fmt: skip


class Opening(NamedTuple):
    """One of the 26 openings: its code such as ``D4``, its name, and its three stones in order."""

    code: str
    name: str
    stones: tuple[Coordinates, ...]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"

    def leads_to(self, position: Position) -> bool:
        """Return whether a position contains the opening's stones in any orientation."""
        if (position.width, position.height) != (SIZE, SIZE):
            return False
        images = (transform(self.stones, number, SIZE, SIZE) for number in range(8))
        return any(
            {first, third}.issubset(position.black) and second in position.white
            for first, second, third in images
        )


@cache
def openings() -> dict[bytes, Opening]:
    """Return the 26 openings by the keys of their positions."""
    found = {}
    empty = Position(Rule.RENJU, SIZE, SIZE, Side.BLACK, (), ())
    for kind, (right, up) in SIDES.items():
        for number, (name, *third) in enumerate(THIRDS[kind], 1):
            ways = ((0, 0), (right, up), third)
            stones = tuple((CENTRE[0] + right, CENTRE[1] - up) for right, up in ways)
            key = image_of(reduce(Position.after, stones, empty)).key
            found[key] = Opening(f"{kind}{number}", name, stones)
    return found


def name_opening(position: Position) -> Opening | None:
    """Return the opening if the board has just its three stones, under any rule, or None."""
    position = position._replace(rule=Rule.RENJU, to_move=Side.WHITE)
    return openings().get(image_of(position).key)


def find_opening(text: str) -> Opening | None:
    """Return the opening with this code or name, or None."""
    word = text.strip().lower()
    known = (each for each in openings().values() if word in (each.code.lower(), each.name.lower()))
    return next(known, None)


def opening_of(record: GameRecord) -> Opening | None:
    """Return the opening of a game's first three moves or of three placed stones, or None."""
    is_plain = not (record.placed or record.passes) and record.first is Side.BLACK
    first = record._replace(moves=record.moves[:3]) if is_plain else record
    return name_opening(first.position)
