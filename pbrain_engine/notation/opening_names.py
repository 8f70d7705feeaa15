"""The 26 openings of renju by name: black in the centre, white beside it, black's second stone.

White stands either straight (direct, D) or diagonally (indirect, I) beside the centre; by
symmetry there are 13 places of each kind for the third stone. Names and numbers are those of
the Renju International Federation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..position.geometry import Coordinates, transform

SIZE = 15
CENTRE = (7, 7)
SIDES = {"D": (0, 1), "I": (1, 1)}  # white from the centre, right and up

# By number: the name, and the third stone from the centre, right and up.
DIRECT = (
    ("Kansei", 0, 2), ("Keigetsu", 1, 2), ("Sosei", 2, 2), ("Kagetsu", 1, 1),
    ("Zangetsu", 2, 1), ("Ugetsu", 1, 0), ("Kinsei", 2, 0), ("Shogetsu", 0, -1),
    ("Kyugetsu", 1, -1), ("Shingetsu", 2, -1), ("Zuisei", 0, -2), ("Sangetsu", 1, -2),
    ("Yusei", 2, -2),
)  # fmt: skip
INDIRECT = (
    ("Chosei", 2, 2), ("Kyogetsu", 2, 1), ("Kosei", 2, 0), ("Suigetsu", 2, -1),
    ("Ryusei", 2, -2), ("Ungetsu", 1, 0), ("Hogetsu", 1, -1), ("Rangetsu", 1, -2),
    ("Gingetsu", 0, -1), ("Myojo", 0, -2), ("Shagetsu", -1, -1), ("Meigetsu", -1, -2),
    ("Suisei", -2, -2),
)  # fmt: skip


class Opening(NamedTuple):
    """One of the 26: its code such as ``D4``, its name, and its three stones in order."""

    code: str
    name: str
    stones: tuple[Coordinates, Coordinates, Coordinates]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


def _at(right: int, up: int) -> Coordinates:
    return CENTRE[0] + right, CENTRE[1] - up


OPENINGS = tuple(
    Opening(f"{kind}{number}", name, (CENTRE, _at(*SIDES[kind]), _at(right, up)))
    for kind, table in (("D", DIRECT), ("I", INDIRECT))
    for number, (name, right, up) in enumerate(table, 1)
)

_BY_STONES = {
    (frozenset((image[0], image[2])), image[1]): opening
    for opening in OPENINGS
    for number in range(8)
    for image in [transform(opening.stones, number, SIZE, SIZE)]
}
_BY_NAME = {
    word: opening for opening in OPENINGS for word in (opening.code.lower(), opening.name.lower())
}


def name_opening(moves: Sequence[Coordinates], width: int, height: int) -> Opening | None:
    """Return the opening that a game began with, from its moves in order; None if it is no such.

    Black's two stones may have come in either order.
    """
    if (width, height) != (SIZE, SIZE) or len(moves) < 3 or CENTRE not in (moves[0], moves[2]):
        return None
    return _BY_STONES.get((frozenset((moves[0], moves[2])), moves[1]))


def find_opening(text: str) -> Opening | None:
    """Return the opening with this code or name."""
    return _BY_NAME.get(text.strip().lower())
